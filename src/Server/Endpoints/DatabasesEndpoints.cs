using System.Collections.Frozen;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Queries;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Creating, deleting and listing databases.</summary>
internal static class DatabasesEndpoints
{
    /// <summary>Much more than a list of names or a database record with its settings needs.</summary>
    private const int MaxBodyBytes = 1024 * 1024;

    // Clients only require a number other than 0: without a cluster there is no log of commands.
    private const int CommandIndex = 1;

    private static readonly FrozenSet<string> _unbuiltParts = FrozenSet.Create(
        StringComparer.Ordinal,
        "Sharding", "Indexes", "PeriodicBackups", "ExternalReplications");

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

        using JsonDocument? record = await ReadRecordAsync(request).ConfigureAwait(false);
        bool encrypted = record is not null && WireJson.Flag(record.RootElement, "Encrypted");
        IReadOnlyList<(LifecycleTask Task, LifecycleSettings Settings)> lifecycle = record is null
            ? []
            : LifecycleEndpoints.ReadRecord(record.RootElement);
        RevisionsConfiguration? revisions = record is not null
            && record.RootElement.TryGetProperty("Revisions", out JsonElement given)
            && given.ValueKind == JsonValueKind.Object
            ? RevisionsConfiguration.Read(given)
            : null;
        TimeSeriesConfiguration? series = record is not null
            && record.RootElement.TryGetProperty("TimeSeries", out JsonElement configured)
            && configured.ValueKind == JsonValueKind.Object
            ? TimeSeriesConfiguration.Read(configured)
            : null;
        DocumentCompressionConfiguration? compression = record is null
            ? null
            : DocumentCompressionEndpoints.ReadRecord(record.RootElement);
        IReadOnlyList<AnalyzerDefinition> analyzers = record is null ? [] : AnalyzersEndpoints.ReadAnalyzers(record.RootElement);
        IReadOnlyList<SorterDefinition> sorters = record is null ? [] : AnalyzersEndpoints.ReadSorters(record.RootElement);
        IndexAnalyzers.Check(analyzers, request.Server.Options.Database);
        DatabaseSorters.Check(sorters);
        try
        {
            request.Server.Databases.Create(name, encrypted);
        }
        catch (ArgumentException exception)
        {
            throw WireException.BadRequest(exception.Message, exception);
        }

        if (lifecycle.Count + analyzers.Count + sorters.Count > 0
            || revisions is not null
            || series is not null
            || compression is not null)
        {
            using DatabaseLease lease = request.Server.Databases.Enter(name);
            foreach ((LifecycleTask task, LifecycleSettings settings) in lifecycle)
                await lease.Database.Lifecycle.SetAsync(task, settings, request.Aborted).ConfigureAwait(false);
            if (revisions is not null)
                await lease.Database.Revisions.ConfigureAsync(revisions, request.Aborted).ConfigureAwait(false);
            if (series is not null)
                await lease.Database.TimeSeriesPolicies.ConfigureAsync(series, request.Aborted).ConfigureAwait(false);
            if (compression is not null)
                await lease.Database.Compression.ConfigureAsync(compression, request.Aborted).ConfigureAwait(false);
            if (analyzers.Count > 0)
                lease.Database.Indexes.Analyzers.Put(analyzers);
            if (sorters.Count > 0)
                lease.Database.Sorters.Put(sorters);
        }

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

    // Parts of the record that are not supported are rejected instead of ignored.
    private static async Task<JsonDocument?> ReadRecordAsync(HttpServerRequest request)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        if (body.Length == 0)
            return null;

        using (WireJson.ParseObject(body, "a database record"))
        {
            // only validated: the result must not refer to the body, which is released here
        }

        var record = JsonDocument.Parse(body.Memory.ToArray());
        foreach (JsonProperty property in record.RootElement.EnumerateObject())
            if (_unbuiltParts.Contains(property.Name) && AsksForSomething(property.Value))
                throw WireException.NotBuilt($"'{property.Name}' of a database record");

        return record;
    }

    private static bool AsksForSomething(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.Object => value.EnumerateObject().MoveNext(),
        JsonValueKind.Array => value.GetArrayLength() > 0,
        JsonValueKind.True => true,
        _ => false,
    };

    private static async Task Delete(HttpServerRequest request)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument command = WireJson.ParseObject(
            body, "a command such as {\"DatabaseNames\":[\"a\"],\"HardDelete\":true}");
        bool deleteFiles = command.RootElement.TryGetProperty("HardDelete", out JsonElement hard)
            && hard.ValueKind == JsonValueKind.True;
        List<string> names = NamesOf(command.RootElement);
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
        request.JsonAsync((name, isEncrypted, database), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteString("DatabaseName", state.name);
            DatabaseState? set = state.database is null ? null : DatabaseState.Of(state.database);
            json.WriteBoolean("Disabled", set?.IsDisabled == true);
            json.WriteString("LockMode", (set?.Lock ?? DatabaseLock.Unlock).ToString());
            json.WriteBoolean("Encrypted", state.isEncrypted);
            json.WriteNumber("Etag", CommandIndex);
            json.WritePropertyName("Topology");
            TopologyEndpoints.WriteMembers(json);
            foreach (string empty in (ReadOnlySpan<string>)[
                "Indexes", "AutoIndexes", "RollingIndexes",
                "RavenConnectionStrings", "SqlConnectionStrings"])
            {
                json.WriteStartObject(empty);
                json.WriteEndObject();
            }

            json.WriteStartObject("IndexesHistory");
            foreach (IndexStatistics index in state.database?.Indexes.List() ?? [])
                if (index.Definition is not null && state.database?.Indexes.History(index.Name) is { Count: > 0 } versions)
                {
                    json.WritePropertyName(index.Name);
                    IndexWire.WriteHistory(json, versions);
                }

            json.WriteEndObject();
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
