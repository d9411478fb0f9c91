using System.Buffers.Text;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.Extensions.Primitives;
using Treepie.Kinds;
using Treepie.Revisions;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Revisions: configuring them, reading them by document, change vector or time, deleting them, and reverting documents.
/// </summary>
internal static class RevisionsEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/revisions", AccessLevel.DatabaseRead, Get);
        routes.Database("GET", "/revisions/count", AccessLevel.DatabaseRead, Count);
        routes.Database("GET", "/revisions/bin", AccessLevel.DatabaseRead, Bin);
        routes.Database("GET", "/revisions/config", AccessLevel.DatabaseRead, GetConfiguration);
        routes.Database("POST", "/admin/revisions/config", AccessLevel.DatabaseAdmin, Configure);
        routes.Database("POST", "/revisions/revert/docs", AccessLevel.DatabaseReadWrite, Revert);
        routes.Database("POST", "/revisions/revert", AccessLevel.DatabaseAdmin, RevertDatabase);
        routes.Database("POST", "/admin/revisions/config/enforce", AccessLevel.DatabaseAdmin, Enforce);
        routes.Database("DELETE", "/admin/revisions", AccessLevel.DatabaseAdmin, Delete);
    }

    /// <summary>Writes the configuration as a member of a database record.</summary>
    public static void WriteRecord(Utf8JsonWriter json, Database database)
    {
        if (database.Revisions.Configuration is not { } configuration)
            return;
        json.WritePropertyName("Revisions");
        configuration.WriteTo(json);
    }

    /// <summary>Reads the revisions of a document, those with given change vectors, or the one at a point in time.</summary>
    public static async Task Get(ServerRequest request, Database database)
    {
        StringValues vectors = request.Parameters("changeVector");
        bool metadataOnly = request.Flag("metadataOnly");
        using DatabaseSnapshot snapshot = database.BeginRead();
        if (vectors.Count > 0)
        {
            List<Revision?> found = [.. vectors.Select(vector => snapshot.RevisionOf(vector ?? "", metadataOnly))];
            if (found.Count == 1 && found[0] is null && !request.IsEmbedded)
                request.EndEmpty(Microsoft.AspNetCore.Http.StatusCodes.Status404NotFound);
            else
                await WriteAsync(request, found, null, metadataOnly).ConfigureAwait(false);
            return;
        }

        string id = request.RequiredParameter("id");
        if (request.Parameter("before") is { Length: > 0 } before)
        {
            await WriteAsync(request, [snapshot.RevisionBefore(id, TimeOf(before), metadataOnly)], null, metadataOnly)
                .ConfigureAwait(false);
            return;
        }

        (long start, long size) = (request.Number("start", 0), request.Number("pageSize", int.MaxValue));
        IEnumerable<Revision> page = snapshot.Revisions(id, metadataOnly)
            .Skip((int)Math.Min(start, int.MaxValue))
            .Take((int)Math.Min(size, int.MaxValue));
        await WriteAsync(request, page, snapshot.RevisionCount(id), metadataOnly).ConfigureAwait(false);
    }

    /// <summary>Parses a time as sent by clients.</summary>
    public static DateTime TimeOf(string text) =>
        DateTime.TryParse(
            text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal,
            out DateTime time)
            ? time
            : throw WireException.BadRequest(
                $"'{text}' is not a time; expected is one like 2030-01-31T12:00:00.0000000Z. Nothing was changed.");

    private static Task Count(HttpServerRequest request, Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return request.JsonAsync(snapshot.RevisionCount(request.RequiredParameter("id")), static (json, count) =>
        {
            json.WriteStartObject();
            json.WriteNumber("RevisionsCount", count);
            json.WriteEndObject();
        });
    }

    private static async Task Bin(HttpServerRequest request, Database database)
    {
        // The npm client sends a page size that it does not have as text.
        long start = request.Number("start", 0),
            size = request.Parameter("pageSize") is "null" or "undefined" ? 1024 : request.Number("pageSize", 1024);
        string? after = request.Parameter("continuationToken") is { Length: > 0 } token ? IdOf(token) : null, last = null;
        using DatabaseSnapshot snapshot = database.BeginRead();
        await WriteAsync(request, Page(), null, metadataOnly: true, () => last).ConfigureAwait(false);

        IEnumerable<Revision> Page()
        {
            long left = size;
            string? given = null;
            foreach (Revision deletion in snapshot.RevisionsBin(after).Skip((int)Math.Min(start, int.MaxValue)))
            {
                if (left-- == 0)
                {
                    last = given;
                    yield break;
                }

                given = deletion.Id;
                yield return deletion;
            }
        }
    }

    /// <summary>Returns the id in a token: the one of the last document of the page before.</summary>
    private static string IdOf(string token) =>
        Base64Url.IsValid(token)
            ? Encoding.UTF8.GetString(Base64Url.DecodeFromChars(token))
            : throw WireException.BadRequest(
                $"'{token}' is no 'continuationToken' of an answer of 'revisions/bin'. Leave it out to begin with the first "
                    + "page.");

    private static Task GetConfiguration(HttpServerRequest request, Database database) =>
        database.Revisions.Configuration is { } configuration
            ? request.JsonAsync(configuration, static (json, configuration) => configuration.WriteTo(json))
            : request.EmptyAsync(Microsoft.AspNetCore.Http.StatusCodes.Status404NotFound);

    private static async Task Configure(HttpServerRequest request, Database database)
    {
        RevisionsConfiguration configuration;
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Default\":{…},\"Collections\":{…}}"))
            configuration = RevisionsConfiguration.Read(json.RootElement);
        await database.Revisions.ConfigureAsync(configuration, request.Aborted).ConfigureAwait(false);
        await request.JsonAsync(database.LastEtag, static (json, etag) =>
        {
            json.WriteStartObject();
            json.WriteNumber("RaftCommandIndex", etag);
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static async Task Revert(HttpServerRequest request, Database database)
    {
        var vectors = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"IdToChangeVector\":{…}}"))
        {
            if (!json.RootElement.TryGetProperty("IdToChangeVector", out JsonElement given)
                || given.ValueKind != JsonValueKind.Object)
                throw WireException.BadRequest("The request lacks 'IdToChangeVector', an object. Nothing was changed.");
            foreach (JsonProperty property in given.EnumerateObject())
                vectors[property.Name] = WireJson.Text(property.Value, property.Name) ?? "";
        }

        await database.Revisions.RevertAsync(vectors, request.Aborted).ConfigureAwait(false);
        await request.EmptyAsync(Microsoft.AspNetCore.Http.StatusCodes.Status204NoContent).ConfigureAwait(false);
    }

    private static async Task RevertDatabase(HttpServerRequest request, Database database)
    {
        DateTime time;
        List<string> collections = [];
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Time\":\"2030-01-31T12:00:00.0000000Z\"}"))
        {
            time = TimeOf(WireJson.Text(json.RootElement, "Time", required: true) ?? "");
            ReadTexts(json.RootElement, "Collections", collections);
        }

        await StartAsync(
            request, database, "reverting", "RevertedDocuments",
            (revisions, stop) => revisions.RevertToAsync(time, collections, stop)).ConfigureAwait(false);
    }

    private static async Task Enforce(HttpServerRequest request, Database database)
    {
        List<string> collections = [];
        bool includesForced = false;
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        {
            if (body.Length > 0)
            {
                using JsonDocument json = WireJson.ParseObject(body, "{\"Collections\":[…]}");
                ReadTexts(json.RootElement, "Collections", collections);
                includesForced = json.RootElement.TryGetProperty("IncludeForceCreated", out JsonElement included)
                    && included.ValueKind == JsonValueKind.True;
            }
        }

        await StartAsync(
            request, database, "enforcing revisions", "RemovedRevisions",
            (revisions, stop) => revisions.EnforceAsync(collections, includesForced, stop)).ConfigureAwait(false);
    }

    /// <summary>Starts an operation that keeps the database open itself.</summary>
    private static Task StartAsync(
        HttpServerRequest request, Database database, string what, string counted,
        Func<DocumentRevisions, CancellationToken, Task<long>> work)
    {
        DatabaseLease lease = request.Server.Databases.Enter(database.Name);
        Operation operation = request.Server.Backups.Start(request.Server.Operations.Of(database.Name), what, async (_, stop) =>
        {
            using DatabaseLease inside = lease;
            using var either = CancellationTokenSource.CreateLinkedTokenSource(stop, lease.Closing);
            long count = await work(lease.Database.Revisions, either.Token).ConfigureAwait(false);
            return json =>
            {
                json.WriteStartObject();
                json.WriteNumber(counted, count);
                json.WriteEndObject();
            };
        }, lease);
        return OperationsEndpoints.WriteStartedAsync(request, operation);
    }

    private static async Task Delete(HttpServerRequest request, Database database)
    {
        List<string> ids = [], vectors = [];
        DateTime? from, to;
        bool keepsForced;
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"DocumentIds\":[…]}"))
        {
            ReadTexts(json.RootElement, "DocumentIds", ids);
            ReadTexts(json.RootElement, "RevisionsChangeVectors", vectors);
            from = ReadTime(json.RootElement, "From");
            to = ReadTime(json.RootElement, "To");
            keepsForced = json.RootElement.TryGetProperty("RemoveForceCreatedRevisions", out JsonElement forced)
                && forced.ValueKind == JsonValueKind.False;
        }

        bool isOfTime = from is not null || to is not null;
        if (ids.Count == 0 || (vectors.Count > 0 && (ids.Count > 1 || isOfTime)))
            throw WireException.BadRequest(
                "The request needs 'DocumentIds', and exactly one of them and neither 'From' nor 'To' with "
                    + "'RevisionsChangeVectors'. Nothing was changed.");
        if (from > to)
            throw WireException.BadRequest("'From' is later than 'To'. Nothing was changed.");
        long deleted = 0;
        foreach (string id in ids)
        {
            bool chooses = vectors.Count == 0 && (isOfTime || keepsForced);
            List<string> wanted = chooses ? Between(database, id, from, to, keepsForced) : vectors;
            if (wanted.Count > 0 || !chooses)
                deleted += await database.Revisions.DeleteAsync(id, wanted, request.Aborted).ConfigureAwait(false);
        }

        await request.JsonAsync(deleted, static (json, deleted) =>
        {
            json.WriteStartObject();
            json.WriteNumber("TotalDeletes", deleted);
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    /// <summary>
    /// Returns the change vectors of the revisions in a time range, both ends included, optionally without those created on
    /// request.
    /// </summary>
    private static List<string> Between(Database database, string id, DateTime? from, DateTime? to, bool keepsForced)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [
            .. snapshot.Revisions(id, metadataOnly: true)
                .Where(revision => !(revision.LastModified < from) && !(revision.LastModified > to)
                    && !(keepsForced && revision.IsForced))
                .Select(static revision => revision.ChangeVector)];
    }

    private static DateTime? ReadTime(JsonElement json, string name) =>
        WireJson.Text(json, name, required: false) is { Length: > 0 } text ? TimeOf(text) : null;

    private static void ReadTexts(JsonElement json, string name, List<string> texts)
    {
        if (!json.TryGetProperty(name, out JsonElement given) || given.ValueKind == JsonValueKind.Null)
            return;
        if (given.ValueKind != JsonValueKind.Array)
            throw WireException.BadRequest(
                $"'{name}' is a JSON {given.ValueKind}; expected is an array of texts. Nothing was changed.");
        texts.AddRange(given.EnumerateArray().Select(text => WireJson.Text(text, name) ?? ""));
    }

    /// <param name="request">The request.</param>
    /// <param name="revisions">The revisions.</param>
    /// <param name="total">The number of all revisions; null if it is not told.</param>
    /// <param name="metadataOnly">Whether to leave bodies out.</param>
    /// <param name="last">Returns, after all are written, the id of the last document if more follow; null: no paging.</param>
    private static async Task WriteAsync(
        ServerRequest request, IEnumerable<Revision?> revisions, long? total, bool metadataOnly, Func<string?>? last = null)
    {
        ResponseBody output = request.BeginJsonBody();
        output.Write("{\"Results\":["u8);
        bool first = true;
        foreach (Revision? revision in revisions)
        {
            if (!first)
                output.Write(","u8);
            first = false;
            if (revision is null)
                output.Write("null"u8);
            else
                revision.WriteTo(output, metadataOnly);
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("]"u8);
        if (total is { } count)
        {
            output.Write(",\"TotalResults\":"u8);
            output.WriteNumber(count);
        }

        if (last?.Invoke() is { } id)
        {
            output.Write(",\"ContinuationToken\":"u8);
            output.WriteString(Base64Url.EncodeToString(Encoding.UTF8.GetBytes(id)));
        }

        output.Write("}"u8);
    }
}
