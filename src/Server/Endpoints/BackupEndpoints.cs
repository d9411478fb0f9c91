using System.Globalization;
using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Server.Backups;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Server.Smuggler;

namespace Treepie.Server.Endpoints;

/// <summary>Backup tasks: storing, running, listing and deleting them, and one-time backups. Runs are operations.</summary>
internal static class BackupEndpoints
{
    private const int MaxBodyBytes = 256 * 1024;

    // Clients only require a number other than 0: without a cluster there is no log of commands.
    private const int CommandIndex = 1;

    public static void Map(Routes routes)
    {
        routes.Database("POST", "/admin/periodic-backup", AccessLevel.DatabaseAdmin, Put);
        routes.Database("POST", "/admin/backup/database", AccessLevel.DatabaseAdmin, Run);
        routes.Database("POST", "/admin/backup", AccessLevel.DatabaseAdmin, RunOnce);
        routes.Database("GET", "/task", AccessLevel.DatabaseRead, One);
        routes.Database("GET", "/tasks", AccessLevel.DatabaseRead, List);
        routes.Database("DELETE", "/admin/tasks", AccessLevel.DatabaseAdmin, Delete);
        routes.Database("POST", "/admin/tasks/state", AccessLevel.DatabaseAdmin, SetState);
        routes.ServerOf("name", "GET", "/periodic-backup/status", AccessLevel.DatabaseRead, Status);
        routes.ServerOf("database", "POST", "/admin/backup-task/delay", AccessLevel.DatabaseAdmin, Delay);
    }

    private static async Task Put(HttpServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(body, "a periodic backup configuration");
        BackupScheduler scheduler = request.Server.Backups.Scheduler;
        BackupTask? before = scheduler.Find(database.Name, WireJson.Count(json.RootElement, "TaskId", 0))?.Task;
        ServerWideBackupEndpoints.RequireOwn(request, before?.Name);
        BackupTask task = Read(request, json.RootElement, defaultName: "Backup", before);
        ServerWideBackupEndpoints.RequireOwnName(task.Name);
        if (before is not null && BackupTaskReader.HasKey(before) && !BackupTaskReader.HasKey(task)
            && !task.AllowPlain && !database.IsEncrypted)
            throw WireException.BadRequest(
                $"The {before} encrypts with a key of its own, and is to use that of database '{database.Name}', which is not "
                    + "encrypted. Say UseProvidedKey to keep the key, or None for backups that are not encrypted. Nothing was "
                    + "changed.");
        long id = await scheduler.PutAsync(database.Name, task, request.Aborted).ConfigureAwait(false);
        await WriteTaskIdAsync(request, id, StatusCodes.Status201Created).ConfigureAwait(false);
    }

    /// <summary>Reads a task; what it holds of keys and secrets comes over TLS or loopback only.</summary>
    public static BackupTask Read(
        HttpServerRequest request, JsonElement json, string defaultName, BackupTask? before = null)
    {
        BackupTask task = BackupTaskReader.Read(json, defaultName, before);
        if ((task.Key is { } key && key != before?.Key)
            || task.Destinations.Any(place => place.SecretKey is not null && before?.Destinations.Contains(place) != true))
            SecretTransport.Require(request.Http);
        return task;
    }

    private static Task Run(HttpServerRequest request, Database database)
    {
        long id = request.Number("taskId", 0);
        BackupRunKind kind = request.Parameter("kind") switch
        {
            null or "" => request.Flag("isFullBackup", otherwise: true) ? BackupRunKind.Full : BackupRunKind.Incremental,
            var text when Enum.TryParse(text, ignoreCase: true, out BackupRunKind named) && Enum.IsDefined(named) => named,
            var text =>
                throw WireException.BadRequest($"There is no kind of backup '{text}'; there are full, incremental and log."),
        };
        string name = database.Name;
        BackupScheduler scheduler = request.Server.Backups.Scheduler;
        BackupTaskInfo info = Require(scheduler.Find(name, id), id, name);
        if (info.IsRunning)
            throw new WireException(
                StatusCodes.Status409Conflict, WireTypes.Concurrency,
                $"The {info.Task} is running already. Wait for it, or kill its operation.");

        Operation operation = request.Server.Backups.Start(
            request.Server.Operations.Of(name), "backup", async (operation, stop) =>
                BackupService.ResultOf(
                    await scheduler.RunAsync(name, id, kind, operation.Id, new OperationReporter(operation), stop)
                        .ConfigureAwait(false)));
        return WriteStartedAsync(request, operation);
    }

    private static async Task RunOnce(HttpServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(body, "a backup configuration");
        BackupTask task = Read(request, json.RootElement, defaultName: "One-time backup");
        BackupScheduler scheduler = request.Server.Backups.Scheduler;
        scheduler.Check(database, task); // before the response, so that errors are returned to the client
        string name = database.Name;
        Operation operation = request.Server.Backups.Start(
            request.Server.Operations.Of(name), "backup", async (operation, stop) =>
                BackupService.ResultOf(
                    await scheduler.RunOnceAsync(name, task, new OperationReporter(operation), stop).ConfigureAwait(false)));
        await WriteStartedAsync(request, operation).ConfigureAwait(false);
    }

