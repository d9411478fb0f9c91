using System.Buffers;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>Executes LINQ queries.</summary>
internal static class QueryRun
{
    /// <summary>Streams the rows one at a time from one snapshot.</summary>
    public static async IAsyncEnumerable<T> RowsAsync<T>(
        QueryModel model, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        TranslatedQuery query = model.Translate();
        HashSet<object>? seen = model.DistinctKey is not null || (model.IsDistinct && query.Rows.IsComputed) ? [] : null;
        long skip = model.ComparesRows ? model.Skip : 0, take = model.ComparesRows ? model.Take : long.MaxValue;
        using QueryResults results = await model.Session.QueryAsync(model.Request(query.Statement), cancellationToken)
            .ConfigureAwait(false);
        while (take > 0 && results.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            object? row = query.Rows.Read(results, out bool isLeftOut);
            if (isLeftOut || (seen is not null && !seen.Add(Compared(model, row) ?? DBNull.Value)))
                continue;
            if (skip > 0)
            {
                skip--;
                continue;
            }

            take--;
            yield return (T)row!; // null only if T allows it
        }

        model.Session.KeepIncludes(results);
        foreach (Action<QueryResults> observer in model.Observers)
            observer(results);
    }

    public static async Task<List<T>> ToListAsync<T>(QueryModel model, CancellationToken cancellationToken)
    {
        var rows = new List<T>();
        await foreach (T row in RowsAsync<T>(model, cancellationToken).ConfigureAwait(false))
            rows.Add(row);
        return rows;
    }

    public static async Task<long> CountAsync<T>(QueryModel model, CancellationToken cancellationToken)
    {
        if (model.ComparesRows)
        {
            long count = 0;
            await foreach (T _ in RowsAsync<T>(model, cancellationToken).ConfigureAwait(false))
                count++;
            return count;
        }

        RqlStatement statement = model.Translate(_ => " limit 0");
        using QueryResults results = await model.Session.QueryAsync(model.Request(statement, counts: true), cancellationToken)
            .ConfigureAwait(false);
        results.MoveNext(); // reaches the end at once, and counts the documents that pass filter
        foreach (Action<QueryResults> observer in model.Observers)
            observer(results);
        return results.HasSeveralOfDocument
            ? await CountRowsAsync(model, cancellationToken).ConfigureAwait(false)
            : Math.Min(Math.Max(0, results.TotalResults - model.Skip), model.Take);
    }

    /// <summary>Counts the results of an index that has several entries of a document, each of which is given once.</summary>
    private static async Task<long> CountRowsAsync(QueryModel model, CancellationToken cancellationToken)
    {
        using QueryResults results = await model.Session
            .QueryAsync(model.Request(model.Translate().Statement), cancellationToken)
            .ConfigureAwait(false);
        long count = 0;
        while (results.MoveNext())
            count++;
        return count;
    }

    /// <summary>Returns the sum, average, least or greatest value of the rows, which are not kept.</summary>
    public static async Task<object?> AggregateAsync(
        QueryModel model, string name, Type type, CancellationToken cancellationToken)
    {
        var aggregate = new RowAggregate(name, type);
        foreach (QueryModel part in (name is "Min" or "Max" ? model.Extreme(descending: name == "Max") : null) ?? [model])
            await foreach (object? row in RowsAsync<object?>(part, cancellationToken).ConfigureAwait(false))
                aggregate.Add(row);
        return aggregate.Result;
    }

    /// <summary>Same as <see cref="AggregateAsync"/>; blocks the thread.</summary>
    public static object? Aggregate(QueryModel model, string name, Type type) =>
        AggregateAsync(model, name, type, CancellationToken.None).GetAwaiter().GetResult();

    private static object? Compared(QueryModel model, object? row) =>
        model.DistinctKey is { } key ? new Interpreter().Apply(key, row) : row;

    /// <summary>Returns additional output of a query as JSON.</summary>
    public static JsonElement Json(Action<IBufferWriter<byte>> write)
    {
        var buffer = new ArrayBufferWriter<byte>();
        write(buffer);
        if (buffer.WrittenCount == 0)
            return default;
        var reader = new Utf8JsonReader(buffer.WrittenSpan);
        return JsonElement.ParseValue(ref reader);
    }
}
