using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Server.Backups;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// The backup tasks of all databases. Lists of other kinds of tasks are empty, as there are none for all databases.
/// </summary>
internal static class ServerWideBackupEndpoints
{
    private const string What = "Tasks of all databases", Path = "admin/configuration/server-wide/backup";
    private const int MaxBodyBytes = 64 * 1024;

    public static void Map(Routes routes)
    {
        routes.Server("GET", "/admin/configuration/server-wide/tasks", AccessLevel.Operator, List);
        routes.Server("GET", "/admin/configuration/server-wide/backup", AccessLevel.Operator, List);
        routes.Server("PUT", "/admin/configuration/server-wide/backup", AccessLevel.Operator, Put);
        routes.Server("DELETE", "/admin/configuration/server-wide/task", AccessLevel.Operator, Delete);
        routes.Server("POST", "/admin/configuration/server-wide/state", AccessLevel.Operator, SetState);
    }

    /// <summary>Throws if a task of a database, by its name there, is one of all databases.</summary>
    public static void RequireOwn(HttpServerRequest request, string? task)
    {
        if (task is not null && request.Server.Backups.ServerWide.Owns(task))
            throw WireException.BadRequest(
                $"The backup task '{task}' is one of all databases. Nothing was changed. Change it for all (PUT {Path}), or name "
                    + $"this database in its 'ExcludedDatabases'.");
    }

    /// <summary>Throws if a name is reserved for tasks of all databases: a change of these would delete the task.</summary>
    public static void RequireOwnName(string task)
    {
        if (ServerWideBackup.IsReserved(task))
            throw WireException.BadRequest(
                $"A name that begins with '{ServerWideBackup.Prefix}' is that of a backup task of all databases (PUT {Path}), so "
                    + $"'{task}' cannot be one of a database. Nothing was changed. Choose another name.");
    }

    private static Task List(HttpServerRequest request)
    {
        string? name = request.Parameter("name");
        IReadOnlyList<ServerWideBackup> tasks = IsOfBackup(request) ? request.Server.Backups.ServerWide.List() : [];
        return request.JsonAsync(
            tasks.Where(one => name is null or "" || one.IsNamed(name)),
            static (json, tasks) =>
            {
                json.WriteStartObject();
                json.WriteStartArray("Results");
                foreach (ServerWideBackup one in tasks)
                    one.Write(json);
                json.WriteEndArray();
                json.WriteEndObject();
            });
    }

    private static async Task Put(HttpServerRequest request)
    {
        request.RequireShared(What, Path);
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(body, "a backup configuration of all databases");
        (ServerWideBackup Task, IReadOnlyList<LackingDatabase> Lacking) put = await request.Server.Backups.ServerWide
            .PutAsync(json.RootElement, request.Aborted).ConfigureAwait(false);
        await request.JsonAsync(put, static (json, put) =>
        {
            BackupTask task = put.Task.Task;
            json.WriteStartObject();
            json.WriteString("Name", task.Name);
            json.WriteNumber("TaskId", task.Id);
            json.WriteNumber("RaftCommandIndex", task.Id); // clients require a number other than 0
            json.WriteStartArray("DatabasesWithoutTask");
            foreach (LackingDatabase database in put.Lacking.Where(one => put.Task.Covers(one.Name)))
            {
                json.WriteStartObject();
                json.WriteString("Name", database.Name);
                json.WriteString("Error", database.Problem);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }, StatusCodes.Status201Created).ConfigureAwait(false);
    }

    private static async Task Delete(HttpServerRequest request)
    {
        string name = Required(request);
        if (!await request.Server.Backups.ServerWide.DeleteAsync(name, request.Aborted).ConfigureAwait(false))
            throw NoTask(name);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static async Task SetState(HttpServerRequest request)
    {
        string name = Required(request);
        if (!await request.Server.Backups.ServerWide.SetDisabledAsync(name, request.Flag("disable"), request.Aborted)
            .ConfigureAwait(false))
            throw NoTask(name);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    /// <summary>Returns the name of the task that a request is about.</summary>
    private static string Required(HttpServerRequest request)
    {
        request.RequireShared(What, Path);
        return IsOfBackup(request)
            ? request.RequiredParameter("name")
            : throw WireException.NotBuilt(
                $"{What} of type '{request.Parameter("type")}'", "There are backup tasks, type 'Backup'.");
    }

    private static bool IsOfBackup(HttpServerRequest request) =>
        request.Parameter("type") is not { Length: > 0 } type || type.Equals("Backup", StringComparison.OrdinalIgnoreCase);

    private static WireException NoTask(string name) => WireException.BadRequest(
        $"There is no backup task '{name}' of all databases. Nothing was changed. GET {Path} lists them.");
}
