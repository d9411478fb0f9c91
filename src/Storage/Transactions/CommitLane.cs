using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// The one lane of writing, and the one frame that may be on its way to the disk beside it. Who finds the lane idle takes it and
/// runs what waits, its own command among it. With no frame in flight the batch is closed at once: the lane goes on to whoever
/// comes, and its leader writes, syncs and publishes. With one in flight the batch stays open, the lane idle: whoever submits
/// next runs its command into the same batch, and the end of the flight finds a leader for it. One caller alone pays no change of
/// thread; a hundred share one sync, and run while it lasts.
/// </summary>
/// <remarks>
/// <code>
///            TryTake                     no flight: close, begin flight, Release
///   idle ───────────────► active ──┬──────────────────────────────────────────────► idle   (leader: write, sync, publish, EndFlight, answer)
///    ▲                      ▲      └─ flight: Release, the batch stays open ───────► idle
///    └── EndFlight: takes an idle lane, so that an open batch, or an action that waits for the end of the flight, goes on
/// </code>
/// Invariants. 1. One thread at most is active: only it takes from the queue, runs commands, and touches pages, free space and
/// the open batch. 2. One frame at most is in flight. Its leader needs nothing of what the next batch changes (see
/// <see cref="Writer"/>). 3. A batch is closed, an action of <see cref="RunExclusive"/> runs, and a batch that must not overlap
/// begins, only with no frame in flight: then the newest executed state is the published one. 4. Nothing is answered, neither
/// result nor error, before the state it rests on is published. 5. No work is left alone: who submits looks at the lane after
/// queueing, who lets go looks at the queue after letting go, the end of a flight takes an idle lane, and who leaves work in an
/// idle lane without a flight has woken one who will take it. 6. A caller serves others only until its own command has run; then
/// it leaves the lane to one of those who wait. 7. The lane cannot be lost: whatever is thrown by a step of its holder stops
/// writing (<see cref="Writer.Stop"/>), and the holder goes on to tell everyone and let go. What runs after the lane was let go
/// does not throw. 8. Whoever holds the lane has a lease of the environment's <see cref="Lifetime"/>.
/// </remarks>
internal sealed class CommitLane(Writer writer, LaneDuties duties, IScheduler scheduler, Lifetime lifetime, bool isInline)
{
    private const int Active = 1;
    private const int InFlight = 2;

    /// <summary>How far into a batch one who blocks is looked for, to lead it; beyond, another thread does.</summary>
    private const int MaxCandidates = 16;

    private readonly ConcurrentQueue<WriteRequest> _queue = new();
    private readonly ConcurrentQueue<Exclusive> _exclusive = new();
    private Action? _help;
    private int _state;
    private volatile int _executingThread;

    /// <summary>Whether the calling thread is in a command.</summary>
    public bool IsInCommand => _executingThread == Environment.CurrentManagedThreadId;

    /// <summary>Runs a command through the lane, blocking.</summary>
    public void Submit(WriteRequest request, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        _queue.Enqueue(request);
        if (TryTake())
            Drive(request, isServing: isInline);
        if (request.IsDone)
            return;
        if (isInline)
            throw new InvalidOperationException(
                "Without other threads a command cannot wait for a sync that its own thread is in: use WriteAsync there.");

        using CancellationTokenRegistration registration = request.Register(cancellationToken);
        while (request.Wait(scheduler))
            if (TryTake())
                Drive(request, isServing: false);
    }

    /// <summary>
    /// Runs a command through the lane: at once if it is idle, else as part of another's batch or on another thread. Blocks for
    /// the sync only if this thread leads the batch. The request has its lease and its token already: nothing here refuses it, so
    /// it ends and gives them back.
    /// </summary>
    public void SubmitAsync(WriteRequest request)
    {
        _queue.Enqueue(request);
        if (TryTake())
            Drive(request, isServing: isInline);
    }

