using System.Text.Json;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Enables, disables and locks databases. Operations that require more than one node are rejected.</summary>
internal static class DatabaseStateEndpoints
{
    private const int MaxBodyBytes = 1024 * 1024;

    public static void Map(Routes routes)
    {
        routes.Server("POST", "/admin/databases/enable", AccessLevel.Operator, request => Toggle(request, isDisabled: false));
        routes.Server("POST", "/admin/databases/disable", AccessLevel.Operator, request => Toggle(request, isDisabled: true));
        routes.Server("POST", "/admin/databases/set-lock", AccessLevel.Operator, SetLock);
        routes.Server("POST", "/admin/databases/reorder", AccessLevel.Operator, Reorder);
        routes.Server("POST", "/admin/databases/dynamic-node-distribution", AccessLevel.Operator, NothingToMove);
        routes.Server("POST", "/admin/databases/unused-ids", AccessLevel.Operator, NothingToMove);
        foreach ((string method, string path, string what) in (ReadOnlySpan<(string, string, string)>)
        [
            ("PUT", "/admin/databases/node", "A database on another node"),
            ("POST", "/admin/databases/promote", "Promoting a node"),
            ("POST", "/admin/databases/topology/modify", "Another topology"),
            ("PUT", "/admin/databases/orchestrator", "Sharding"), ("DELETE", "/admin/databases/orchestrator", "Sharding"),
            ("PUT", "/admin/databases/shard", "Sharding"), ("DELETE", "/admin/databases/shard", "Sharding"),
        ])
            routes.Server(method, path, AccessLevel.Operator, _ => throw OneNode(what));
    }

    /// <summary>
    /// Returns whether a database may be deleted; false if its lock ignores such requests. Throws if its lock rejects them.
    /// </summary>
    public static bool CanDelete(HttpServerRequest request, string name)
    {
        if (request.Server.Databases.Describe(name) is not [{ Problem: null }])
            return true; // it cannot be opened to read its lock
        using DatabaseLease lease = request.Server.Databases.EnterByItself(name);
        return DatabaseState.Of(lease.Database).Lock switch
        {
            DatabaseLock.PreventDeletesError => throw WireException.BadRequest(
                $"Database '{name}' is locked against deletion (PreventDeletesError). Nothing was deleted. Unlock it with POST "
                    + $"/admin/databases/set-lock."),
            DatabaseLock.PreventDeletesIgnore => false,
            _ => true,
        };
    }

    private static async Task Toggle(HttpServerRequest request, bool isDisabled)
    {
        List<string> names = await ReadAsync(request, static (_, names) => names).ConfigureAwait(false);
        foreach (string name in names)
            await ChangeAsync(request, name, state => state with { IsDisabled = isDisabled }).ConfigureAwait(false);
        await request.JsonAsync((names, isDisabled), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Status");
            foreach (string name in state.names)
            {
                json.WriteStartObject();
                json.WriteString("Name", name);
                json.WriteBoolean("Success", true);
                json.WriteBoolean("Disabled", state.isDisabled);
                json.WriteNull("Reason");
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static async Task SetLock(HttpServerRequest request)
    {
        (List<string> names, DatabaseLock mode) = await ReadAsync(
            request, static (root, names) => (names, LockOf(root, "Mode", required: true))).ConfigureAwait(false);
        foreach (string name in names)
            await ChangeAsync(request, name, state => state with { Lock = mode }).ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    /// <summary>Reads a lock.</summary>
    public static DatabaseLock LockOf(JsonElement json, string member, bool required)
    {
        if (WireJson.Text(json, member, required) is not { } text)
            return DatabaseLock.Unlock;
        return Enum.GetNames<DatabaseLock>().Contains(text, StringComparer.Ordinal)
            ? Enum.Parse<DatabaseLock>(text)
            : throw WireException.BadRequest(
                $"'{member}' is '{text}'; expected is Unlock, PreventDeletesIgnore or PreventDeletesError. Nothing was changed.");
    }

    private static async Task ChangeAsync(HttpServerRequest request, string name, Func<DatabaseState, DatabaseState> change)
    {
        using (DatabaseLease lease = request.Server.Databases.EnterByItself(name))
            await lease.Database.ChangeRecordAsync(
                record => record with { Settings = DatabaseState.Change(record.Settings, change) }, request.Aborted)
                .ConfigureAwait(false);
        request.Server.Databases.StateChanged(name);
    }

    private static async Task Reorder(HttpServerRequest request)
    {
        RequireDatabase(request);
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(body, "{\"MembersOrder\":[\"A\"]}");
        if (json.RootElement.TryGetProperty("MembersOrder", out JsonElement order)
            && (order.ValueKind != JsonValueKind.Array
                || order.EnumerateArray().Any(static node => node.ValueKind != JsonValueKind.String)
                || order.EnumerateArray().Select(static node => node.GetString()).ToArray() is not [TopologyEndpoints.NodeTag]))
            throw OneNode("Another order of nodes");
        await request.NoContentAsync().ConfigureAwait(false);
    }

    /// <summary>Accepts requests that have no effect on a single node.</summary>
    private static Task NothingToMove(HttpServerRequest request)
    {
        RequireDatabase(request);
        return request.NoContentAsync();
    }

    private static void RequireDatabase(HttpServerRequest request)
    {
        string name = request.RequiredParameter("name");
        if (!request.Server.Databases.Exists(name))
            throw WireException.DatabaseDoesNotExist(name);
    }

    /// <summary>Returns the error of a request that needs more than one node.</summary>
    public static WireException OneNode(string what) => WireException.BadRequest(
        $"{what} is asked for, and this server is one node alone ('{TopologyEndpoints.NodeTag}'). Nothing was changed.");

    private static async Task<T> ReadAsync<T>(HttpServerRequest request, Func<JsonElement, List<string>, T> read)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(body, "a command such as {\"DatabaseNames\":[\"a\"]}");
        List<string> names = DatabasesEndpoints.NamesOf(json.RootElement);
        foreach (string name in names)
            if (!request.Server.Databases.Exists(name))
                throw WireException.DatabaseDoesNotExist(name);
        return read(json.RootElement, names);
    }
}
