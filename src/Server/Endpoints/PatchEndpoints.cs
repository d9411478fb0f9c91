using System.Text;
using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary><c>PATCH docs</c>: changes one document with a script.</summary>
internal static class PatchEndpoints
{
    public static void Map(Routes routes) => routes.Database("PATCH", "/docs", AccessLevel.DatabaseReadWrite, Patch);

    private static async Task Patch(HttpServerRequest request, Database database)
    {
        string id = request.RequiredParameter("id");
        bool isTest = request.Flag("test");
        using RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false);
        using JsonDocument document = WireJson.ParseObject(
            body, "{\"Patch\":{\"Script\":\"…\",\"Values\":{…}},\"PatchIfMissing\":null}");
        var options = new PatchOptions
        {
            ExpectedChangeVector = request.ChangeVectorHeader("If-Match"),
            SkipsOtherChangeVectors = request.Flag("skipPatchIfChangeVectorMismatch"),
            ReturnsDocuments = true,
            ReturnsActions = isTest || request.Flag("debug"),
            CancellationToken = request.Aborted,
        };
        if (!document.RootElement.TryGetProperty("Patch", out JsonElement patch))
            throw WireException.BadRequest($"The PATCH of '{id}' lacks 'Patch', an object with 'Script'. Nothing was changed.");
        (Patch script, JsonElement values) = PatchWire.Read(patch, $"The PATCH of '{id}'", database.Options);
        options = options with { Arguments = values };
        if (document.RootElement.TryGetProperty("PatchIfMissing", out JsonElement ifMissing)
            && ifMissing.ValueKind == JsonValueKind.Object)
        {
            (Patch create, JsonElement createValues) = PatchWire.Read(ifMissing, $"'PatchIfMissing' of '{id}'", database.Options);
            options = options with { IfMissing = create, IfMissingArguments = createValues };
        }

        var batch = new WriteBatch(database.Options) { IsTrial = isTest };
        PutTried(batch, document.RootElement, id, isTest);
        batch.Patch(id, script, options);
        WriteResult result = (await database.WriteAsync(batch, request.Aborted).ConfigureAwait(false))[^1];
        PatchResult did = result.Patch ?? throw new InvalidOperationException("The result of a patch says what it did.");
        int status = did.Status switch
        {
            PatchStatus.DocumentDoesNotExist => StatusCodes.Status404NotFound,
            PatchStatus.NotModified or PatchStatus.Skipped when !isTest => StatusCodes.Status304NotModified,
            _ => StatusCodes.Status200OK,
        };
        if (status == StatusCodes.Status304NotModified)
        {
            request.EndEmpty(status);
            return;
        }

        await request.JsonAsync((result, did, isTest), static (json, answer) =>
        {
            json.WriteStartObject();
            json.WriteString("Status", answer.did.Status.ToString());
            PatchWire.Write(json, "ModifiedDocument", answer.did.Modified);
            PatchWire.Write(json, "OriginalDocument", answer.isTest ? answer.did.Original : default);
            json.WriteString("ChangeVector", answer.result.ChangeVector);
            json.WriteString("Collection", answer.result.Collection);
            json.WriteString("LastModified", WireTime.ToWire(answer.result.LastModified));
            PatchWire.WriteDebug(json, answer.did);
            json.WriteEndObject();
        }, status).ConfigureAwait(false);
    }

    /// <summary>
    /// In a test, stores the document given in the request in place of the existing one; like everything in a test, it is
    /// rolled back.
    /// </summary>
    private static void PutTried(WriteBatch batch, JsonElement command, string id, bool isTest)
    {
        if (!command.TryGetProperty("Document", out JsonElement given) || given.ValueKind == JsonValueKind.Null)
            return;
        if (!isTest)
            throw WireException.BadRequest(
                $"The PATCH of '{id}' brings a 'Document', which only a test of a patch does (test=true). Nothing was changed.");
        if (given.ValueKind != JsonValueKind.Object)
            throw WireException.BadRequest(
                $"'Document' of the PATCH of '{id}' holds a JSON {given.ValueKind}; expected is an object. Nothing was changed.");
        batch.Put(id, Encoding.UTF8.GetBytes(given.GetRawText()));
    }
}
