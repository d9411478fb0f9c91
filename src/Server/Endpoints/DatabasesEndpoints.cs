using System.Globalization;
using System.Text.Json;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Creating, changing, deleting and listing databases.</summary>
internal static class DatabasesEndpoints
{
    /// <summary>Much more than a list of names or a database record with its settings needs.</summary>
    private const int MaxBodyBytes = 1024 * 1024;

    /// <summary>Members of a record that clients go through, and of which nothing is here.</summary>
    private static readonly string[] _emptyObjects =
    [
        "RollingIndexes", "RavenConnectionStrings", "SqlConnectionStrings", "OlapConnectionStrings",
        "ElasticSearchConnectionStrings", "QueueConnectionStrings", "AiConnectionStrings",
    ];

    private static readonly string[] _emptyArrays =
    [
        "ExternalReplications", "SinkPullReplications", "HubPullReplications", "RavenEtls", "SqlEtls", "OlapEtls",
        "ElasticSearchEtls", "QueueEtls", "QueueSinks",
    ];

    // Clients only require a number other than 0: without a cluster there is no log of commands.
    private const int CommandIndex = 1;

    public static void Map(Routes routes)
    {
        routes.Server("PUT", "/admin/databases", AccessLevel.Operator, Create);
        routes.Server("DELETE", "/admin/databases", AccessLevel.Operator, Delete);
        routes.ServerOf("name", "GET", "/admin/databases", AccessLevel.DatabaseAdmin, Record);
        routes.Server("GET", "/databases", AccessLevel.ValidUser, List);
        routes.Database(
            "GET", "/admin/record", AccessLevel.DatabaseAdmin,
            static (request, database) => WriteRecord(request, database.Name, database.IsEncrypted, database));
    }

    private static async Task Create(HttpServerRequest request)
    {
        string name = request.RequiredParameter("name");
        if (request.Number("replicationFactor", 1) > 1)
            throw WireException.BadRequest(
                $"Database '{name}' is wanted on several nodes (replicationFactor); this server is one node alone.");

        using JsonDocument? given = await ReadRecordAsync(request).ConfigureAwait(false);
        if (ExpectedEtag(request) is { } etag)
        {
            await UpdateAsync(request, name, given, etag).ConfigureAwait(false);
            return;
        }

        bool encrypted = given is not null && WireJson.Flag(given.RootElement, "Encrypted");
        DatabaseRecord record = given is null
            ? new DatabaseRecord()
            : DatabaseRecordReader.Read(given.RootElement, name, new DatabaseRecord());
        record.Check(request.Server.Options.Database);
        RecordedParts? parts = given is null ? null : RecordedParts.Read(given.RootElement);
        await request.Server.Databases.MakeAsync(name, async () =>
        {
            try
            {
                request.Server.Databases.Create(name, encrypted);
            }
            catch (ArgumentException exception)
            {
                throw WireException.BadRequest(exception.Message, exception);
            }

            if (parts is not null)
                await FillAsync(request, name, record, parts).ConfigureAwait(false);
            return name;
        }).ConfigureAwait(false);
        await WriteChangedAsync(request, name).ConfigureAwait(false);
    }

    /// <summary>Gives a new database what its record holds; if it cannot have all of it, there is no such database.</summary>
    private static async Task FillAsync(HttpServerRequest request, string name, DatabaseRecord record, RecordedParts parts)
    {
        try
        {
            using (DatabaseLease lease = request.Server.Databases.Enter(name))
            {
                await lease.Database.SetRecordAsync(record, lease.Database.GetRecord().Etag, request.Aborted)
                    .ConfigureAwait(false);
                await parts.AddToAsync(request, lease.Database).ConfigureAwait(false); // indexes may use analyzers of the record
            }

            request.Server.Databases.StateChanged(name);
        }
        catch
        {
            await request.Server.Databases.DeleteAsync(name, deleteFiles: true).ConfigureAwait(false);
            request.Server.Operations.Forget(name);
            throw;
        }
    }

    /// <summary>
    /// Returns the etag of the record that a request replaces; null if it creates a database. Clients that create one send the
    /// text <c>"undefined"</c>, or 0.
    /// </summary>
    private static long? ExpectedEtag(HttpServerRequest request) =>
        long.TryParse(
            request.Header("ETag")?.Trim('"'), NumberStyles.None, CultureInfo.InvariantCulture, out long etag)
        && etag > 0
            ? etag
            : null;

