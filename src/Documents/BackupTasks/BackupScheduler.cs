using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Treepie.Archiving;
using Treepie.Backups;
using Treepie.Destinations;

namespace Treepie.BackupTasks;

/// <summary>
/// Manages the backup tasks of databases: stores them, runs them on schedule or on demand, verifies the backups and reports their
/// state. Tasks and their state survive restarts; missed runs are made up for once. Each task has at most one run at a time, and
/// at most two scheduled runs are executed concurrently. Thread-safe.
/// </summary>
/// <remarks>
/// Invariants: (1) the state after a run is written in one step when its backup is complete. A run that was killed before counts
/// as not having happened, and is scheduled again. (2) Expired backups are deleted only when the backup that replaces them is in
/// the state: after a kill, the state may list backups that are gone, and never continues one of them.
/// </remarks>
public sealed class BackupScheduler : IAsyncDisposable
{
    private const int MaxTogether = 2;

    /// <summary>The maximum sleep: clocks are adjusted, and databases are added without notification.</summary>
    private static readonly TimeSpan _longestSleep = TimeSpan.FromMinutes(10);

    private static readonly TimeSpan _shortestSleep = TimeSpan.FromMilliseconds(100);

    private readonly IBackupSource _source;
    private readonly DestinationProviders _providers;
    private readonly TimeProvider _clock;
    private readonly CancellationTokenSource _stop = new();
    private readonly ConcurrentDictionary<(string Database, long Id), byte> _running = new();
    private readonly ConcurrentDictionary<(string Database, long Id), byte> _queued = new();
    private readonly SemaphoreSlim _room = new(MaxTogether);
    private readonly SemaphoreSlim _changed = new(0);

    /// <summary>Held while a task is added or deleted, so that the marker file of a database agrees with its tasks.</summary>
    private readonly SemaphoreSlim _changing = new(1);
    private readonly ConcurrentDictionary<Task, byte> _work = new();
    private Task _loop = Task.CompletedTask;

    /// <summary>Creates a scheduler for databases with the specified kinds of destinations.</summary>
    public BackupScheduler(IBackupSource source, DestinationProviders providers, TimeProvider? clock = null)
    {
        ArgumentNullException.ThrowIfNull(source);
        ArgumentNullException.ThrowIfNull(providers);
        _source = source;
        _providers = providers;
        _clock = clock ?? TimeProvider.System;
    }

    /// <summary>
    /// Wraps scheduled runs, for example in an operation of the program. Null: they are just run. Set it before calling
    /// <see cref="Start"/>.
    /// </summary>
    public Func<ScheduledRun, Task>? Around { get; set; }

    /// <summary>
    /// Resolves the key sources of tasks; by default, key sources as written by users, including commands. Set it before calling
    /// <see cref="Start"/>.
    /// </summary>
    public IBackupKeySources KeySources { get; set; } = new WrittenKeySources();

    /// <summary>
    /// Receives log messages about runs that failed or skipped a destination, and about databases that could not be opened. Set
    /// it before calling <see cref="Start"/>.
    /// </summary>
    public Action<string>? Warn { get; set; }

    /// <summary>Starts running tasks on schedule.</summary>
    public void Start() => _loop = Task.Run(LoopAsync);

    /// <summary>
    /// Stores a task: a new one if its id is 0; otherwise it replaces the task of that id, whose state is kept. Returns the id.
    /// </summary>
    /// <exception cref="BackupTaskException">The task is not valid, or none has the id; nothing was changed.</exception>
    public async Task<long> PutAsync(string database, BackupTask task, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(task);
        using IBackupLease lease = _source.Enter(database);
        Check(lease.Database, task);
        BackupTask stored = task.Id == 0 ? task with { CreatedAt = _clock.GetUtcNow().UtcDateTime } : task;
        long id = await InTurnAsync(
            () => BackupTaskStore.Of(lease.Database).PutAsync(stored, cancellationToken), cancellationToken)
            .ConfigureAwait(false);
        lease.Database.Log.Apply();
        Wake();
        return id;
    }

