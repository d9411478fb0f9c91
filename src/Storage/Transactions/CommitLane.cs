using System.Collections.Concurrent;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// The one lane of writing. Who finds it free leads: runs the waiting commands as one batch, its own among them, and
/// then hands the lane to the first that waits. One caller alone pays no change of thread; a hundred share one sync.
/// </summary>
/// <remarks>
/// Invariants. 1. At most one thread holds the lane; only it takes from the queue. 2. A lane with something waiting is held:
/// who enqueues tries to take it, and who lets go looks again afterwards. 3. A leader serves until its own command is done, no longer.
/// </remarks>
internal sealed class CommitLane(Action<CommitLane> executeBatch, IScheduler scheduler)
{
    private readonly ConcurrentQueue<WriteRequest> _queue = new();
    private readonly ConcurrentQueue<Exclusive> _exclusive = new();
    private int _isHeld;

    /// <summary>Runs a command through the lane, blocking.</summary>
    public void Submit(WriteRequest request, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        _queue.Enqueue(request);
        if (TryTake())
        {
            Lead(request);
            return;
        }

        using CancellationTokenRegistration registration = Register(request, cancellationToken);
        if (request.Wait(scheduler))
            Lead(request);
    }

    /// <summary>Runs a command through the lane: at once if it is free, else as part of another's batch or on another thread.</summary>
    public void SubmitAsync(WriteRequest request, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        _queue.Enqueue(request);
        if (TryTake())
            Lead(request);
        else
            Register(request, cancellationToken);
    }

    /// <summary>Runs an action while holding the lane, between batches, blocking until it has run.</summary>
    public void RunExclusive(Action action)
    {
        var exclusive = new Exclusive(action);
        _exclusive.Enqueue(exclusive);
        lock (_exclusive)
            Monitor.PulseAll(_exclusive);
        if (TryTake())
            LetGo();
        exclusive.Wait(scheduler);
    }

    /// <summary>The next command of the batch, taken out of waiting; false when there is none. For the holder.</summary>
    public bool TryNext(out WriteRequest? request)
    {
        while (_queue.TryDequeue(out request))
            if (request.TryStart())
                return true;
        return false;
    }

    /// <summary>Runs the actions that wait for the lane. For the holder.</summary>
    public void DrainExclusive()
    {
        while (_exclusive.TryDequeue(out Exclusive? exclusive))
            exclusive.Run();
    }

    /// <summary>Waits until an action wants the lane or something else pulses. For the holder.</summary>
    public void WaitForExclusive(Func<bool> isOver)
    {
        lock (_exclusive)
        {
            while (_exclusive.IsEmpty && !isOver())
                scheduler.Wait(_exclusive);
        }
    }

    /// <summary>Lets <see cref="WaitForExclusive"/> look again.</summary>
    public void Pulse()
    {
        lock (_exclusive)
            Monitor.PulseAll(_exclusive);
    }

    private static CancellationTokenRegistration Register(WriteRequest request, CancellationToken cancellationToken) => cancellationToken.UnsafeRegister(
        static (state, token) => ((WriteRequest)state!).TryCancel(token), // the state given beside it
        request);

    private bool TryTake() => Interlocked.CompareExchange(ref _isHeld, 1, 0) == 0;

    private void Lead(WriteRequest own)
    {
        try
        {
            do
            {
                DrainExclusive();
                executeBatch(this);
            }
            while (!own.IsDone);
        }
        catch (Exception error) when (!own.IsDone)
        {
            own.Complete(error);
        }
        finally
        {
            LetGo();
        }
    }

    private void LetGo()
    {
        while (true)
        {
            DrainExclusive();
            if (_queue.TryPeek(out WriteRequest? next))
            {
                if (!next.IsDone && TryHand(next))
                    return;

                _queue.TryDequeue(out _); // cancelled: invariant 1 makes it the one that was looked at
                continue;
            }

            Interlocked.Exchange(ref _isHeld, 0);
            if ((_queue.IsEmpty && _exclusive.IsEmpty) || !TryTake())
                return;
        }
    }

    private bool TryHand(WriteRequest next)
    {
        if (!next.IsAsync)
            return next.TryHandLane();

        scheduler.Queue(() => Lead(next));
        return true;
    }

    private sealed class Exclusive(Action action)
    {
        private Exception? _error;
        private bool _isDone;

        public void Run()
        {
            try
            {
                action();
            }
            catch (Exception error)
            {
                _error = error;
            }

            lock (this)
            {
                _isDone = true;
                Monitor.PulseAll(this);
            }
        }

        public void Wait(IScheduler scheduler)
        {
            lock (this)
            {
                while (!_isDone)
                    scheduler.Wait(this);
            }

            if (_error is not null)
                System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(_error);
        }
    }
}
