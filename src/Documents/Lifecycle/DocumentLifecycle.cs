using Treepie.Kinds;
using Treepie.Storage;
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
    private static readonly LifecycleTask[] s_tasks = Enum.GetValues<LifecycleTask>();

    private readonly ILifecycleHost _host;
    private readonly CancellationTokenSource _stop = new();
    private readonly SemaphoreSlim _turn = new(1);
    private readonly Lock _lock = new();
    private ITimer? _timer;
    private Task _run = Task.CompletedTask;

    internal DocumentLifecycle(ILifecycleHost host)
    {
        _host = host;
        Apply();
    }

    /// <summary>Why the last run in the background ended early; null where it did not.</summary>
    public Exception? LastError { get; private set; }

    /// <summary>Whether a task is enabled.</summary>
    internal bool IsScheduled
    {
        get
        {
            lock (_lock)
                return _timer is not null;
        }
    }

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
        await _host.WriteAsync(batch.Setting(LifecycleSettings.NameOf(task), settings?.ToJson()), cancellationToken)
            .ConfigureAwait(false);
        Apply();
    }

    /// <summary>Does now what is due of every enabled task, to its end; gives how many documents that were.</summary>
    public async Task<long> RunAsync(CancellationToken cancellationToken = default)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _stop.Token);
        await _turn.WaitAsync(stop.Token).ConfigureAwait(false);
        try
        {
            long done = 0;
            foreach (LifecycleTask task in s_tasks)
            {
                if (Get(task) is not { IsDisabled: false } settings)
                    continue;
                await new DocumentScan(_host).RunAsync(stop.Token).ConfigureAwait(false);
                done += await new DueRun(_host, task)
                    .RunAsync(settings.MaxItemsPerRun ?? long.MaxValue, stop.Token)
                    .ConfigureAwait(false);
            }

            return done;
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Sets the timer as the settings say.</summary>
    internal void Apply()
    {
        TimeSpan frequency = TimeSpan.MaxValue;
        foreach (LifecycleTask task in s_tasks)
            if (Get(task) is { IsDisabled: false } settings && settings.Frequency < frequency)
                frequency = settings.Frequency;
        lock (_lock)
        {
            if (frequency == TimeSpan.MaxValue)
            {
                _timer?.Dispose();
                _timer = null;
            }
            else if (_timer is null && !_stop.IsCancellationRequested)
            {
                // its own
                _timer = _host.Clock.CreateTimer(static state => ((DocumentLifecycle)state!).Begin(), this, frequency, frequency);
            }
            else
            {
                _timer?.Change(frequency, frequency);
            }
        }
    }

    /// <summary>Ends what is at work, after the step it is in.</summary>
    public void Dispose()
    {
        Task run;
        lock (_lock)
        {
            _timer?.Dispose();
            _timer = null;
            _stop.Cancel();
            run = _run;
        }

        ((IAsyncResult)run).AsyncWaitHandle.WaitOne();
    }

    private void Begin()
    {
        lock (_lock)
            if (_run.IsCompleted && !_stop.IsCancellationRequested)
                _run = Task.Run(RunInBackgroundAsync);
    }

    private async Task RunInBackgroundAsync()
    {
        try
        {
            await RunAsync().ConfigureAwait(false);
            LastError = null;
        }
        catch (Exception error) when (error is OperationCanceledException or ObjectDisposedException)
        {
            // closed meanwhile: the next opening goes on
        }
        catch (StorageException error)
        {
            LastError = error; // a full disk for instance: the next turn tries again
        }
    }
}