    /// <summary>Returns the tasks of a database.</summary>
    public IReadOnlyList<BackupTaskInfo> List(string database)
    {
        using IBackupLease lease = _source.Enter(database);
        return List(lease.Database);
    }

    /// <summary>Returns the tasks of an open database.</summary>
    public IReadOnlyList<BackupTaskInfo> List(Database database)
    {
        ArgumentNullException.ThrowIfNull(database);
        return [.. BackupTaskStore.Of(database).List().Select(record => Describe(database, record))];
    }

    /// <summary>Returns a task; null if it does not exist.</summary>
    public BackupTaskInfo? Find(string database, long id)
    {
        using IBackupLease lease = _source.Enter(database);
        return BackupTaskStore.Of(lease.Database).Find(id) is { } record
            ? Describe(lease.Database, record) with { Log = DescribeLog(lease.Database, record) }
            : null;
    }

    /// <summary>Returns the latest state of a database that was verified to be restorable; null if there is none.</summary>
    public ProvenPoint? LastProven(string database) =>
        List(database).Select(static info => info.State.LastProven).OfType<ProvenPoint>().MaxBy(static point => point.TakenAt);

    /// <summary>Deletes a task; returns false if it does not exist. Its backups are kept.</summary>
    public async Task<bool> DeleteAsync(string database, long id, CancellationToken cancellationToken = default)
    {
        using IBackupLease lease = _source.Enter(database);
        bool found = await InTurnAsync(
            () => BackupTaskStore.Of(lease.Database).DeleteAsync(id, cancellationToken), cancellationToken)
            .ConfigureAwait(false);
        lease.Database.Log.Apply();
        return found;
    }

    /// <summary>Disables or enables the schedule of a task; returns false if the task does not exist.</summary>
    public async Task<bool> SetDisabledAsync(string database, long id, bool isDisabled)
    {
        using IBackupLease lease = _source.Enter(database);
        string home = lease.Database.DataDirectory;
        bool found = await BackupTaskStore.Of(lease.Database).ChangeAsync(
            id,
            record => record with { Home = isDisabled ? record.Home : home, Task = record.Task with { IsDisabled = isDisabled } })
                .ConfigureAwait(false);
        lease.Database.Log.Apply();
        Wake();
        return found;
    }

    /// <summary>Delays scheduled runs of a task; returns false if the task does not exist.</summary>
    public async Task<bool> DelayAsync(string database, long id, TimeSpan by)
    {
        using IBackupLease lease = _source.Enter(database);
        DateTime until = _clock.GetUtcNow().UtcDateTime + by;
        return await BackupTaskStore.Of(lease.Database)
            .ChangeAsync(id, record => record with { State = record.State with { NotBefore = until } })
            .ConfigureAwait(false);
    }

    /// <summary>Runs a task now, whether it is due or not; completes when the run has ended.</summary>
    /// <param name="database">The name of the database.</param>
    /// <param name="id">The id of the task.</param>
    /// <param name="isFull">Whether to take a full backup; otherwise an incremental one, if anything has changed.</param>
    /// <param name="operationId">The id of the operation under which the program shows this run; 0 for none.</param>
    /// <param name="progress">Receives the progress.</param>
    /// <param name="cancellationToken">Cancels the run; nothing of the backup is kept, unless expired ones are being deleted
    /// already: the rest of these then stays until the next run.</param>
    /// <exception cref="BackupTaskException">The task does not exist or is already running.</exception>
    /// <exception cref="DestinationException">The backup could not be written to any destination.</exception>
    public Task<BackupRunReport> RunAsync(
        string database, long id, bool isFull, long operationId = 0, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default) =>
        RunAsync(database, id, isFull ? BackupRunKind.Full : BackupRunKind.Incremental, operationId, progress, cancellationToken);

