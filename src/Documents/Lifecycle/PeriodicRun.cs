namespace Treepie.Lifecycle;

/// <summary>Runs a task periodically in the background, one run at a time, until it is disposed. Thread-safe.</summary>
/// <param name="clock">The clock whose timer begins the runs.</param>
/// <param name="run">The task.</param>
/// <param name="turn">What <see cref="NowAsync"/> waits for, if several tasks are run one at a time.</param>
internal sealed class PeriodicRun(TimeProvider clock, Func<CancellationToken, Task> run, SemaphoreSlim? turn = null) : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly SemaphoreSlim _turn = turn ?? new SemaphoreSlim(1);
    private readonly Lock _lock = new();
    private ITimer? _timer;
    private TimeSpan _frequency;
    private Task _run = Task.CompletedTask;

    /// <summary>The exception that ended the last background run; null if it succeeded.</summary>
    public Exception? LastError { get; private set; }

    /// <summary>Whether runs are scheduled.</summary>
    public bool IsScheduled
    {
        get
        {
            lock (_lock)
                return _timer is not null;
        }
    }

    /// <summary>Sets the interval between runs; null to disable them. The same interval as before does not begin anew.</summary>
    public void Schedule(TimeSpan? frequency)
    {
        lock (_lock)
        {
            if (frequency is not { } time)
            {
                _timer?.Dispose();
                _timer = null;
            }
            else if (_timer is null && !_stop.IsCancellationRequested)
            {
                // The state is this object.
                _timer = clock.CreateTimer(static state => ((PeriodicRun)state!).Begin(), this, time, time);
            }
            else if (_frequency != time)
            {
                _timer?.Change(time, time);
            }

            _frequency = frequency ?? default;
        }
    }

    /// <summary>Runs now, after the current run has ended.</summary>
    public async Task<T> NowAsync<T>(Func<CancellationToken, Task<T>> work, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _stop.Token);
        await _turn.WaitAsync(stop.Token).ConfigureAwait(false);
        try
        {
            return await Task.Run(() => work(stop.Token), stop.Token).ConfigureAwait(false); // the caller only waits
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Stops the current run after its current step.</summary>
    public void Dispose()
    {
        Task last;
        lock (_lock)
        {
            _timer?.Dispose();
            _timer = null;
            _stop.Cancel();
            last = _run;
        }

        ((IAsyncResult)last).AsyncWaitHandle.WaitOne();
    }

    private void Begin()
    {
        lock (_lock)
            if (_run.IsCompleted && !_stop.IsCancellationRequested)
                _run = Task.Run(RunAsync);
    }

    private async Task RunAsync()
    {
        try
        {
            await run(_stop.Token).ConfigureAwait(false);
            LastError = null;
        }
        catch (Exception error) when (error is OperationCanceledException or ObjectDisposedException)
        {
            // Closed meanwhile: continues when the database is opened again.
        }
        catch (Exception error)
        {
            LastError = error; // for example, a full disk: the next run retries
        }
    }
}