    private static async Task UpdateAsync(HttpServerRequest request, string name, JsonDocument? given, long etag)
    {
        if (!request.Server.Databases.Exists(name))
            throw WireException.DatabaseDoesNotExist(name);
        if (given is null)
            throw WireException.BadRequest($"The new record of database '{name}' is missing. Nothing was changed.");
        try
        {
            using DatabaseLease lease = request.Server.Databases.EnterByItself(name);
            Database database = lease.Database;
            if (given.RootElement.TryGetProperty("Encrypted"u8, out _)
                && WireJson.Flag(given.RootElement, "Encrypted") != database.IsEncrypted)
                throw WireException.BadRequest(
                    $"The record says that database '{name}' is {(database.IsEncrypted ? "not " : "")}encrypted, which a record "
                        + "cannot change. Nothing was changed.");
            DatabaseRecord record = DatabaseRecordReader.Read(given.RootElement, name, database.GetRecord());
            RecordedParts.Read(given.RootElement).RequireNothingNew(request, database);
            await database.SetRecordAsync(record, etag, request.Aborted).ConfigureAwait(false);
        }
        finally
        {
            request.Server.Databases.StateChanged(name); // the record may be stored even if an index could not be built anew
        }

        await WriteChangedAsync(request, name).ConfigureAwait(false);
    }

