using System.Globalization;
using System.Text.Json;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Queries;

/// <summary>
/// Runs a query and writes its results in one of four formats. Streams and the server's JSON are not buffered in memory.
/// </summary>
internal sealed class QueryRun(IQuerySource source, Shell shell)
{
    private static readonly byte[] _newLine = "\n"u8.ToArray();

    /// <summary>Writes a table, followed by statistics of the response.</summary>
    public async Task WriteTableAsync(QueryText query, int maxRows, CancellationToken cancellationToken)
    {
        await using Stream read = await source.AnswerAsync(query, cancellationToken);
        using JsonDocument answer = await JsonDocument.ParseAsync(
            read, new JsonDocumentOptions { MaxDepth = 1024 }, cancellationToken);
        JsonElement results = answer.RootElement.GetProperty("Results");
        var table = ResultTable.Of(results, maxRows);
        table.WriteTo(shell.OutputConsole());
        await shell.OutputText.FlushAsync(cancellationToken);
        await shell.Error.WriteLineAsync(
            Footer(answer.RootElement, results.GetArrayLength(), Math.Min(maxRows, results.GetArrayLength())));
        if (table.HiddenColumns.Count > 0)
            await shell.Error.WriteLineAsync(
                $"Not shown for want of width: {string.Join(", ", table.HiddenColumns)}. 'select' or --format json shows them.");
    }

    /// <summary>Writes the server's response unchanged.</summary>
    public async Task WriteJsonAsync(QueryText query, CancellationToken cancellationToken)
    {
        await using Stream answer = await source.AnswerAsync(query, cancellationToken);
        await answer.CopyToAsync(shell.Output, cancellationToken);
        await shell.Output.WriteAsync(_newLine, cancellationToken);
        await shell.Output.FlushAsync(cancellationToken);
    }

    /// <summary>Writes one result per line as they arrive.</summary>
    public async Task WriteLinesAsync(QueryText query, CancellationToken cancellationToken)
    {
        var output = new BufferedStream(shell.Output, 64 * 1024);
        string footer = await ReadLinesAsync(
            query, async item =>
            {
                await output.WriteAsync(item, cancellationToken);
                await output.WriteAsync(_newLine, cancellationToken);
            },
            cancellationToken);
        await output.FlushAsync(cancellationToken);
        await shell.Error.WriteLineAsync(footer);
    }

    /// <summary>Writes results as CSV as they arrive.</summary>
    public async Task WriteCsvAsync(QueryText query, CancellationToken cancellationToken)
    {
        var csv = new CsvOutput(shell.OutputText);
        string footer = await ReadLinesAsync(
            query, item =>
            {
                csv.Add(item);
                return ValueTask.CompletedTask;
            },
            cancellationToken);
        csv.End();
        await shell.Error.WriteLineAsync(footer);
        if (csv.LeftOut.Count > 0)
            await shell.Error.WriteLineAsync(
                $"Left out, because no result of the first thousand has them: {string.Join(", ", csv.LeftOut)}. Name the columns "
                    + $"with 'select'.");
    }

    /// <summary>Passes each result to <paramref name="write"/> as it arrives. Returns the summary for standard error.</summary>
    private async Task<string> ReadLinesAsync(
        QueryText query, Func<ReadOnlyMemory<byte>, ValueTask> write, CancellationToken cancellationToken)
    {
        await using Stream lines = await source.LinesAsync(query, cancellationToken);
        var reader = new LineReader(lines);
        long count = 0;
        JsonElement? stats = null;
        while (await reader.ReadAsync(cancellationToken))
        {
            if (reader.Line.IsEmpty)
                continue;

            if (reader.IsTooLong)
                throw new InvalidDataException($"Result {count + 1} is longer than {LineReader.DefaultMaxLineBytes} bytes.");

            ReadOnlyMemory<byte> item = StreamedAnswer.ItemOf(reader.Line);
            if (!item.IsEmpty)
            {
                await write(item);
                count++;
                continue;
            }

            if (StreamedAnswer.ErrorOf(reader.Line) is { } error)
                throw new InvalidDataException($"The server broke off after {count} results: {error}");

            if (StreamedAnswer.StatsOf(reader.Line) is { IsEmpty: false } statsOfLine)
            {
                using JsonDocument document = JsonDocument.Parse(statsOfLine);
                stats = document.RootElement.Clone();
            }
        }

        return Footer(
            stats
                ?? throw new InvalidDataException($"The answer of the server ends after {count} results without its statistics."),
            count, count);
    }

    private static string Footer(JsonElement answer, long received, long shown)
    {
        long total = answer.TryGetProperty("TotalResults", out JsonElement value) && value.TryGetInt64(out long known)
            ? known
            : received;
        string footer = shown == total
            ? Count(total)
            : string.Create(CultureInfo.InvariantCulture, $"{shown:N0} of {Count(total)}");
        if (answer.TryGetProperty("IndexName", out JsonElement index) && index.ValueKind == JsonValueKind.String)
            footer += $", {index.GetString()}";
        if (answer.TryGetProperty("DurationInMs", out JsonElement duration) && duration.TryGetInt64(out long milliseconds))
            footer += string.Create(CultureInfo.InvariantCulture, $", {milliseconds:N0} ms");
        if (answer.TryGetProperty("IsStale", out JsonElement stale) && stale.ValueKind == JsonValueKind.True)
            footer += ", STALE: the index has not seen the latest changes yet (--wait waits for it)";
        return footer;
    }

    private static string Count(long results) =>
        results == 1 ? "1 result" : string.Create(CultureInfo.InvariantCulture, $"{results:N0} results");
}
