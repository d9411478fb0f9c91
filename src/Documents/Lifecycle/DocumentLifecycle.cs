using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Lifecycle;

/// <summary>
/// Front door of the room: deletes, refreshes and archives documents at the times that their metadata gives, in the background
/// and in small durable steps. Thread-safe.
/// </summary>
/// <remarks>
/// Invariant: what is done is done in the commit that drops the entry of the index of times, so a run may be stopped or killed
/// anywhere and the next goes on.
/// </remarks>
public sealed class DocumentLifecycle : IDisposable
{
    private static readonly LifecycleTask[] _tasks = Enum.GetValues<LifecycleTask>();

    private readonly IWriteHost _host;
    private readonly PeriodicRun _runs;

    internal DocumentLifecycle(IWriteHost host)
    {
        _host = host;
        _runs = new PeriodicRun(host.Options.TimeProvider, token => RunAsync(token));
        Apply();
    }

    /// <summary>Why the last run in the background ended early; null where it did not.</summary>
    public Exception? LastError => _runs.LastError;

    /// <summary>Whether a task is enabled.</summary>
    internal bool IsScheduled => _runs.IsScheduled;

    /// <summary>The settings of a task; null where it was never set, which disables it.</summary>
    public LifecycleSettings? Get(LifecycleTask task)
    {
        using DatabaseSnapshot snapshot = _host.BeginRead();
        return snapshot.Setting(LifecycleSettings.NameOf(task)) is { } json ? LifecycleSettings.FromJson(json) : null;
    }

    /// <summary>Sets a task, or forgets what was set; durable when this completes.</summary>
    /// <exception cref="InvalidDocumentException">A number is out of its range.</exception>
    public async Task SetAsync(LifecycleTask task, LifecycleSettings? settings, CancellationToken cancellationToken = default)
    {
        settings?.Validate(task);
        using var batch = new WriteBatch();
        await _host.WriteWithoutResultsAsync(batch.Setting(LifecycleSettings.NameOf(task), settings?.ToJson()), cancellationToken)
            .ConfigureAwait(false);
        Apply();
    }

    /// <summary>Does now what is due of every enabled task, to its end; gives how many documents that were.</summary>
    public Task<long> RunAsync(CancellationToken cancellationToken = default) => _runs.NowAsync(RunTasksAsync, cancellationToken);

    /// <summary>Sets the timer as the settings say.</summary>
    internal void Apply()
    {
        TimeSpan? frequency = null;
        foreach (LifecycleTask task in _tasks)
            if (Get(task) is { IsDisabled: false } settings && (frequency is null || settings.Frequency < frequency))
                frequency = settings.Frequency;
        _runs.Schedule(frequency);
    }

    /// <summary>Ends what is at work, after the step it is in.</summary>
    public void Dispose() => _runs.Dispose();

    private async Task<long> RunTasksAsync(CancellationToken cancellationToken)
    {
        long done = 0;
        foreach (LifecycleTask task in _tasks)
        {
            if (Get(task) is not { IsDisabled: false } settings)
                continue;
            await new DocumentScan(_host).RunAsync(cancellationToken).ConfigureAwait(false);
            done += await new DueRun(_host, task)
                .RunAsync(settings.MaxItemsPerRun ?? long.MaxValue, cancellationToken)
                .ConfigureAwait(false);
        }

        return done;
    }
}
