using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Treepie.Archiving;
using Treepie.Backups;
using Treepie.Destinations;

namespace Treepie.BackupTasks;

/// <summary>
/// Front door of the room: keeps backup tasks with their databases, runs them when they are due or asked for, proves what they
/// wrote, and says how they are. Tasks and their state survive restarts; what was missed meanwhile is made up for once. A task
/// runs once at a time, at most two scheduled ones together. Thread-safe.
/// </summary>
/// <remarks>
/// Invariant: what is kept of a run is written when it is over, in one step, and a run that was killed is one that has not been:
/// its time comes again.
/// </remarks>
public sealed class BackupScheduler : IAsyncDisposable
{
    private const int MaxTogether = 2;

    /// <summary>Longest sleep: clocks are set, and databases come without telling.</summary>
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
    private readonly ConcurrentDictionary<Task, byte> _work = new();
    private Task _loop = Task.CompletedTask;

    /// <summary>For these databases, with these kinds of places.</summary>
    public BackupScheduler(IBackupSource source, DestinationProviders providers, TimeProvider? clock = null)
    {
        ArgumentNullException.ThrowIfNull(source);
        ArgumentNullException.ThrowIfNull(providers);
        _source = source;
        _providers = providers;
        _clock = clock ?? TimeProvider.System;
    }

    /// <summary>
    /// Runs a scheduled run inside something of the program's own, an operation for instance; null: just runs it. Set before
    /// <see cref="Start"/>.
    /// </summary>
    public Func<ScheduledRun, Task>? Around { get; set; }

    /// <summary>
    /// What the key sources of tasks mean; by default what people write, commands included. Set before <see cref="Start"/>.
    /// </summary>
    public IBackupKeySources KeySources { get; set; } = new WrittenKeySources();

    /// <summary>
    /// Told, in words for a log, of runs that failed or left a place out, and of databases that could not be asked. Set before
    /// <see cref="Start"/>.
    /// </summary>
    public Action<string>? Warn { get; set; }

    /// <summary>Begins to run what is due.</summary>
    public void Start() => _loop = Task.Run(LoopAsync);

    /// <summary>
    /// Keeps a task: a new one where its number is 0, or in the place of the one of its number, whose state stays. Gives the
    /// number.
    /// </summary>
    /// <exception cref="BackupTaskException">It cannot be, and nothing was changed; or there is none of that number.</exception>
    public async Task<long> PutAsync(string database, BackupTask task, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(task);
        using IBackupLease lease = _source.Enter(database);
        Check(lease.Database, task);
        long id = await BackupTaskStore.Of(lease.Database)
            .PutAsync(task.Id == 0 ? task with { CreatedAt = _clock.GetUtcNow().UtcDateTime } : task, cancellationToken)
            .ConfigureAwait(false);
        lease.Database.Log.Apply();
        Wake();
        return id;
    }

    /// <summary>The tasks of a database.</summary>
    public IReadOnlyList<BackupTaskInfo> List(string database)
    {
        using IBackupLease lease = _source.Enter(database);
        return [.. BackupTaskStore.Of(lease.Database).List().Select(record => Describe(lease.Database, record))];
    }

    /// <summary>One task; null if there is none of that number.</summary>
    public BackupTaskInfo? Find(string database, long id)
    {
        using IBackupLease lease = _source.Enter(database);
        return BackupTaskStore.Of(lease.Database).Find(id) is { } record
            ? Describe(lease.Database, record) with { Log = DescribeLog(lease.Database, record) }
            : null;
    }

    /// <summary>The latest moment of a database that was shown to be restorable; null if there is none.</summary>
    public ProvenPoint? LastProven(string database) =>
        List(database).Select(static info => info.State.LastProven).OfType<ProvenPoint>().MaxBy(static point => point.TakenAt);

    /// <summary>Forgets a task; its backups stay where they are. False if there is none.</summary>
    public async Task<bool> DeleteAsync(string database, long id, CancellationToken cancellationToken = default)
    {
        using IBackupLease lease = _source.Enter(database);
        bool found = await BackupTaskStore.Of(lease.Database).DeleteAsync(id, cancellationToken).ConfigureAwait(false);
        lease.Database.Log.Apply();
        return found;
    }

    /// <summary>Passes over a task's times from now on, or does so no more. False if there is none.</summary>
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

    /// <summary>Runs no scheduled backup of a task before some time has passed. False if there is none.</summary>
    public async Task<bool> DelayAsync(string database, long id, TimeSpan by)
    {
        using IBackupLease lease = _source.Enter(database);
        DateTime until = _clock.GetUtcNow().UtcDateTime + by;
        return await BackupTaskStore.Of(lease.Database)
            .ChangeAsync(id, record => record with { State = record.State with { NotBefore = until } })
            .ConfigureAwait(false);
    }

