using System.Buffers;
using Treepie.Queries;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Streams of any length: one document per line (<c>format=jsonl</c>), or one object with <c>Results</c> for older clients.
/// The reader determines the pace; memory use is limited to a few documents.
/// </summary>
internal static class StreamsEndpoints
{
    private const string JsonLines = "application/x-ndjson; charset=utf-8";

    public static void Map(Routes routes)
    {
        routes.Database("POST", "/streams/queries", AccessLevel.DatabaseRead, Queries);
        routes.Database("GET", "/streams/docs", AccessLevel.DatabaseRead, Documents);
    }

    private static async Task Documents(HttpServerRequest request, Database database)
    {
        bool lines = IsJsonLines(request);
        long start = request.Number("start", 0);
        long pageSize = request.Number("pageSize", long.MaxValue);
        request.BecomeStream();
        await request.Turn.TakeAsync(request.Aborted).ConfigureAwait(false);
        using DatabaseSnapshot snapshot = database.BeginRead();
        using DocumentCursor cursor = DocumentLister.Open(request, snapshot);
        ResponseBody output = Begin(request, lines);
        if (!lines)
            output.Write("{\"Results\":["u8);

        long returned = 0;
        bool more = DocumentLister.Skip(request, cursor, start);
        while (more && returned < pageSize && cursor.MoveNext())
        {
            if (!lines && returned > 0)
                output.Write(","u8);

            cursor.Current.WriteTo(output);
            if (lines)
                output.Write("\n"u8);

            returned++;
            snapshot.ReleasePages(); // the response buffer has a copy
            await request.PauseAsync().ConfigureAwait(false);
        }

        if (!lines)
            output.Write("]}"u8);
    }

    private static async Task Queries(HttpServerRequest request, Database database)
    {
        bool lines = IsJsonLines(request);
        using QueryCommand command = await QueryCommand.ReadAsync(request).ConfigureAwait(false);
        request.BecomeStream();
        using QueryResults? results = await QueriesEndpoints.RunAsync(request, database, command).ConfigureAwait(false);
        if (results is null)
            return;

        await request.Turn.TakeAsync(request.Aborted).ConfigureAwait(false);
        bool any = results.MoveNext(); // before the response is started, so that errors can still be returned
        ResponseBody output = Begin(request, lines);
        if (lines)
            await WriteLinesAsync(request, results, any).ConfigureAwait(false);
        else
            await WriteObjectAsync(request, results, any).ConfigureAwait(false);
    }

    private static async Task WriteLinesAsync(HttpServerRequest request, QueryResults results, bool any)
    {
        ResponseBody output = request.Output;
        output.Write("{\"Stats\":{"u8);
        WriteFigures(output, results);
        output.Write("}}\n"u8);
        for (; any; any = results.MoveNext())
        {
            output.Write("{\"Item\":"u8);
            WriteItem(results, output);
            output.Write("}\n"u8);
            await request.PauseAsync().ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Writes the current result. Clients expect metadata in every streamed result, so it is added to facets and suggestions
    /// here, which otherwise have none.
    /// </summary>
    private static void WriteItem(QueryResults results, ResponseBody output)
    {
        if (!results.IsComputed)
        {
            results.WriteCurrent(output);
            return;
        }

        var row = new ArrayBufferWriter<byte>();
        results.WriteCurrent(row);
        output.Write(row.WrittenSpan[..^1]);
        output.Write(",\"@metadata\":{\"@projection\":true}}"u8);
    }

    private static async Task WriteObjectAsync(HttpServerRequest request, QueryResults results, bool any)
    {
        ResponseBody output = request.Output;
        output.Write("{"u8);
        WriteFigures(output, results);
        output.Write(",\"Results\":"u8);
        await ResultList.WriteAsync(request, results, any).ConfigureAwait(false);
        output.Write("}"u8);
    }

    private static void WriteFigures(ResponseBody output, QueryResults results)
    {
        output.Write("\"ResultEtag\":"u8);
        output.WriteNumber(results.ResultEtag);
        output.Write(",\"IsStale\":"u8);
        output.WriteBoolean(results.IsStale);
        output.Write(",\"IndexName\":"u8);
        output.WriteString(results.IndexName);
        output.Write(",\"TotalResults\":"u8);
        output.WriteNumber(results.TotalResults);
        if (!results.IsTotalExact)
            output.Write(",\"IsTotalExact\":false"u8);
        output.Write(",\"IndexTimestamp\":"u8);
        output.WriteTime(results.IndexTimestamp);
        QueriesEndpoints.WriteWarnings(output, results);
    }

    private static bool IsJsonLines(HttpServerRequest request) => request.Parameter("format") switch
    {
        "jsonl" => true,
        null or "" or "json" => false,
        var other => throw WireException.NotBuilt($"The stream format '{other}'; there are jsonl and json"),
    };

    private static ResponseBody Begin(HttpServerRequest request, bool lines)
    {
        ResponseBody output = request.BeginJsonBody();
        if (lines)
            request.Http.Response.ContentType = JsonLines;

        return output;
    }
}