    /// <summary>Runs a task now, whether it is due or not; completes when the run has ended.</summary>
    /// <param name="database">The name of the database.</param>
    /// <param name="id">The id of the task.</param>
    /// <param name="kind">The kind of backup; an incremental or log backup is only taken if anything has changed.</param>
    /// <param name="operationId">The id of the operation under which the program shows this run; 0 for none.</param>
    /// <param name="progress">Receives the progress.</param>
    /// <param name="cancellationToken">Cancels the run; nothing of the backup is kept, unless expired ones are being deleted
    /// already: the rest of these then stays until the next run.</param>
    /// <exception cref="BackupTaskException">The task does not exist, is already running, or does not back up the
    /// log.</exception>
    /// <exception cref="DestinationException">The backup could not be written to any destination.</exception>
    public async Task<BackupRunReport> RunAsync(
        string database, long id, BackupRunKind kind, long operationId = 0, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        using IBackupLease lease = _source.Enter(database);
        (string, long) running = (lease.Database.Name, id);
        BackupTaskStore store = BackupTaskStore.Of(lease.Database);
        BackupTaskRecord record = store.Find(id)
            ?? throw new BackupTaskException($"There is no backup task {id} in database '{database}'.");
        if (kind == BackupRunKind.Log && record.Task.LogInterval is null)
            throw new BackupTaskException(
                $"The {record.Task} archives no log: set how often it is to (LogInterval), and it does.");
        if (!_running.TryAdd(running, 0))
            throw new BackupTaskException($"The {record.Task} is running already. Wait for it, or cancel it.");

        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, lease.Closing, _stop.Token);
        DateTime began = _clock.GetUtcNow().UtcDateTime;
        try
        {
            // Another run may have ended, and changed what the task keeps, before this one took its turn.
            record = store.Find(id) ?? throw new BackupTaskException($"The {record.Task} was deleted meanwhile.");
            using IDisposable? held = record.Task.LogInterval is null ? null : lease.Database.Log.Hold();
            BackupRunReport report = await new BackupTaskRun(lease, record.Task, _providers, KeySources, _clock, progress)
                .RunAsync(record.State, kind, KeepAsync, stop.Token)
                .ConfigureAwait(false);
            await KeepAsync(report).ConfigureAwait(false);
            held?.Dispose();
            lease.Database.Log.Release();
            return report;
        }
        catch (OperationCanceledException)
            when (cancellationToken.IsCancellationRequested
                && !_stop.IsCancellationRequested
                && !lease.Closing.IsCancellationRequested)
        {
            // The run was cancelled: the next one is due at its regular time.
            await store.ChangeAsync(id, now => now with { State = Cancelled(now.State, kind, began, operationId) })
                .ConfigureAwait(false);
            throw;
        }
        catch (Exception error) when (!stop.IsCancellationRequested)
        {
            await store.ChangeAsync(id, now => now with { State = After(now.State, error, kind, began, operationId) })
                .ConfigureAwait(false);
            throw;
        }
        finally
        {
            _running.TryRemove(running, out _);
        }

