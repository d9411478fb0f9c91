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
    public async Task<List<T>> ToListAsync(CancellationToken cancellationToken = default)
    {
        var rows = new List<T>();
        await foreach (T row in RowsAsync(long.MaxValue, cancellationToken).ConfigureAwait(false))
            rows.Add(row);
        return rows;
    }

    /// <summary>Returns the first result, or null if there is none.</summary>
    public async Task<T?> FirstOrDefaultAsync(CancellationToken cancellationToken = default)
    {
        await foreach (T row in RowsAsync(1, cancellationToken).ConfigureAwait(false))
            return row;
        return null;
    }

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

    private async IAsyncEnumerable<T> RowsAsync(long most, [EnumeratorCancellation] CancellationToken cancellationToken)
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
        using QueryResults results = await _session.QueryAsync(request, cancellationToken).ConfigureAwait(false);
        while (results.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (_session.ReadResult<T>(results) is { } row)
                yield return row;
        }

        _session.KeepIncludes(results);
        _observer?.Invoke(results);
    }
}