    /// <summary>
    /// Runs an action while holding the lane, with no batch open and no frame in flight, blocking until it has run.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed: nothing that the action could touch is
    /// there.</exception>
    public void RunExclusive(Action action)
    {
        using Lifetime.Lease lease = lifetime.Hold();
        var exclusive = new Exclusive(action);
        _exclusive.Enqueue(exclusive);
        Pulse();
        if (TryTake())
            Drive(null, isServing: isInline);
        if (isInline && !exclusive.IsDone)
            throw new InvalidOperationException(
                "Without other threads this cannot wait for a sync, or a command, that its own thread is in.");
        exclusive.Wait(scheduler);
    }

    /// <summary>The next command of the batch, taken out of waiting; false when there is none. For the holder.</summary>
    public bool TryNext(out WriteRequest? request)
    {
        Debug.Assert(IsActive, "1: only the active thread takes from the queue");
        while (_queue.TryDequeue(out request))
            if (request.TryStart())
                return true;
        return false;
    }

    /// <summary>Runs the actions that wait for the lane. For the holder, with nothing in flight.</summary>
    public void DrainExclusive()
    {
        Debug.Assert(
            IsActive && !IsInFlight && !writer.HasOpen, "3: an action runs with no batch open and no frame in flight");
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

    private bool IsActive => (Volatile.Read(ref _state) & Active) != 0;

    private bool IsInFlight => (Volatile.Read(ref _state) & InFlight) != 0;

    /// <summary>
    /// Takes an idle lane. The barrier: what was queued before is seen by a holder that lets go after this has looked (invariant
    /// 5).
    /// </summary>
    private bool TryTake()
    {
        Interlocked.MemoryBarrier();
        int state = Volatile.Read(ref _state);
        while ((state & Active) == 0)
        {
            int seen = Interlocked.CompareExchange(ref _state, state | Active, state);
            if (seen == state)
                return true;
            state = seen;
        }

        return false;
    }

    /// <summary>
    /// Lets the lane go while a frame is in flight, whose end will take it again; false, still holding it, if the flight has
    /// ended.
    /// </summary>
    private bool TryReleaseInFlight() =>
        Interlocked.CompareExchange(ref _state, InFlight, Active | InFlight) == (Active | InFlight);

    private void Release()
    {
        int before = Interlocked.And(ref _state, ~Active);
        Debug.Assert((before & Active) != 0, "1: only the active thread lets go");
    }

    /// <summary>Ends the flight; true if the lane was idle and is the caller's now.</summary>
    private bool EndFlight()
    {
        int state = Volatile.Read(ref _state);
        while (true)
        {
            Debug.Assert((state & InFlight) != 0, "2: a flight ends once");
            int seen = Interlocked.CompareExchange(ref _state, Active, state);
            if (seen == state)
                return (state & Active) == 0;
            state = seen;
        }
    }

    /// <summary>
    /// Works until the lane is somebody else's or idle. Holding the lane. A caller that serves goes on while there is work: a
    /// thread that was called for help, and the one thread of a world without others.
    /// </summary>
    private void Drive(WriteRequest? own, bool isServing)
    {
        while (true)
        {
            try
            {
                if (TryFinish(own, ref isServing))
                    return;
            }
            catch (Exception error)
            {
                writer.Stop(error); // invariant 7: the lane is still held
            }
        }
    }

    /// <summary>
    /// One step of <see cref="Drive"/>; true if the lane is somebody else's or idle, false while it is the caller's.
    /// </summary>
    private bool TryFinish(WriteRequest? own, ref bool isServing)
    {
        if (!writer.HasOpen)
        {
            if (IsInFlight)
            {
                if (!_exclusive.IsEmpty || duties.AreDue)
                    return TryReleaseInFlight();
            }
            else
            {
                writer.Settle();
                DrainExclusive();
                if (!writer.HasStopped)
                    duties.AtRest();
            }

            if (_queue.IsEmpty && !writer.HasRetries)
                return TryRest();
            if (!isServing && own is not { IsStarted: false })
                return LeaveToAnother(ref isServing);
            if (!IsInFlight && duties.AreDue)
                duties.Run();
        }

        Execute();
        if (!writer.HasOpen)
            return false;

        bool isFull = !writer.CanTakeMore;
        if (IsInFlight)
            return TryReleaseInFlight() && (isFull || _queue.IsEmpty || !TryTake());
        if (writer.Close())
            return !Fly(ref isServing);

        duties.AfterBatch();
        return false;
    }

    private void Execute()
    {
        Debug.Assert(IsActive && _executingThread == 0, "1: one thread runs commands");
        _executingThread = Environment.CurrentManagedThreadId;
        try
        {
            writer.Execute(this);
        }
        finally
        {
            _executingThread = 0;
        }
    }

    /// <summary>
    /// Writes the batch that was closed while others go on; true if the lane is the caller's again. Never throws: it answers
    /// those whose batch it was.
    /// </summary>
    private bool Fly(ref bool isServing)
    {
        int before = Interlocked.Or(ref _state, InFlight);
        Debug.Assert(before == Active, "2: one frame at most is in flight");
        Release();
        if (!isInline && _queue.TryPeek(out WriteRequest? next))
            TryWake(next); // if nobody can be called, the end of the flight finds the command

        RequestList answers = writer.Flush();
        bool isTaken = EndFlight() && (isServing || !TryLeaveToAnother(ref isServing));
        answers.Complete();
        duties.AfterBatch();
        return isTaken;
    }

    private bool TryLeaveToAnother(ref bool isServing)
    {
        try
        {
            return LeaveToAnother(ref isServing);
        }
        catch (Exception error)
        {
            writer.Stop(error);
            return false;
        }
    }

    /// <summary>Lets go of a lane with nothing to do; false, still or again holding it, if something has come.</summary>
    private bool TryRest()
    {
        Release();
        return (_queue.IsEmpty && _exclusive.IsEmpty) || !TryTake();
    }

    /// <summary>
    /// Lets go of a lane that may have work, and wakes one of those who wait for that work to take it. False, holding it again,
    /// where no thread can be started for it: the caller serves.
    /// </summary>
    private bool LeaveToAnother(ref bool isServing)
    {
        while (true)
        {
            if (!writer.HasOpen && !IsInFlight)
            {
                writer.Settle();
                DrainExclusive();
            }

            WriteRequest? next = writer.FindWaiter(MaxCandidates);
            if (next is null && !TryPeekWaiting(out next))
            {
                if (TryRest())
                    return true;
                continue;
            }

            Release();
            if (TryWake(next) || !TryTake())
                return true;

            isServing = true;
            return false;
        }
    }

    /// <summary>
    /// The first command that waits. Those that were given up are dropped: their callers would call themselves, over and over.
    /// For the holder.
    /// </summary>
    private bool TryPeekWaiting([NotNullWhen(true)] out WriteRequest? next)
    {
        while (_queue.TryPeek(out next) && next.IsDone)
            _queue.TryDequeue(out _);
        return next is not null;
    }

    /// <summary>Calls somebody to the lane; false where nobody can be called. Never throws.</summary>
    private bool TryWake(WriteRequest next)
    {
        if (!next.IsAsync && next.TryWake())
            return true;
        if (!lifetime.TryHold())
            return false;

        try
        {
            scheduler.Queue(_help ??= Help);
            return true;
        }
        catch (Exception)
        {
            lifetime.Leave();
            return false;
        }
    }

    /// <summary>With the lease that <see cref="TryWake"/> took for it.</summary>
    private void Help()
    {
        try
        {
            if (TryTake())
                Drive(null, isServing: true);
        }
        finally
        {
            lifetime.Leave();
        }
    }

    private sealed class Exclusive(Action action)
    {
        private Exception? _error;
        private bool _isDone;

        public bool IsDone => Volatile.Read(ref _isDone);

        public void Run()
        {
            Debug.Assert(!_isDone, "an action runs once");
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
                ExceptionDispatchInfo.Throw(_error);
        }
    }
}