    /// <summary>Runs a task now, whether it is due or not, to its end.</summary>
    /// <param name="database">Name of the database.</param>
    /// <param name="id">Number of the task.</param>
    /// <param name="isFull">Backs everything up; else only what has changed since the last backup, if anything has.</param>
    /// <param name="operationId">Number under which others know this run; 0 for none.</param>
    /// <param name="progress">Told how far it is.</param>
    /// <param name="cancellationToken">Ends it; nothing of this backup stays anywhere.</param>
    /// <exception cref="BackupTaskException">There is no such task, or it is at work already.</exception>
    /// <exception cref="DestinationException">No place took the backup.</exception>
    public Task<BackupRunReport> RunAsync(
        string database, long id, bool isFull, long operationId = 0, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default) =>
        RunAsync(database, id, isFull ? BackupRunKind.Full : BackupRunKind.Incremental, operationId, progress, cancellationToken);

    /// <summary>Runs a task now, whether it is due or not, to its end.</summary>
    /// <param name="database">Name of the database.</param>
    /// <param name="id">Number of the task.</param>
    /// <param name="kind">Backs everything up; or what has changed, or the log, if something has.</param>
    /// <param name="operationId">Number under which others know this run; 0 for none.</param>
    /// <param name="progress">Told how far it is.</param>
    /// <param name="cancellationToken">Ends it; nothing of this backup stays anywhere.</param>
    /// <exception cref="BackupTaskException">There is no such task, or it is at work already; or it archives no log.</exception>
    /// <exception cref="DestinationException">No place took the backup.</exception>
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
            throw new BackupTaskException($"The {record.Task} is at work already. Wait for it, or cancel it.");

        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, lease.Closing, _stop.Token);
        DateTime began = _clock.GetUtcNow().UtcDateTime;
        try
        {
            using IDisposable? held = record.Task.LogInterval is null ? null : lease.Database.Log.Hold();
            BackupRunReport report = kind != BackupRunKind.Full
                && record.State is { Error: null, Kept.Count: > 0 } state
                && StandsStill(lease.Database, state)
                ? new BackupRunReport
                {
                    Kind = kind,
                    Kept = state.Kept,
                    Places = state.Places,
                    Link = state.Link,
                    LogAddresses = state.LogAddresses,
                    Newest = state.Newest is { } newest ? newest with { At = began } : null
                }
                : await new BackupTaskRun(lease, record.Task, _providers, KeySources, _clock, progress)
                    .RunAsync(record.State, kind, stop.Token)
                    .ConfigureAwait(false);
            await store.ChangeAsync(
                id, now => now with { State = After(now.State, report, kind, began, operationId) },
                report.Log).ConfigureAwait(false);
            held?.Dispose();
            lease.Database.Log.Release();
            return report;
        }
        catch (OperationCanceledException)
            when (cancellationToken.IsCancellationRequested
                && !_stop.IsCancellationRequested
                && !lease.Closing.IsCancellationRequested)
        {
            // Somebody did not want it: the next one is due at its own time.
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
    }

    /// <summary>Backs a database up once, as a task says that is not kept.</summary>
    /// <exception cref="BackupTaskException">The task cannot be.</exception>
    /// <exception cref="DestinationException">No place took the backup.</exception>
    /// <exception cref="BackupException">It was written, and could not be proven at one of the places.</exception>
    public async Task<BackupRunReport> RunOnceAsync(
        string database, BackupTask task, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(task);
        using IBackupLease lease = _source.Enter(database);
        Check(lease.Database, task);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, lease.Closing, _stop.Token);
        BackupRunReport report = await new BackupTaskRun(lease, task, _providers, KeySources, _clock, progress)
            .RunAsync(new BackupTaskState(), BackupRunKind.Full, stop.Token)
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
    /// Runs everything that is due now, to its end; gives how many that were. For programs that have a scheduler of their own.
    /// </summary>
    public async Task<int> RunDueAsync(CancellationToken cancellationToken = default)
    {
        List<ScheduledRun> due = FindDue(out _);
        await Task.WhenAll(due.Select(run => RunScheduledAsync(run, cancellationToken))).ConfigureAwait(false);
        return due.Count;
    }

    /// <summary>Says why a task cannot be, before it is kept or run.</summary>
    /// <exception cref="BackupTaskException">It cannot.</exception>
    public void Check(Database database, BackupTask task)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(task);
        task.Validate(_providers, KeySources);
        if (task.Key is not null && !database.IsEncrypted)
        {
            throw new BackupTaskException(
                $"The backup task '{task.Name}' brings a key, which database '{database.Name}' would keep in plain because it is "
                    + $"not encrypted. Say where the key is instead (KeySource: file:PATH, env:NAME or command:/FULL/PATH). "
                    + $"Nothing was changed.");
        }
    }

    /// <summary>Reads backups to their ends, those of a database that is here with its own key where none is given.</summary>
    /// <param name="database">Name of the database they are of; null, or another one: nobody's key is tried.</param>
    /// <param name="parts">In the order they were taken.</param>
    /// <param name="options">Up to where, and with which key.</param>
    /// <param name="progress">Told how far it is.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="BackupException">They are not whole.</exception>
    public async Task<BackupReport> VerifyAsync(
        string? database, IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (database is null || !_source.Names.Contains(database, StringComparer.OrdinalIgnoreCase))
            return await BackupParts.VerifyAsync(parts, options, progress, cancellationToken).ConfigureAwait(false);
        using IBackupLease lease = _source.Enter(database);
        return await lease.VerifyAsync(parts, options, progress, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Opens a place as tasks of this scheduler do.</summary>
    public BackupDestination OpenPlace(DestinationSettings settings) => _providers.Open(settings);

    /// <summary>Ends what is at work, and waits for that.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _loop.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (Task work in _work.Keys)
            await work.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stop.Dispose();
        _room.Dispose();
        _changed.Dispose();
    }

    private static BackupTaskState After(
        BackupTaskState state, BackupRunReport report, BackupRunKind kind, DateTime began,
        long operationId) => Attempted(state, kind, began) with
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

    private static bool StandsStill(Database database, BackupTaskState state) =>
        state.Mark == DumpPoint.Of(database).ToString();

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
        BackupRunKind.Full => state with { LastFullAttempt = began },
        BackupRunKind.Incremental => state with { LastIncrementalAttempt = began },
        _ => state with { LastLogAttempt = began },
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
        BackupTask task = Resting(database, record) ? record.Task with { IsDisabled = true } : record.Task;
        string? alert = Resting(database, record)
            ? $"The {task} rests: it was made for the database in '{record.Home}', of which this one is a copy. Enable it if "
                + $"backups of both may lie side by side."
            : BackupTiming.Alert(task, record.State, _clock.GetUtcNow().UtcDateTime);
        return new BackupTaskInfo(
            task, record.State, _running.ContainsKey((database.Name, task.Id)), BackupTiming.Next(task, record.State), alert);
    }

    private static bool Resting(Database database, BackupTaskRecord record) =>
        record.Home != database.DataDirectory && !record.Task.IsDisabled;

    /// <summary>What is due now, and when the next is.</summary>
    private List<ScheduledRun> FindDue(out DateTime? next)
    {
        var due = new List<ScheduledRun>();
        next = null;
        DateTime now = _clock.GetUtcNow().UtcDateTime;
        foreach (string name in _source.Names.Where(_source.MayHaveTasks))
        {
            try
            {
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
                // Closed meanwhile: its tasks are read when it is open again.
            }
            catch (Exception error) when (IsOurs(error))
            {
                Warn?.Invoke($"The backup tasks of database '{name}' cannot be read: {error.Message}");
            }
        }

        return due;
    }

    private static bool IsOurs(Exception error) =>
        error.GetType().Namespace?.StartsWith("Treepie", StringComparison.Ordinal) == true;

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

    private async Task LoopAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            List<ScheduledRun> due = FindDue(out DateTime? next);
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

/// <summary>A run of a task whose time has come.</summary>
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

    /// <summary>Name of the database.</summary>
    public string Database { get; }

    /// <summary>The task.</summary>
    public BackupTask Task { get; }

    /// <summary>What it does.</summary>
    public BackupRunKind Kind { get; }

    /// <summary>Whether everything is backed up.</summary>
    public bool IsFull => Kind == BackupRunKind.Full;

    /// <summary>What it did; null before its end.</summary>
    public BackupRunReport? Report { get; private set; }

    /// <summary>
    /// Runs it; see
    /// <see cref="BackupScheduler.RunAsync(string, long, BackupRunKind, long, IProgress{BackupProgress}?, CancellationToken)"/>.
    /// </summary>
    public async Task<BackupRunReport> RunAsync(
        long operationId, IProgress<BackupProgress>? progress, CancellationToken cancellationToken) =>
        Report = await _scheduler.RunAsync(Database, Task.Id, Kind, operationId, progress, cancellationToken)
            .ConfigureAwait(false);
}