    private static async Task WriteChangedAsync(HttpServerRequest request, string name)
    {
        await request.JsonAsync((name, Url: TopologyEndpoints.BaseUrl(request, "/admin/databases")), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteNumber("RaftCommandIndex", CommandIndex);
            json.WriteString("Name", state.name);
            json.WritePropertyName("Topology");
            TopologyEndpoints.WriteMembers(json);
            json.WriteStartArray("NodesAddedTo");
            json.WriteStringValue(state.Url);
            json.WriteEndArray();
            json.WriteBoolean("ShardsDefined", false);
            json.WriteEndObject();
        }, StatusCodes.Status201Created).ConfigureAwait(false);
    }

    private static async Task<JsonDocument?> ReadRecordAsync(HttpServerRequest request)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        if (body.Length == 0)
            return null;

        using (WireJson.ParseObject(body, "a database record"))
        {
            // only validated: the result must not refer to the body, which is released here
        }

        return JsonDocument.Parse(body.Memory.ToArray());
    }

    private static async Task Delete(HttpServerRequest request)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument command = WireJson.ParseObject(
            body, "a command such as {\"DatabaseNames\":[\"a\"],\"HardDelete\":true}");
        bool deleteFiles = command.RootElement.TryGetProperty("HardDelete", out JsonElement hard)
            && hard.ValueKind == JsonValueKind.True;
        List<string> names = NamesOf(command.RootElement);
        RequireThisNode(command.RootElement);
        foreach (string name in names)
            if (!request.Server.Databases.Names.Contains(name, StringComparer.OrdinalIgnoreCase))
                throw WireException.DatabaseDoesNotExist(name);

        string[] open = [.. names.Where(name => DatabaseStateEndpoints.CanDelete(request, name))];
        foreach (string name in open)
        {
            await request.Server.Databases.DeleteAsync(name, deleteFiles).ConfigureAwait(false);
            request.Server.Operations.Forget(name);
        }

        await request.JsonAsync(static json =>
        {
            json.WriteStartObject();
            json.WriteNumber("RaftCommandIndex", CommandIndex);
            json.WriteStartArray("PendingDeletes");
            json.WriteEndArray();
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    // Whoever takes a copy from another node keeps this one: it is the only one.
    private static void RequireThisNode(JsonElement command)
    {
        if (!command.TryGetProperty("FromNodes", out JsonElement nodes) || nodes.ValueKind == JsonValueKind.Null)
            return;
        if (nodes.ValueKind != JsonValueKind.Array)
            throw WireException.BadRequest("'FromNodes' must be an array of tags of nodes. Nothing was deleted.");
        foreach (JsonElement node in nodes.EnumerateArray())
            if (!string.Equals(
                WireJson.Text(node, "FromNodes"), TopologyEndpoints.NodeTag, StringComparison.OrdinalIgnoreCase))
                throw DatabaseStateEndpoints.OneNode("Deleting databases from other nodes");
    }

    /// <summary>Returns the databases named in a command.</summary>
    public static List<string> NamesOf(JsonElement command)
    {
        if (!command.TryGetProperty("DatabaseNames", out JsonElement array)
            || array.ValueKind != JsonValueKind.Array
            || array.GetArrayLength() == 0)
            throw WireException.BadRequest("The command lacks 'DatabaseNames', the databases it is about. Nothing was changed.");

        var names = new List<string>();
        foreach (JsonElement element in array.EnumerateArray())
            names.Add(WireJson.Text(element, "DatabaseNames") ?? throw WireException.BadRequest("'DatabaseNames' holds a null."));

        return names;
    }

    private static Task List(HttpServerRequest request)
    {
        string? one = request.Parameter("name") is { Length: > 0 } name ? name : null;
        Caller caller = Caller.Of(request);
        DatabaseDescription[] all = [.. request.Server.Databases.Describe(one).Where(database => caller.MaySee(database.Name))];
        if (one is not null && all.Length == 0)
            return NotThere(request, one);

        bool namesOnly = request.Flag("namesOnly");
        int start = (int)Math.Min(request.Number("start", 0), int.MaxValue);
        int pageSize = (int)Math.Min(request.Number("pageSize", int.MaxValue), int.MaxValue);
        IEnumerable<DatabaseDescription> listed = one is not null ? all : all.Skip(start).Take(pageSize);
        return request.JsonAsync((listed, namesOnly, request.Server.Databases), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Databases");
            foreach (DatabaseDescription database in state.listed)
            {
                if (state.namesOnly)
                {
                    json.WriteStringValue(database.Name);
                    continue;
                }

                json.WriteStartObject();
                json.WriteString("Name", database.Name);
                json.WriteBoolean("Disabled", state.Databases.IsDisabled(database.Name));
                json.WriteBoolean("IsEncrypted", database.IsEncrypted);
                if (database.Problem is not null)
                    json.WriteString("LoadError", ServerPaths.Hide(database.Problem));
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static Task Record(HttpServerRequest request)
    {
        string name = request.RequiredParameter("name");
        if (request.Server.Databases.Describe(name) is not [var description, ..])
            return NotThere(request, name);
        using DatabaseLease? lease = description.Problem is not null ? null : request.Server.Databases.EnterByItself(name);
        return WriteRecord(request, description.Name, description.IsEncrypted, lease?.Database);
    }

    private static Task NotThere(HttpServerRequest request, string name)
    {
        request.SetHeader("Database-Missing", Uri.EscapeDataString(name));
        return request.EmptyAsync(StatusCodes.Status404NotFound);
    }

    private static Task WriteRecord(HttpServerRequest request, string name, bool isEncrypted, Database? database) =>
        request.JsonAsync(
            // read before the values, so that no change is missed
            (name, isEncrypted, database, etag: database?.GetRecord().Etag ?? 0, request.Server.Backups.Scheduler),
            static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteString("DatabaseName", state.name);
            DatabaseState? set = state.database is null ? null : DatabaseState.Of(state.database);
            json.WriteBoolean("Disabled", set?.IsDisabled == true);
            json.WriteString("LockMode", (set?.Lock ?? DatabaseLock.Unlock).ToString());
            json.WriteBoolean("Encrypted", state.isEncrypted);
            json.WriteNumber("Etag", state.etag);
            json.WritePropertyName("Topology");
            TopologyEndpoints.WriteMembers(json);
            json.WriteString("DatabaseState", "Normal");
            foreach (string empty in _emptyObjects)
            {
                json.WriteStartObject(empty);
                json.WriteEndObject();
            }

            foreach (string empty in _emptyArrays)
            {
                json.WriteStartArray(empty);
                json.WriteEndArray();
            }

            RecordedParts.Write(json, state.database, state.Scheduler);
            AnalyzersEndpoints.WriteRecord(json, state.database);
            ConfigurationEndpoints.WriteRecord(json, state.database);
            if (state.database is not null)
            {
                LifecycleEndpoints.WriteRecord(json, state.database);
                RevisionsEndpoints.WriteRecord(json, state.database);
                TimeSeriesPolicyEndpoints.WriteRecord(json, state.database);
                DocumentCompressionEndpoints.WriteRecord(json, state.database);
            }

            json.WriteEndObject();
        });
}