        Task KeepAsync(BackupRunReport report) => store.ChangeAsync(
            id, now => now with { State = After(now.State, report, kind, began, operationId) }, report.Log);
    }

    /// <summary>Runs a task once without storing it.</summary>
    /// <exception cref="BackupTaskException">The task is not valid.</exception>
    /// <exception cref="DestinationException">The backup could not be written to any destination.</exception>
    /// <exception cref="BackupException">The backup was written, but verification failed at a destination.</exception>
    public async Task<BackupRunReport> RunOnceAsync(
        string database, BackupTask task, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(task);
        using IBackupLease lease = _source.Enter(database);
        Check(lease.Database, task);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, lease.Closing, _stop.Token);
        BackupRunReport report = await new BackupTaskRun(lease, task, _providers, KeySources, _clock, progress)
            .RunAsync(new BackupTaskState(), BackupRunKind.Full, static _ => Task.CompletedTask, stop.Token)
            .ConfigureAwait(false);
        if (report.Unproven.Count == 0)
            return report;

        string[] proven = [.. report.Places.Where(static place => place.IsProven).Select(static place => place.Address)];
        throw new BackupException(
            BackupFault.RestoredOtherwise,
            $"The backup '{report.Object}' was written and is "
                + $"{(proven.Length == 0 ? "proven nowhere" : "proven at " + string.Join(", ", proven))}. {report.Problem} Take "
                + $"another one.");
    }

    /// <summary>
    /// Runs everything that is due now, to completion, and returns the number of runs. For programs that have a scheduler of
    /// their own.
    /// </summary>
    public async Task<int> RunDueAsync(CancellationToken cancellationToken = default)
    {
        List<ScheduledRun> due = FindDue(out _);
        await Task.WhenAll(due.Select(run => RunScheduledAsync(run, cancellationToken))).ConfigureAwait(false);
        return due.Count;
    }

    /// <summary>Validates a task before it is stored or run.</summary>
    /// <exception cref="BackupTaskException">The task is not valid.</exception>
    public void Check(Database database, BackupTask task)
    {
        ArgumentNullException.ThrowIfNull(database);
        Check(task);
        if (task.Key is not null && !database.IsEncrypted)
        {
            throw new BackupTaskException(
                $"The backup task '{task.Name}' brings a key, which database '{database.Name}' would keep in plain because it is "
                    + $"not encrypted. Say where the key is instead (KeySource: file:PATH, env:NAME or command:/FULL/PATH). "
                    + $"Nothing was changed.");
        }
    }

    /// <summary>Validates a task before it is known which databases will have it.</summary>
    /// <exception cref="BackupTaskException">The task is not valid.</exception>
    public void Check(BackupTask task)
    {
        ArgumentNullException.ThrowIfNull(task);
        task.Validate(_providers, KeySources);
    }

    /// <summary>
    /// Verifies backups by reading them in full. Encrypted backups of a database known here are read with its own key if none is
    /// given.
    /// </summary>
    /// <param name="database">The name of the database. If null or unknown, no key is tried automatically.</param>
    /// <param name="parts">The parts, in the order in which they were taken.</param>
    /// <param name="options">Contains the point at which to stop and the key.</param>
    /// <param name="progress">Receives the progress.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="BackupException">The backups are not intact.</exception>
    public async Task<BackupReport> VerifyAsync(
        string? database, IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (database is null || !_source.Names.Contains(database, StringComparer.OrdinalIgnoreCase))
            return await Database.VerifyBackupAsync(parts, options, progress, cancellationToken).ConfigureAwait(false);
        using IBackupLease lease = _source.Enter(database);
        using BackupKey? own = lease.TakeKey();
        return await Database.VerifyBackupAsync(
            parts, options with { Database = options.Database ?? lease.Database.Options, OwnKey = own?.Key }, progress,
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Opens a destination in the same way as the tasks of this scheduler.</summary>
    public BackupDestination OpenPlace(DestinationSettings settings) => _providers.Open(settings);

    /// <summary>Cancels running tasks and waits for them to end.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _loop.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (Task work in _work.Keys)
            await work.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stop.Dispose();
        _room.Dispose();
        _changed.Dispose();
        _changing.Dispose();
    }

    private async Task<T> InTurnAsync<T>(Func<Task<T>> change, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await change().ConfigureAwait(false);
        }
        finally
        {
            _changing.Release();
        }
    }

    private static BackupTaskState After(
        BackupTaskState state, BackupRunReport report, BackupRunKind kind, DateTime began, long operationId)
    {
        state = Attempted(state, kind, began);
        return state with
        {
            LastFull = report.Report is { IsIncremental: false } ? began : state.LastFull,
            LastIncremental = kind == BackupRunKind.Incremental || report is { Kind: BackupRunKind.Incremental, Report: not null }
                ? began
                : state.LastIncremental,
            LastLog = kind == BackupRunKind.Log ? began : state.LastLog,
            LogGap = report.LogGap ?? state.LogGap,
            LogGapAt = report.LogGap is null ? state.LogGapAt : began,
            LogAddresses = report.LogAddresses,
            Newest = report.Newest ?? state.Newest,
            LastEtag = report.Report?.LastEtag ?? state.LastEtag,
            Mark = report.Mark ?? state.Mark,
            KeyMark = report.Report is null ? state.KeyMark : report.KeyMark,
            DurationMs = (long)report.Duration.TotalMilliseconds,
            Error = report.Problem,
            ErrorAt = report.Problem is null ? null : began,
            Failures = 0,
            NotBefore = null,
            OperationId = operationId,
            Places = report.Places,
            Kept = report.Kept,
            Link = report.Report is null ? state.Link : report.Link,
            LastProven = report.Proven ?? state.LastProven,
        };
    }

    private BackupTaskState After(BackupTaskState state, Exception error, BackupRunKind kind, DateTime began, long operationId) =>
        Attempted(state, kind, began) with
        {
            FailedRun = kind,
            Error = error.Message,
            ErrorAt = began,
            Failures = state.Failures + 1,
            NotBefore = _clock.GetUtcNow().UtcDateTime + BackupTiming.RetryAfter(state.Failures + 1),
            OperationId = operationId,
        };

    private static BackupTaskState Cancelled(BackupTaskState state, BackupRunKind kind, DateTime began, long operationId) =>
        Attempted(state, kind, began) with
        {
            Error = "The last run was cancelled.",
            ErrorAt = began,
            OperationId = operationId,
        };

    private static BackupTaskState Attempted(BackupTaskState state, BackupRunKind kind, DateTime began) => kind switch
    {
        BackupRunKind.Full => state.AsOf(began) with { LastFullAttempt = began },
        BackupRunKind.Incremental => state.AsOf(began) with { LastIncrementalAttempt = began },
        _ => state.AsOf(began) with { LastLogAttempt = began },
    };

    private static TaskLogStatus? DescribeLog(Database database, BackupTaskRecord record)
    {
        if (record.Task.LogInterval is null)
            return null;
        LogStatus log = database.Log.Describe();
        return new TaskLogStatus(
            record.State.Link is { } link && !database.Log.HoldsAfter(BackupLink.Parse(link).LogCommit), log.WaitingBytes,
            log.BudgetBytes);
    }

    private BackupTaskInfo Describe(Database database, BackupTaskRecord record)
    {
        DateTime now = _clock.GetUtcNow().UtcDateTime;
        BackupTask task = Resting(database, record) ? record.Task with { IsDisabled = true } : record.Task;
        string? alert = Resting(database, record)
            ? $"The {task} is suspended: it was created for the database in '{record.Home}', of which this one is a copy. "
                + $"Enable it if backups of both may be stored side by side."
            : BackupTiming.Alert(task, record.State, now);
        return new BackupTaskInfo(
            task, record.State, _running.ContainsKey((database.Name, task.Id)), BackupTiming.Next(task, record.State, now),
            alert);
    }

    private static bool Resting(Database database, BackupTaskRecord record) =>
        record.Home != database.DataDirectory && !record.Task.IsDisabled;

    /// <summary>Returns the runs that are due now, and when the next is due.</summary>
    [SuppressMessage(
        "Design", "CA1031", Justification = "Whatever is wrong with one database, the backups of the others go on.")]
    private List<ScheduledRun> FindDue(out DateTime? next)
    {
        var due = new List<ScheduledRun>();
        next = null;
        DateTime now = _clock.GetUtcNow().UtcDateTime;
        foreach (string name in _source.Names)
        {
            try
            {
                if (!_source.MayHaveTasks(name))
                    continue;
                foreach (BackupTaskInfo info in List(name))
                {
                    if (info.IsRunning || info.Next is not { } coming)
                        continue;
                    if (coming.At <= now && _queued.TryAdd((name, info.Task.Id), 0))
                        due.Add(new ScheduledRun(this, name, info.Task, coming.Kind));
                    else if (coming.At > now && (next is null || coming.At < next))
                        next = coming.At;
                }
            }
            catch (ObjectDisposedException)
            {
                // closed meanwhile; its tasks are read when it is open again
            }
            catch (Exception error)
            {
                Warn?.Invoke($"The backup tasks of database '{name}' cannot be read: {error.Message}");
            }
        }

        return due;
    }

    [SuppressMessage(
        "Design", "CA1031", Justification = "Whatever a run fails with is told and kept; the next one has its own chance.")]
    private async Task RunScheduledAsync(ScheduledRun run, CancellationToken cancellationToken)
    {
        await _room.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            await (Around is null ? run.RunAsync(0, null, cancellationToken) : Around(run)).ConfigureAwait(false);
            if (run.Report?.Problem is { } problem)
                Warn?.Invoke($"The {run.Task} of database '{run.Database}' left something out. {problem}");
        }
        catch (Exception error)
        {
            if (!_stop.IsCancellationRequested)
                Warn?.Invoke($"The {run.Task} of database '{run.Database}' failed: {error.Message}");
        }
        finally
        {
            _queued.TryRemove((run.Database, run.Task.Id), out _);
            _room.Release();
            Wake();
        }
    }

    [SuppressMessage("Design", "CA1031", Justification = "Nothing but a stop may end the loop: all backups depend on it.")]
    private async Task LoopAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            List<ScheduledRun> due = [];
            DateTime? next = null;
            try
            {
                due = FindDue(out next);
            }
            catch (Exception error)
            {
                Warn?.Invoke($"The backup tasks of the databases cannot be read: {error.Message}");
            }

            foreach (ScheduledRun run in due)
            {
                Task work = RunScheduledAsync(run, _stop.Token);
                _work.TryAdd(work, 0);
                _ = work.ContinueWith(
                    done => _work.TryRemove(done, out _), CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously,
                    TaskScheduler.Default);
            }

            TimeSpan sleep = next is { } at ? at - _clock.GetUtcNow().UtcDateTime : _longestSleep;
            sleep = sleep < _shortestSleep ? _shortestSleep : sleep > _longestSleep ? _longestSleep : sleep;
            using var woken = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
            Task change = _changed.WaitAsync(woken.Token);
            await Task.WhenAny(Task.Delay(sleep, _clock, woken.Token), change).ConfigureAwait(false);
            await woken.CancelAsync().ConfigureAwait(false);
        }
    }

    private void Wake()
    {
        if (!_stop.IsCancellationRequested && _changed.CurrentCount == 0)
            _changed.Release();
    }
}

