using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Server.Http;

namespace Treepie.Server.Backups;

/// <summary>
/// The backup tasks of all databases. Each is stored once, in the database that they share, and gives every database a task of
/// its own, with its own state. Thread-safe.
/// </summary>
/// <remarks>
/// A change is stored before it is applied to the databases, and marked as not yet applied. If the server stops in between, the
/// next start finds the mark and applies it.
/// </remarks>
[SuppressMessage(
    "Design", "CA1001", Justification = "The semaphore's handle is never asked for, so there is nothing to dispose.")]
internal sealed class ServerWideBackups(RequestServices server, BackupScheduler scheduler)
{
    private const string SettingName = "server-wide-backups", IsGiven = "IsGiven", Tasks = "Tasks";

    /// <summary>Fewer than a database can have, which may have tasks of its own.</summary>
    private const int Most = 20;

    private readonly SemaphoreSlim _turn = new(1, 1);

    /// <summary>All of them, in the order in which they were made.</summary>
    public IReadOnlyList<ServerWideBackup> List() => Read().Tasks;

    /// <summary>Returns whether a task of a database, by its name there, is one of all databases.</summary>
    public bool Owns(string nameInDatabase) =>
        ServerWideBackup.IsReserved(nameInDatabase) && List().Any(one => one.Made(nameInDatabase));

    /// <summary>
    /// Stores a task, replacing the one of the same number or name, and gives it to all databases that it covers. A task with
    /// another name begins anew in them. Returns it, and the databases that could not get it.
    /// </summary>
    /// <exception cref="WireException">The configuration is not valid; nothing was changed.</exception>
    /// <exception cref="BackupTaskException">The task is not valid; nothing was changed.</exception>
    public async Task<(ServerWideBackup Task, IReadOnlyList<LackingDatabase> Lacking)> PutAsync(
        JsonElement configuration, CancellationToken cancellationToken)
    {
        ServerWideBackup? put = null;
        IReadOnlyList<LackingDatabase>? lacking = await ChangeAsync(
            tasks =>
            {
                ServerWideBackup read = ServerWideBackup.Read(configuration, before: null);
                int named = tasks.FindIndex(one => one.IsNamed(read.Task.Name)),
                    numbered = tasks.FindIndex(one => one.Task.Id == read.Task.Id), place = numbered >= 0 ? numbered : named;
                if (named >= 0 && named != place)
                    throw WireException.BadRequest(
                        $"There is another backup task '{read.Task.Name}' of all databases. Nothing was changed.");
                if (place >= 0)
                    read = ServerWideBackup.Read(configuration, tasks[place]);
                else if (tasks.Count >= Most)
                    throw WireException.BadRequest(
                        $"There can be {Most} backup tasks of all databases, and there are. Delete one first.");
                long id = place >= 0 ? tasks[place].Task.Id : tasks.Select(static one => one.Task.Id).DefaultIfEmpty(0).Max() + 1;
                put = read with { Task = read.Task with { Id = id } };
                scheduler.Check(put.Task with { Name = put.NameInDatabases });
                if (place >= 0)
                    tasks[place] = put;
                else
                    tasks.Add(put);
                return true;
            },
            cancellationToken).ConfigureAwait(false);
        return (put!, lacking!); // the change has set it
    }

    /// <summary>Deletes a task here and in all databases; returns false if there is none. Its backups are kept.</summary>
    public async Task<bool> DeleteAsync(string name, CancellationToken cancellationToken) =>
        await ChangeAsync(tasks => tasks.RemoveAll(one => one.IsNamed(name)) > 0, cancellationToken)
            .ConfigureAwait(false) is not null;

    /// <summary>Disables or enables a task in all databases; returns false if there is none.</summary>
    public async Task<bool> SetDisabledAsync(string name, bool isDisabled, CancellationToken cancellationToken) =>
        await ChangeAsync(
            tasks =>
            {
                int place = tasks.FindIndex(one => one.IsNamed(name));
                if (place >= 0)
                    tasks[place] = tasks[place] with { Task = tasks[place].Task with { IsDisabled = isDisabled } };
                return place >= 0;
            },
            cancellationToken).ConfigureAwait(false) is not null;

