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
        HashSet<object>? seen = model.IsDistinct && query.Rows.IsComputed ? [] : null;
        long skip = model.IsDistinct ? model.Skip : 0, take = model.IsDistinct ? model.Take : long.MaxValue;
        using QueryResults results = await model.Session.QueryAsync(model.Request(query.Statement), cancellationToken)
            .ConfigureAwait(false);
        while (take > 0 && results.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            object? row = query.Rows.Read(results, out bool isLeftOut);
            if (isLeftOut || (seen is not null && !seen.Add(row ?? DBNull.Value)))
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
        if (model.IsDistinct)
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
        return Math.Min(Math.Max(0, results.TotalResults - model.Skip), model.Take);
    }

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
