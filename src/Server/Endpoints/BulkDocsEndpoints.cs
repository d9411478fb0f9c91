using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary><c>POST bulk_docs</c>: the batch of a session's <c>saveChanges</c>, which is written atomically.</summary>
internal static class BulkDocsEndpoints
{
    public static void Map(Routes routes) => routes.Database("POST", "/bulk_docs", AccessLevel.DatabaseReadWrite, Post);

    private static async Task Post(HttpServerRequest request, Database database)
    {
        RefuseReplicas(request);
        if (request.Header("Content-Type") is { } type && type.StartsWith("multipart/", StringComparison.OrdinalIgnoreCase))
        {
            BatchForm form = await BatchForm.ReadAsync(request, database).ConfigureAwait(false);
            await using (form.ConfigureAwait(false))
                await WriteAsync(request, database, form.ReadBatch()).ConfigureAwait(false);
            return;
        }

        // The batch copies the documents and holds them until it is durable, so they are counted; the buffer of the body is
        // released with it.
        using RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false);
        body.Hold(body.Length);
        WriteBatch batch = BatchReader.Read(body.Memory, database.Options, request.Server.Limits.MaxCommandsPerRequest);

        await WriteAsync(request, database, batch).ConfigureAwait(false);
    }

    private static async Task WriteAsync(HttpServerRequest request, Database database, WriteBatch batch)
    {
        batch.DisableAtomicGuards = request.Flag("disableAtomicDocumentWrites");
        bool isClusterWide = batch.IsClusterWide;
        IReadOnlyList<WriteResult> results = batch.Count == 0
            ? []
            : await database.WriteAsync(batch, request.Aborted).ConfigureAwait(false);
        await WaitForIndexesAsync(request, database).ConfigureAwait(false);
        await request.JsonAsync(
            (results, isClusterWide ? Math.Max(1, database.LastEtag) : 0), WriteResults,
            StatusCodes.Status201Created).ConfigureAwait(false);
    }

    // Checked before anything is written, because the requirement cannot be met.
    private static void RefuseReplicas(HttpServerRequest request)
    {
        string? replicas = request.Parameter("numberOfReplicasToWaitFor");
        if (string.IsNullOrEmpty(replicas) || replicas is "0" or "majority")
            return; // this node alone is the majority
        if (!request.Flag("throwOnTimeoutInWaitForReplicas", otherwise: true))
            return; // the batch counts without them

        throw WireException.BadRequest(
            $"The batch asks to be on {replicas} other nodes before it is acknowledged; this server is one node alone. Nothing "
                + $"was changed.");
    }

    private static async Task WaitForIndexesAsync(HttpServerRequest request, Database database)
    {
        if (request.Time("waitForIndexesTimeout") is not { } timeout)
            return;

        var names = request.Parameters("waitForSpecificIndex");
        string[]? only = names.Count == 0 ? null : [.. names.OfType<string>()];
        bool done = await database.Indexes.WaitForNonStaleAsync(timeout, only, request.Aborted).ConfigureAwait(false);
        if (!done && request.Flag("waitForIndexThrow", otherwise: true))
            throw WireException.Timeout(
                $"The batch is saved and durable, but after {timeout} the indexes had not yet seen all of it. Wait longer, or "
                    + $"query with waitForNonStaleResults.");
    }

    // Clients copy every member except Type into the metadata of their entity, so nothing else may be written.
    private static void WriteResults(Utf8JsonWriter json, (IReadOnlyList<WriteResult> Results, long TransactionIndex) answer)
    {
        json.WriteStartObject();
        json.WriteStartArray("Results");
        foreach (WriteResult result in answer.Results)
        {
            json.WriteStartObject();
            if (result.Patch is not null)
            {
                PatchWire.WriteBatchResult(json, result);
            }
            else if (result.Beside is not null)
            {
                KindWire.WriteBatchResult(json, result);
            }
            else if (result.Collection is not null)
            {
                json.WriteString("Type", "PUT");
                json.WriteString("@id", result.Id);
                json.WriteString("@collection", result.Collection);
                json.WriteString("@change-vector", result.ChangeVector);
                json.WriteString("@last-modified", WireTime.ToWire(result.LastModified));
            }
            else
            {
                json.WriteString("Id", result.Id);
                json.WriteString("Type", "DELETE");
                json.WriteBoolean("Deleted", result.Deleted);
                if (result.ChangeVector is not null)
                    json.WriteString("ChangeVector", result.ChangeVector);
            }

            json.WriteEndObject();
        }

        json.WriteEndArray();
        if (answer.TransactionIndex > 0)
            json.WriteNumber("TransactionIndex", answer.TransactionIndex);
        json.WriteEndObject();
    }
}
