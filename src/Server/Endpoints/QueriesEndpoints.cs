using System.Globalization;
using Treepie.Queries;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>Queries whose results are returned in one response; and deleting or patching the results of a query.</summary>
internal static class QueriesEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("POST", "/queries", AccessLevel.DatabaseRead, Post);
        routes.DatabaseLease("DELETE", "/queries", AccessLevel.DatabaseReadWrite, Delete);
        routes.DatabaseLease("PATCH", "/queries", AccessLevel.DatabaseReadWrite, Patch);
        routes.Database("GET", "/queries", AccessLevel.DatabaseRead, static (_, _) =>
            throw WireException.BadRequest("Queries are sent as POST, with a body such as {\"Query\":\"from Users\"}."));
    }

    /// <summary>Executes a query and writes the response.</summary>
    public static async Task Post(ServerRequest request, Database database)
    {
        string debug = request.Parameter("debug") ?? "";
        if (debug is not ("" or "entries" or "explain"))
            throw WireException.BadRequest(
                $"A query's 'debug' is entries (what the index has of each hit) or explain (which index answers); '{debug}' is "
                    + $"given. How a query is run says 'include timings()'.");

        using QueryCommand command = await QueryCommand.ReadAsync(request, indexEntries: debug == "entries")
            .ConfigureAwait(false);
        if (debug == "explain")
        {
            await ExplainEndpoints.ChoicesAsync(request, database, command.Request).ConfigureAwait(false);
            return;
        }

        try
        {
            using QueryResults? results = await RunAsync(request, database, command).ConfigureAwait(false);
            if (results is not null)
                await AnswerAsync(request, results).ConfigureAwait(false);
        }
        finally
        {
            request.Turn.Release(); // the next query of a multi_get takes its own turn
        }
    }

    /// <summary>
    /// Executes a query. If its index does not exist, returns null after responding with 404, as clients expect. The message
    /// is for people; it is omitted in a <c>multi_get</c>, where clients would take it for a result.
    /// </summary>
    public static async Task<QueryResults?> RunAsync(ServerRequest request, Database database, QueryCommand command)
    {
        request.NoteQuery(command.Request.Text, null); // also for queries that fail or time out
        try
        {
            QueryResults results = await database.QueryAsync(command.Request, request.Aborted).ConfigureAwait(false);
            request.NoteQuery(command.Request.Text, results);
            return results;
        }
        catch (IndexNotFoundException missing)
        {
            await MissingIndexAsync(request, missing).ConfigureAwait(false);
            return null;
        }
    }

    /// <summary>Responds with 404, which clients expect if an index does not exist.</summary>
    public static Task MissingIndexAsync(ServerRequest request, IndexNotFoundException missing)
    {
        if (!request.IsEmbedded)
            return new ErrorAnswer(StatusCodes.Status404NotFound, WireTypes.IndexDoesNotExist, missing.Message).WriteAsync(
                request);
        request.EndEmpty(StatusCodes.Status404NotFound);
        return Task.CompletedTask;
    }

    private static async ValueTask AnswerAsync(ServerRequest request, QueryResults results)
    {
        string etag = results.ResultEtag.ToString(CultureInfo.InvariantCulture);
        if (request.ChangeVectorHeader("If-None-Match") == etag)
        {
            request.EndEmpty(StatusCodes.Status304NotModified);
            return;
        }

        // Find the first result before the response is started: inside a multi_get, an error then is the result of this query.
        bool any = results.MoveNext();
        request.SetETag(etag);
        request.BeginJsonBody();
        ResponseBody output = request.Output;
        output.Write("{\"Results\":"u8);
        await ResultList.WriteAsync(request, results, any).ConfigureAwait(false);
        output.Write(",\"Includes\":{"u8);
        while (results.WriteNextInclude(output))
            await request.PauseAsync().ConfigureAwait(false);
        output.Write("}"u8);
        if (results.IncludedBeside is { } included)
            await BesideWire.WriteAsync(request, results.Snapshot, included, []).ConfigureAwait(false);
        if (results.TimeSeriesFields.Count > 0)
        {
            for (int i = 0; i < results.TimeSeriesFields.Count; i++)
            {
                output.Write(i == 0 ? ",\"TimeSeriesFields\":["u8 : ","u8);
                output.WriteString(results.TimeSeriesFields[i]);
            }

            output.Write("]"u8);
        }

        if (results.HasHighlightings)
        {
            output.Write(",\"Highlightings\":"u8);
            results.WriteHighlightings(output);
        }

        if (results.HasExplanations)
        {
            output.Write(",\"Explanations\":"u8);
            results.WriteExplanations(output);
        }

        WriteFigures(output, results);
        output.Write("}"u8);
    }

    private static void WriteFigures(ResponseBody output, QueryResults results)
    {
        output.Write(",\"IncludedPaths\":"u8);
        if (results.IncludedPaths.Count == 0)
            output.Write("null"u8);
        else
        {
            for (int i = 0; i < results.IncludedPaths.Count; i++)
            {
                output.Write(i == 0 ? "["u8 : ","u8);
                output.WriteString(results.IncludedPaths[i]);
            }

            output.Write("]"u8);
        }

        output.Write(",\"IndexName\":"u8);
        output.WriteString(results.IndexName);
        output.Write(",\"IndexTimestamp\":"u8);
        output.WriteTime(results.IndexTimestamp);
        output.Write(",\"LastQueryTime\":"u8);
        output.WriteTime(results.IndexTimestamp);
        output.Write(results.IsStale ? ",\"IsStale\":true,\"ResultEtag\":"u8 : ",\"IsStale\":false,\"ResultEtag\":"u8);
        output.WriteNumber(results.ResultEtag);
        output.Write(",\"TotalResults\":"u8);
        output.WriteNumber(results.TotalResults);
        if (!results.IsTotalExact)
            output.Write(",\"IsTotalExact\":false"u8);
        output.Write(",\"SkippedResults\":"u8);
        output.WriteNumber(results.SkippedResults);
        output.Write(",\"DurationInMs\":"u8);
        output.WriteNumber((long)results.Duration.TotalMilliseconds);
        output.Write(",\"NodeTag\":\"A\""u8);
        WriteWarnings(output, results);
        if (results.Continuation is { } continuation)
        {
            output.Write(",\"Continuation\":"u8);
            output.WriteAsciiString(continuation);
        }

        if (results.HasTimings)
        {
            output.Write(",\"Timings\":"u8);
            results.WriteTimings(output);
        }

    }

    /// <summary>Writes the warnings of a query, if there are any.</summary>
    internal static void WriteWarnings(ResponseBody output, QueryResults results)
    {
        for (int i = 0; i < results.Warnings.Count; i++)
        {
            output.Write(i == 0 ? ",\"Warnings\":["u8 : ","u8);
            output.WriteString(results.Warnings[i]);
        }

        if (results.Warnings.Count > 0)
            output.Write("]"u8);
    }

    private static async Task Delete(HttpServerRequest request, DatabaseLease lease)
    {
        QueryCommand command = await QueryCommand.ReadAsync(request).ConfigureAwait(false);
        await ChangeAsync(request, lease, command, _ => (command.Request, static (batch, id, _) => batch.Delete(id), "deleted"))
            .ConfigureAwait(false);
    }

    private static async Task Patch(HttpServerRequest request, DatabaseLease lease)
    {
        QueryCommand command = await QueryCommand.ReadAsync(request, isWithin: "Query").ConfigureAwait(false);
        await ChangeAsync(request, lease, command, database =>
        {
            var patch = PatchQuery.Compile(command.Request, database.Options, request.Flag("ignoreMaxStepsForScript"));
            var options = new PatchOptions { Arguments = command.Request.Parameters };
            return (
                patch.Query,
                (batch, id, end) => batch.Patch(id, patch.Patch, options with { CancellationToken = end }), "patched");
        }).ConfigureAwait(false);
    }

    /// <summary>
    /// Starts changing the results of a query. The operation outlives the request and keeps the database open itself.
    /// </summary>
    private static async Task ChangeAsync(
        HttpServerRequest request, DatabaseLease lease, QueryCommand command,
        Func<Database, (QueryRequest Query, Action<WriteBatch, string, CancellationToken> Add, string Verb)> understand)
    {
        Operation? operation = null;
        try
        {
            (QueryRequest query, Action<WriteBatch, string, CancellationToken> add, string verb) = understand(lease.Database);
            var settings = new ChangeByQuery.Settings(
                add, verb, request.Flag("allowStale"), request.Time("staleTimeout"), PerSecond(request),
                request.Flag("details"));
            operation = await ChangeByQuery.StartAsync(
                request.Server, request.Server.Operations, lease.Database, command, query, settings, request.Client.Identity,
                request.Aborted).ConfigureAwait(false);
        }
        finally
        {
            if (operation is null)
                command.Dispose();
        }

        await OperationsEndpoints.WriteStartedAsync(request, operation).ConfigureAwait(false);
    }

    /// <summary>Returns the maximum number of documents per second; null if not specified.</summary>
    private static long? PerSecond(HttpServerRequest request)
    {
        if (request.Parameter("maxOpsPerSec") is not { Length: > 0 } text)
            return null;
        return long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number) && number > 0
            ? number
            : throw WireException.BadRequest(
                $"The query string has 'maxOpsPerSec={text}', which must be a whole number from 1 on. Nothing was changed.");
    }
}
