using System.Text;
using System.Text.Json;
using Microsoft.Extensions.Primitives;
using Treepie.Kinds;
using Treepie.Server.BulkInsert;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Counters of documents: reads some or all counters of one document, or changes those of many documents in one batch.
/// </summary>
internal static class CountersEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/counters", AccessLevel.DatabaseRead, Get);
        routes.Database("POST", "/counters", AccessLevel.DatabaseRead, Post);
    }

    private static Task Get(HttpServerRequest request, Database database)
    {
        string id = request.RequiredParameter("docId");
        StringValues names = request.Parameters("counter");
        using DatabaseSnapshot snapshot = database.BeginRead();
        IEnumerable<CounterValue?> counters = names.Count == 0
            ? snapshot.Counters(id)
            : names.Select(name => snapshot.Counter(id, name ?? ""));
        return WriteAsync(request, counters, request.Flag("full"));
    }

    private static async Task Post(HttpServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false);
        bool full;
        var wanted = new List<(string Id, List<CounterOperation> Operations)>();
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Documents\":[…]}"))
        {
            full = WireJson.Flag(json.RootElement, "ReplyWithAllNodesValues");
            if (!json.RootElement.TryGetProperty("Documents", out JsonElement documents)
                || documents.ValueKind != JsonValueKind.Array)
                throw WireException.BadRequest("The request body lacks 'Documents', an array. Nothing was changed.");
            if (documents.GetArrayLength() > request.Server.Limits.MaxCommandsPerRequest)
                throw WireException.TooLarge(
                    $"Counters of {documents.GetArrayLength():N0} documents in one request; "
                        + $"{request.Server.Limits.MaxCommandsPerRequest:N0} are allowed. Nothing was changed.");
            foreach (JsonElement document in documents.EnumerateArray())
                wanted.Add(CounterReader.Read(document, null));
        }

        if (wanted.All(static one => one.Operations.TrueForAll(static operation => operation.Kind == CounterOperationKind.Get)))
        {
            await ReadAsync(request, database, wanted, full).ConfigureAwait(false);
            return;
        }

        Caller.Require(request, AccessLevel.DatabaseReadWrite, database.Name);
        using var batch = new WriteBatch(database.Options);
        foreach ((string id, List<CounterOperation> operations) in wanted)
            batch.Counters(id, operations);
        IReadOnlyList<WriteResult> results = batch.Count == 0
            ? []
            : await database.WriteAsync(batch, request.Aborted).ConfigureAwait(false);
        // the batch contains only these commands
        await WriteAsync(request, results.SelectMany(static result => ((CountersResult)result.Beside!).Counters), full)
            .ConfigureAwait(false);
    }

    /// <summary>Answers as a read: clients send many names as operations because they do not fit into a URL.</summary>
    private static Task ReadAsync(
        HttpServerRequest request, Database database, List<(string Id, List<CounterOperation> Operations)> wanted, bool full)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return WriteAsync(
            request,
            wanted.SelectMany(
                one => one.Operations.Select(
                    operation => snapshot.Counter(one.Id, Encoding.UTF8.GetString(operation.Name.Span)))),
            full);
    }

    private static Task WriteAsync(HttpServerRequest request, IEnumerable<CounterValue?> counters, bool full) =>
        request.JsonAsync((counters, full), static (json, state) =>
        {
            json.WriteStartObject();
            KindWire.WriteCounters(json, state.counters, state.full);
            json.WriteEndObject();
        });
}
