using System.Runtime.CompilerServices;
using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>
/// An RQL query: <c>session.RawQuery&lt;Order&gt;($"from Orders where Freight > {least}")</c>. Results that are whole documents
/// are tracked by the session; others are new objects.
/// </summary>
/// <typeparam name="T">The type of the results.</typeparam>
public sealed class RawDocumentQuery<T>
    where T : class
{
    private readonly IQuerySession _session;
    private readonly string _text;
    private readonly IReadOnlyList<(string? Name, object? Value)> _values;
    private readonly Func<QueryRequest, QueryRequest> _settings;
    private readonly Action<QueryResults>? _observer;

    internal RawDocumentQuery(
        IQuerySession session,
        string text,
        IReadOnlyList<(string? Name, object? Value)> values,
        Func<QueryRequest, QueryRequest>? settings = null,
        Action<QueryResults>? observer = null)
    {
        (_session, _text, _values) = (session, text, values);
        (_settings, _observer) = (settings ?? (static request => request), observer);
    }

    /// <summary>Sets the value of a query parameter.</summary>
    /// <param name="name">The name, with or without <c>$</c>.</param>
    /// <param name="value">Any value that the session can serialize; in <c>in</c>, an array represents its elements.</param>
    public RawDocumentQuery<T> AddParameter(string name, object? value)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        return new RawDocumentQuery<T>(_session, _text, [.. _values, (name.TrimStart('$'), value)], _settings, _observer);
    }

    /// <summary>Allows stale results: answers immediately from what the index has processed so far.</summary>
    public RawDocumentQuery<T> AllowStale() => With(request => request with { NeverStale = false });

    /// <summary>Waits until the index has processed every commit made before the query.</summary>
    public RawDocumentQuery<T> WaitForNonStaleResults(TimeSpan? timeout = null) =>
        With(request => request with { NeverStale = false, WaitForNonStaleResults = true, WaitTimeout = timeout });

    /// <summary>Returns statistics of the query, which are filled in when it is executed.</summary>
    public RawDocumentQuery<T> Statistics(out QueryStatistics statistics)
    {
        statistics = new QueryStatistics();
        return new RawDocumentQuery<T>(
            _session, _text, _values, request => _settings(request) with { CountsResults = true }, statistics.Fill);
    }

    /// <summary>Executes the query and returns all results.</summary>
    public Task<List<T>> ToListAsync(CancellationToken cancellationToken = default) =>
        TakeAsync(long.MaxValue, cancellationToken);

    /// <summary>Returns the first result.</summary>
    /// <exception cref="InvalidOperationException">There are no results.</exception>
    public async Task<T> FirstAsync(CancellationToken cancellationToken = default) =>
        ResultRows.First(await TakeAsync(1, cancellationToken).ConfigureAwait(false));

    /// <summary>Returns the first result, or null if there is none.</summary>
    public async Task<T?> FirstOrDefaultAsync(CancellationToken cancellationToken = default) =>
        (await TakeAsync(1, cancellationToken).ConfigureAwait(false)).FirstOrDefault();

    /// <summary>Returns the only result.</summary>
    /// <exception cref="InvalidOperationException">There is no result, or more than one.</exception>
    public async Task<T> SingleAsync(CancellationToken cancellationToken = default) =>
        ResultRows.Single(await TakeAsync(2, cancellationToken).ConfigureAwait(false));

    /// <summary>Returns the only result, or null if there is none.</summary>
    /// <exception cref="InvalidOperationException">There is more than one result.</exception>
    public async Task<T?> SingleOrDefaultAsync(CancellationToken cancellationToken = default) =>
        ResultRows.SingleOrDefault(await TakeAsync(2, cancellationToken).ConfigureAwait(false));

    /// <summary>Returns whether there is any result.</summary>
    public async Task<bool> AnyAsync(CancellationToken cancellationToken = default) =>
        await CountToAsync(1, cancellationToken).ConfigureAwait(false) > 0;

    /// <summary>
    /// Returns the number of results, after a <c>limit</c> of the text. Counts them one by one, without reading them into
    /// objects.
    /// </summary>
    public async Task<int> CountAsync(CancellationToken cancellationToken = default) =>
        checked((int)await CountToAsync(long.MaxValue, cancellationToken).ConfigureAwait(false));

    /// <summary>Same as <see cref="ToListAsync"/>; blocks the thread.</summary>
    public List<T> ToList() => ToListAsync().GetAwaiter().GetResult();

    /// <summary>Same as <see cref="FirstAsync"/>; blocks the thread.</summary>
    public T First() => FirstAsync().GetAwaiter().GetResult();

    /// <summary>Same as <see cref="FirstOrDefaultAsync"/>; blocks the thread.</summary>
    public T? FirstOrDefault() => FirstOrDefaultAsync().GetAwaiter().GetResult();

    /// <summary>Same as <see cref="SingleAsync"/>; blocks the thread.</summary>
    public T Single() => SingleAsync().GetAwaiter().GetResult();

    /// <summary>Same as <see cref="SingleOrDefaultAsync"/>; blocks the thread.</summary>
    public T? SingleOrDefault() => SingleOrDefaultAsync().GetAwaiter().GetResult();

    /// <summary>Same as <see cref="AnyAsync"/>; blocks the thread.</summary>
    public bool Any() => AnyAsync().GetAwaiter().GetResult();

    /// <summary>Same as <see cref="CountAsync"/>; blocks the thread.</summary>
    public int Count() => CountAsync().GetAwaiter().GetResult();

    /// <summary>
    /// Defers the query: reading the value executes all pending lazy operations of the session as one request.
    /// </summary>
    public Lazy<IEnumerable<T>> Lazily() =>
        _session.Lazy.Query<IEnumerable<T>>(async stop => await ToListAsync(stop).ConfigureAwait(false));

    /// <summary>Asynchronous version of <see cref="Lazily"/>.</summary>
    public Lazy<Task<IEnumerable<T>>> LazilyAsync() =>
        _session.Lazy.QueryAsync<IEnumerable<T>>(async stop => await ToListAsync(stop).ConfigureAwait(false));

    /// <summary>Streams the results one at a time from one snapshot, for <c>await foreach</c>.</summary>
    public IAsyncEnumerator<T> GetAsyncEnumerator(CancellationToken cancellationToken = default) =>
        RowsAsync(long.MaxValue, cancellationToken).GetAsyncEnumerator(cancellationToken);

    /// <summary>Returns the text of the query with its parameters.</summary>
    public RqlStatement ToRql()
    {
        using var parameters = new ParameterBag(_session.Json);
        foreach ((string? name, object? value) in _values)
        {
            if (name is null)
                parameters.Add(value);
            else
                parameters.Add(name, value);
        }

        return new RqlStatement(_text, parameters.ToJson());
    }

    /// <inheritdoc/>
    public override string ToString() => ToRql().ToString();

    private RawDocumentQuery<T> With(Func<QueryRequest, QueryRequest> change) =>
        new(_session, _text, _values, request => change(_settings(request)), _observer);

    private async Task<List<T>> TakeAsync(long most, CancellationToken cancellationToken)
    {
        var rows = new List<T>();
        await foreach (T row in RowsAsync(most, cancellationToken).ConfigureAwait(false))
            rows.Add(row);
        return rows;
    }

    private async Task<long> CountToAsync(long most, CancellationToken cancellationToken)
    {
        long count = 0;
        using QueryResults results = await QueryAsync(most, cancellationToken).ConfigureAwait(false);
        for (; count < most && results.MoveNext(); count++)
            cancellationToken.ThrowIfCancellationRequested();
        _observer?.Invoke(results);
        return count;
    }

    private Task<QueryResults> QueryAsync(long most, CancellationToken cancellationToken)
    {
        RqlStatement rql = ToRql();
        QueryRequest request = _settings(
            new QueryRequest
            {
                Text = rql.Text,
                Parameters = rql.Parameters,
                CountsResults = false,
                NeverStale = true,
                PageSize = most
            });
        return _session.QueryAsync(request, cancellationToken);
    }

    private IAsyncEnumerable<T> RowsAsync(long most, CancellationToken cancellationToken) =>
        RowsAsync(most, _session.ReadResult<T>, cancellationToken);

    /// <summary>Executes the query, and reads its results as a function does, which returns null for what is left out.</summary>
    internal async IAsyncEnumerable<TRow> RowsAsync<TRow>(
        long most, Func<QueryResults, TRow?> read, [EnumeratorCancellation] CancellationToken cancellationToken)
        where TRow : class
    {
        using QueryResults results = await QueryAsync(most, cancellationToken).ConfigureAwait(false);
        while (results.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (read(results) is { } row)
                yield return row;
        }

        _session.KeepIncludes(results);
        _observer?.Invoke(results);
    }
}