    /// <summary>
    /// Gives a new database the tasks that cover it. What a restored one has of such tasks is of the database that was backed up,
    /// and goes.
    /// </summary>
    public async Task GiveToNewAsync(string database)
    {
        if (server.Databases.Shared is null)
            return;
        await _turn.WaitAsync(CancellationToken.None).ConfigureAwait(false);
        try
        {
            List<ServerWideBackup> tasks = Read().Tasks;
            if (await TryGiveAsync(database, tasks, isNew: true).ConfigureAwait(false) is not null)
                await StoreAsync(tasks, isGiven: false, CancellationToken.None).ConfigureAwait(false);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>
    /// Gives databases what they lack: all of it to all if a change was interrupted, else to those that came while the server
    /// did not run.
    /// </summary>
    public async Task CatchUpAsync(CancellationToken cancellationToken)
    {
        if (server.Databases.Shared is null)
            return;
        await _turn.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            (List<ServerWideBackup> tasks, bool isGiven) = Read();
            if (!isGiven)
                await GiveToAllAsync(tasks, cancellationToken).ConfigureAwait(false);
            else if (tasks.Count > 0)
                foreach (string database in server.Databases.Names)
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    if (!server.Databases.Source.Backups.MayHaveTasks(database))
                        await TryGiveAsync(database, tasks, isNew: false).ConfigureAwait(false);
                }
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>
    /// Changes the tasks, unless the change returns false, and gives them to all databases. Returns those that could not get
    /// them; null if nothing was changed.
    /// </summary>
    private async Task<IReadOnlyList<LackingDatabase>?> ChangeAsync(
        Func<List<ServerWideBackup>, bool> change, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            List<ServerWideBackup> tasks = Read().Tasks;
            if (!change(tasks))
                return null;
            await StoreAsync(tasks, isGiven: false, cancellationToken).ConfigureAwait(false);
            // From here on it is stored, and not cancelled with the request: the databases are to have it.
            return await GiveToAllAsync(tasks, server.Stopping).ConfigureAwait(false);
        }
        finally
        {
            _turn.Release();
        }
    }

    private async Task<IReadOnlyList<LackingDatabase>> GiveToAllAsync(
        List<ServerWideBackup> tasks, CancellationToken cancellationToken)
    {
        var lacking = new List<LackingDatabase>();
        foreach (string database in server.Databases.Names)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (await TryGiveAsync(database, tasks, isNew: false).ConfigureAwait(false) is { } problem)
                lacking.Add(new LackingDatabase(database, problem));
        }

        if (lacking.Count == 0)
            await StoreAsync(tasks, isGiven: true, cancellationToken).ConfigureAwait(false);
        return lacking;
    }

    /// <summary>Gives a database the tasks that cover it; returns why it could not get them, null if it has them.</summary>
    private async Task<string?> TryGiveAsync(string database, List<ServerWideBackup> tasks, bool isNew)
    {
        try
        {
            await GiveAsync(database, [.. tasks.Where(one => one.Covers(database))], isNew).ConfigureAwait(false);
            return null;
        }
        catch (Exception error) when (error is TreepieException or WireException or IOException)
        {
            if (!server.Databases.Names.Contains(database, StringComparer.OrdinalIgnoreCase))
                return null; // deleted meanwhile
            server.Logger.LogWarning(
                error,
                "Database {Database} did not get the backup tasks of all databases. It gets them when one of these is put again, "
                    + "or at the next start",
                database);
            return error.Message;
        }
    }

    private async Task GiveAsync(string database, List<ServerWideBackup> wanted, bool isNew)
    {
        if (wanted.Count == 0 && !server.Databases.Source.Backups.MayHaveTasks(database))
            return;
        var known = new Dictionary<string, long>(StringComparer.OrdinalIgnoreCase);
        foreach (BackupTask task in scheduler.List(database).Select(static info => info.Task))
        {
            if (!ServerWideBackup.IsReserved(task.Name))
                continue;
            if (isNew || !wanted.Exists(one => one.Made(task.Name)) || !known.TryAdd(task.Name, task.Id))
                await scheduler.DeleteAsync(database, task.Id).ConfigureAwait(false);
        }

        foreach (ServerWideBackup one in wanted)
            await scheduler.PutAsync(
                database,
                one.Task with { Id = known.GetValueOrDefault(one.NameInDatabases), Name = one.NameInDatabases })
                .ConfigureAwait(false);
    }

    private (List<ServerWideBackup> Tasks, bool IsGiven) Read()
    {
        if (server.Databases.Shared?.Setting(SettingName).Json is not { } stored)
            return ([], true);
        using JsonDocument json = JsonDocument.Parse(stored);
        return (
            [.. json.RootElement.GetProperty(Tasks).EnumerateArray().Select(static one => ServerWideBackup.Read(one, null))],
            json.RootElement.GetProperty(IsGiven).GetBoolean());
    }

    private Task StoreAsync(List<ServerWideBackup> tasks, bool isGiven, CancellationToken cancellationToken)
    {
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteBoolean(IsGiven, isGiven);
            json.WriteStartArray(Tasks);
            foreach (ServerWideBackup one in tasks)
                one.Write(json);
            json.WriteEndArray();
            json.WriteEndObject();
        }

        return server.Databases.Shared!.SetSettingAsync(SettingName, buffer.ToArray(), cancellationToken);
    }
}
