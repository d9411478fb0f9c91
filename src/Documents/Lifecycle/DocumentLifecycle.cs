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
    private readonly PeriodicRun _runs;
    private readonly Lock _scheduling = new();
    private volatile bool _expiresValues;
    private TimeSpan? _frequency;

    internal DocumentLifecycle(IWriteHost host)
    {
        _host = host;
        _runs = new PeriodicRun(host.Options.TimeProvider, token => RunAsync(token));
        Apply();
    }

    /// <summary>The exception that ended the last background run; null if it succeeded.</summary>
    public Exception? LastError => _runs.LastError;

    /// <summary>Whether a task is enabled, or values expire.</summary>
    internal bool IsScheduled => _runs.IsScheduled;

    /// <summary>Returns the settings of a task; null if it has none and so is disabled.</summary>
    public LifecycleSettings? Get(LifecycleTask task)
    {
        using DatabaseSnapshot snapshot = _host.BeginRead();
        return snapshot.Setting(LifecycleSettings.NameOf(task)) is { } json ? LifecycleSettings.FromJson(json) : null;
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
    public Task<long> RunAsync(CancellationToken cancellationToken = default) => _runs.NowAsync(RunTasksAsync, cancellationToken);

    /// <summary>Sets the timer according to the settings.</summary>
    internal void Apply()
    {
        TimeSpan? frequency = null;
        foreach (LifecycleTask task in _tasks)
            if (Get(task) is { IsDisabled: false } settings && (frequency is null || settings.Frequency < frequency))
                frequency = settings.Frequency;
        bool expiresValues;
        using (DatabaseSnapshot snapshot = _host.BeginRead())
            expiresValues = snapshot.Due.HasDue(DueAction.ExpireValue, long.MaxValue);
        lock (_scheduling)
        {
            _frequency = frequency;
            _expiresValues |= expiresValues; // a value may have been stored since the snapshot
            Schedule();
        }
    }

    /// <summary>Begins runs if there was no compare-exchange value that expires, and now is.</summary>
    internal void ScheduleValues()
    {
        if (_expiresValues)
            return;
        lock (_scheduling)
        {
            _expiresValues = true;
            Schedule();
        }
    }

    private void Schedule()
    {
        TimeSpan? values = _expiresValues ? new LifecycleSettings().Frequency : null;
        _runs.Schedule(_frequency < values || values is null ? _frequency : values);
    }

    /// <summary>Stops background runs after their current step.</summary>
    public void Dispose() => _runs.Dispose();

    private async Task<long> RunTasksAsync(CancellationToken cancellationToken)
    {
        long done = 0;
        foreach (LifecycleTask task in _tasks)
        {
            if (Get(task) is not { IsDisabled: false } settings)
                continue;
            await new DocumentScan(_host).RunAsync(cancellationToken).ConfigureAwait(false);
            done += await new DueRun(_host, ActionOf(task))
                .RunAsync(settings.MaxItemsPerRun ?? long.MaxValue, cancellationToken)
                .ConfigureAwait(false);
        }

        return done + await new DueRun(_host, DueAction.ExpireValue).RunAsync(long.MaxValue, cancellationToken)
            .ConfigureAwait(false);
    }

    /// <summary>Returns what a task does.</summary>
    internal static DueAction ActionOf(LifecycleTask task) => task switch
    {
        LifecycleTask.Expiration => DueAction.Expire,
        LifecycleTask.Refresh => DueAction.Refresh,
        _ => DueAction.Archive,
    };
}
