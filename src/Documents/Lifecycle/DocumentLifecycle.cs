using System.Diagnostics;
using System.Runtime.ExceptionServices;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Lifecycle;

/// <summary>
/// Expires, refreshes and archives documents at the times specified in their metadata, in the background and in small durable
/// steps. Compare-exchange values with <c>@expires</c> in their metadata are deleted whether or not a task is enabled.
/// Thread-safe.
/// </summary>
/// <remarks>
/// Invariant: each action is committed together with the removal of its entry from the index of times, so a run can be stopped or
/// killed at any point and the next run continues it.
/// </remarks>
public sealed class DocumentLifecycle : IDisposable
{
    private static readonly LifecycleTask[] _tasks = Enum.GetValues<LifecycleTask>();

    private readonly IWriteHost _host;
    private readonly PeriodicRun _values;
    private readonly PeriodicRun[] _runs; // by task
    private readonly Lock _scheduling = new();
    private volatile bool _expiresValues;

    internal DocumentLifecycle(IWriteHost host)
    {
        _host = host;
        TimeProvider clock = host.Options.TimeProvider;
        _values = new PeriodicRun(clock, RunValuesAsync);
        var turn = new SemaphoreSlim(1); // tasks run one at a time; values do not wait for them
        _runs = [.. _tasks.Select(task => new PeriodicRun(clock, token => RunAsync(task, token), turn))];
        Apply();
    }

    /// <summary>The exception that ended the last background run; null if it succeeded.</summary>
    public Exception? LastError =>
        _values.LastError ?? Array.Find(_runs, static run => run.LastError is not null)?.LastError;

    /// <summary>Whether a task is enabled, or values expire.</summary>
    internal bool IsScheduled => _values.IsScheduled || Array.Exists(_runs, static run => run.IsScheduled);

    /// <summary>Returns the settings of a task; null if it has none and so is disabled.</summary>
    public LifecycleSettings? Get(LifecycleTask task)
    {
        using DatabaseSnapshot snapshot = _host.BeginRead();
        return SettingReader.Read(
            snapshot, LifecycleSettings.NameOf(task), json => LifecycleSettings.FromJson(json, task));
    }

    /// <summary>Sets or, with null, removes the settings of a task; completes when the change is durable.</summary>
    /// <exception cref="InvalidDocumentException">A value is out of range.</exception>
    public async Task SetAsync(LifecycleTask task, LifecycleSettings? settings, CancellationToken cancellationToken = default)
    {
        settings?.Validate(task);
        using var batch = new WriteBatch();
        await _host.WriteWithoutResultsAsync(batch.Setting(LifecycleSettings.NameOf(task), settings?.ToJson()), cancellationToken)
            .ConfigureAwait(false);
        Apply();
    }

    /// <summary>
    /// Processes all documents that are due for every enabled task, and all values that are due; returns their number.
    /// </summary>
    public async Task<long> RunAsync(CancellationToken cancellationToken = default)
    {
        long done = 0;
        ExceptionDispatchInfo? failed = null;
        await AddAsync(RunValuesAsync(cancellationToken)).ConfigureAwait(false);
        foreach (LifecycleTask task in _tasks)
            await AddAsync(RunAsync(task, cancellationToken)).ConfigureAwait(false);
        failed?.Throw();
        return done;

        // The failure of one does not keep the others from running.
        async Task AddAsync(Task<long> run)
        {
            try
            {
                done += await run.ConfigureAwait(false);
            }
            catch (Exception error) when (error is not (OperationCanceledException or ObjectDisposedException))
            {
                failed ??= ExceptionDispatchInfo.Capture(error);
            }
        }
    }

    /// <summary>Sets the timers according to the settings.</summary>
    internal void Apply()
    {
        lock (_scheduling) // settings are read under it, so that older ones never replace newer ones
        {
            foreach (LifecycleTask task in _tasks)
                _runs[(int)task].Schedule(Get(task) is { IsDisabled: false } settings ? settings.Frequency : null);
            ScheduleByStoredValues();
        }
    }

    /// <summary>Begins runs if there was no compare-exchange value that expires, and now is.</summary>
    internal void ScheduleValues()
    {
        if (_expiresValues)
            return;
        lock (_scheduling)
            ScheduleValues(true);
    }

    /// <summary>Begins or ends runs for values, depending on whether there are any.</summary>
    private void ScheduleByStoredValues()
    {
        Debug.Assert(_scheduling.IsHeldByCurrentThread, "the callers hold the lock");
        _expiresValues = false; // before reading: whoever stores a value from here on waits for the lock and begins runs
        using DatabaseSnapshot snapshot = _host.BeginRead();
        ScheduleValues(snapshot.Due.HasDue(DueAction.ExpireValue, long.MaxValue));
    }

    private void ScheduleValues(bool areThere)
    {
        _expiresValues = areThere;
        _values.Schedule(areThere ? new LifecycleSettings().Frequency : null);
    }

    /// <summary>Stops background runs after their current step.</summary>
    public void Dispose()
    {
        _values.Dispose();
        foreach (PeriodicRun run in _runs)
            run.Dispose();
    }

    private Task<long> RunValuesAsync(CancellationToken cancellationToken) => _values.NowAsync(
        async stop =>
        {
            long done = await new DueRun(_host, DueAction.ExpireValue).RunAsync(long.MaxValue, stop).ConfigureAwait(false);
            lock (_scheduling)
                ScheduleByStoredValues();
            return done;
        },
        cancellationToken);

    private Task<long> RunAsync(LifecycleTask task, CancellationToken cancellationToken) => _runs[(int)task].NowAsync(
        async stop =>
        {
            if (Get(task) is not { IsDisabled: false } settings)
                return 0;
            await new DocumentScan(_host).RunAsync(stop).ConfigureAwait(false);
            return await new DueRun(_host, ActionOf(task)).RunAsync(settings.MaxItemsPerRun ?? long.MaxValue, stop)
                .ConfigureAwait(false);
        },
        cancellationToken);

    /// <summary>Returns what a task does.</summary>
    internal static DueAction ActionOf(LifecycleTask task) => task switch
    {
        LifecycleTask.Expiration => DueAction.Expire,
        LifecycleTask.Refresh => DueAction.Refresh,
        _ => DueAction.Archive,
    };
}