    private static Task Status(HttpServerRequest request)
    {
        string name = request.RequiredParameter("name");
        BackupTaskInfo? info = request.Server.Backups.Scheduler.Find(name, request.Number("taskId", 0));
        return request.JsonAsync(info, static (json, info) =>
        {
            json.WriteStartObject();
            json.WriteBoolean("IsSharded", false);
            json.WritePropertyName("Status");
            if (info is null or { State: { LastFullAttempt: null, LastIncrementalAttempt: null } })
                json.WriteNullValue();
            else
                BackupTaskJson.WriteStatus(json, info, TopologyEndpoints.NodeTag);
            json.WriteEndObject();
        });
    }

    private static Task One(HttpServerRequest request, Database database)
    {
        BackupTaskInfo? info = IsOfBackup(request) ? Find(request, database) : null; // there are no others
        return info is null
            ? request.EmptyAsync(StatusCodes.Status404NotFound)
            : request.JsonAsync(
                (info, Url: UrlOf(request), Now: NowOf(request)),
                static (json, state) => BackupTaskJson.WriteTask(
                    json, state.info, TopologyEndpoints.NodeTag, state.Url, state.Now));
    }

    private static Task List(HttpServerRequest request, Database database) =>
        request.JsonAsync(
            (Tasks: request.Server.Backups.Scheduler.List(database.Name), Url: UrlOf(request), Now: NowOf(request)),
            static (json, state) =>
            {
                json.WriteStartObject();
                json.WriteStartArray("OngoingTasks");
                foreach (BackupTaskInfo info in state.Tasks)
                    BackupTaskJson.WriteTask(json, info, TopologyEndpoints.NodeTag, state.Url, state.Now);
                json.WriteEndArray();
                json.WriteEndObject();
            });

    private static async Task Delete(HttpServerRequest request, Database database)
    {
        RequireBackup(request);
        long id = request.Number("id", 0);
        ServerWideBackupEndpoints.RequireOwn(request, request.Server.Backups.Scheduler.Find(database.Name, id)?.Task.Name);
        if (!await request.Server.Backups.Scheduler.DeleteAsync(database.Name, id, request.Aborted).ConfigureAwait(false))
            throw NoTask(id, database.Name);
        await WriteTaskIdAsync(request, id).ConfigureAwait(false);
    }

    private static async Task SetState(HttpServerRequest request, Database database)
    {
        RequireBackup(request);
        BackupTask? task = Find(request, database)?.Task;
        ServerWideBackupEndpoints.RequireOwn(request, task?.Name);
        long id = task?.Id ?? request.Number("key", 0);
        if (!await request.Server.Backups.Scheduler
            .SetDisabledAsync(database.Name, id, request.Flag("disable"))
            .ConfigureAwait(false))
            throw NoTask(id, database.Name);
        await WriteTaskIdAsync(request, id).ConfigureAwait(false);
    }

    private static async Task Delay(HttpServerRequest request)
    {
        string name = request.RequiredParameter("database");
        long id = request.Number("taskId", 0);
        TimeSpan by = request.Time("duration") ?? throw WireException.BadRequest("The query string lacks 'duration='.");
        if (!await request.Server.Backups.Scheduler.DelayAsync(name, id, by).ConfigureAwait(false))
            throw NoTask(id, name);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static bool IsOfBackup(HttpServerRequest request) =>
        request.Parameter("type") is not { Length: > 0 } type || type.Equals("Backup", StringComparison.OrdinalIgnoreCase);

    private static void RequireBackup(HttpServerRequest request)
    {
        if (!IsOfBackup(request))
            throw WireException.NotBuilt(
                $"Ongoing tasks of type '{request.Parameter("type")}'", "There are backup tasks, type 'Backup'.");
    }

    /// <summary>Returns the task that a request is about, by name or id; null if there is none.</summary>
    private static BackupTaskInfo? Find(HttpServerRequest request, Database database)
    {
        BackupScheduler scheduler = request.Server.Backups.Scheduler;
        return request.Parameter("taskName") is { Length: > 0 } name
            ? scheduler.List(database.Name)
                .FirstOrDefault(info => string.Equals(info.Task.Name, name, StringComparison.OrdinalIgnoreCase))
            : scheduler.Find(database.Name, request.Number("key", 0));
    }

    private static BackupTaskInfo Require(BackupTaskInfo? info, long id, string database) => info ?? throw NoTask(id, database);

    private static WireException NoTask(long id, string database) =>
        WireException.BadRequest(
            string.Create(CultureInfo.InvariantCulture, $"There is no backup task {id} in database '{database}'."));

    private static string UrlOf(HttpServerRequest request) =>
        request.Http.Request.Scheme + "://" + request.Http.Request.Host.Value;

    private static DateTime NowOf(HttpServerRequest request) => request.Server.Clock.GetUtcNow().UtcDateTime;

    private static Task WriteTaskIdAsync(HttpServerRequest request, long id, int status = StatusCodes.Status200OK) =>
        request.JsonAsync((id, Url: UrlOf(request)), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteNumber("TaskId", state.id);
            json.WriteNumber("RaftCommandIndex", CommandIndex);
            json.WriteString("ResponsibleNode", TopologyEndpoints.NodeTag);
            json.WriteEndObject();
        }, status);

    private static Task WriteStartedAsync(HttpServerRequest request, Operation operation) =>
        request.JsonAsync(operation.Id, static (json, id) =>
        {
            json.WriteStartObject();
            json.WriteString("ResponsibleNode", TopologyEndpoints.NodeTag);
            json.WriteNumber("OperationId", id);
            json.WriteEndObject();
        });
}