/// <summary>A run of a backup task that is due.</summary>
public sealed class ScheduledRun
{
    private readonly BackupScheduler _scheduler;

    internal ScheduledRun(BackupScheduler scheduler, string database, BackupTask task, BackupRunKind kind)
    {
        _scheduler = scheduler;
        Database = database;
        Task = task;
        Kind = kind;
    }

    /// <summary>The name of the database.</summary>
    public string Database { get; }

    /// <summary>The task.</summary>
    public BackupTask Task { get; }

    /// <summary>The kind of the run.</summary>
    public BackupRunKind Kind { get; }

    /// <summary>Whether it is a full backup.</summary>
    public bool IsFull => Kind == BackupRunKind.Full;

    /// <summary>The result; null until the run has ended.</summary>
    public BackupRunReport? Report { get; private set; }

    /// <summary>
    /// Executes the run; see
    /// <see cref="BackupScheduler.RunAsync(string, long, BackupRunKind, long, IProgress{BackupProgress}?, CancellationToken)"/>.
    /// </summary>
    public async Task<BackupRunReport> RunAsync(
        long operationId, IProgress<BackupProgress>? progress, CancellationToken cancellationToken) =>
        Report = await _scheduler.RunAsync(Database, Task.Id, Kind, operationId, progress, cancellationToken)
            .ConfigureAwait(false);
}
