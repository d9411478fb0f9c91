using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// The commit queue: one leader at a time runs the commands that wait, and at most one frame is flushed to the disk beside it. A
/// caller that finds no leader becomes the leader and runs what waits, including its own command. If no frame is being flushed,
/// it closes the batch, stops leading, so that the next caller can lead, and writes, syncs and publishes the batch itself. If one
/// is being flushed, the batch stays open without a leader: the next caller runs its command into the same batch, and the end of
/// the flush finds a leader for it. A single caller never changes threads; a hundred callers share one sync, and run while it
/// lasts.
/// </summary>
/// <remarks>
/// <code>
///            TryLead                  no flush: close, begin flush, StepDown
///   idle ───────────────► led ─────┬─────────────────────────────────────► idle   (write, sync, publish, EndFlush, answer)
///    ▲                      ▲      └─ flush: StepDown, the batch stays open ─► idle
///    └── EndFlush: leads if there is no leader, so that an open batch, or an action that waits for the flush, continues
/// </code>
/// Invariants. 1. There is at most one leader: only it dequeues, runs commands, and touches pages, free space and the open batch.
/// 2. At most one frame is being flushed. Flushing it needs nothing that the next batch changes (see <see cref="Writer"/>). 3. A
/// batch is closed, an action of <see cref="RunExclusive"/> runs, and a batch that must not overlap begins, only while no frame
/// is being flushed: then the newest executed state is the published one. 4. Nothing is answered, neither result nor error,
/// before the state it depends on is published. 5. No work is left alone: a caller looks for a leader after enqueueing; a leader
/// looks at the queue after it steps down; the end of a flush leads if nobody does; and a leader that leaves work with no flush
/// running has woken a thread that will lead. 6. A caller serves others only until its own command has run; then it hands over to
/// one of the waiting callers. 7. The lead cannot be lost: whatever a step of the leader throws stops writing
/// (<see cref="Writer.Stop"/>), and the leader goes on to answer everyone and step down. What runs after it stepped down does not
/// throw. 8. The leader has a lease of the environment's <see cref="Lifetime"/>.
/// </remarks>
internal sealed class CommitQueue(
    Writer writer, CommitMaintenance maintenance, IScheduler scheduler, Lifetime lifetime, bool isInline)
{
    private const int Led = 1;
    private const int Flushing = 2;

    /// <summary>
    /// Number of requests of a batch to search for a blocked caller that can lead; if there is none, another thread leads.
    /// </summary>
    private const int MaxCandidates = 16;

    private readonly ConcurrentQueue<WriteRequest> _queue = new();
    private readonly ConcurrentQueue<Exclusive> _exclusive = new();
    private Action? _help;
    private int _state;

    /// <summary>The id of the thread that leads, or 0; written by the leader only.</summary>
    private volatile int _leadingThread;

    /// <summary>The id of the thread that flushes a frame, or 0.</summary>
    private volatile int _flushingThread;

    /// <summary>Whether the calling thread is executing a command.</summary>
    public bool IsInCommand => IsLeading && writer.IsRunning;

    /// <summary>Runs a command, blocking until it is answered.</summary>
    /// <exception cref="InvalidOperationException">Without other threads, the calling thread would wait for itself: it is in a
    /// command or a sync. The command does not run.</exception>
    public void Submit(WriteRequest request, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        ThrowIfWaitingForItself();
        _queue.Enqueue(request);
        if (TryLead())
            Lead(request, isServing: isInline);
        if (request.IsDone)
            return;

        using CancellationTokenRegistration registration = request.Register(cancellationToken);
        while (request.Wait(scheduler))
            if (TryLead())
                Lead(request, isServing: false);
    }

    /// <summary>
    /// Submits a command: it runs at once if there is no leader, otherwise in another batch or on another thread. Blocks for
    /// the sync only if this thread leads the batch. The request already holds its lease and token. It is never refused here,
    /// so its completion releases both.
    /// </summary>
    public void SubmitAsync(WriteRequest request)
    {
        _queue.Enqueue(request);
        if (TryLead())
            Lead(request, isServing: isInline);
    }

    /// <summary>Runs an action as the leader, with no batch open and no frame being flushed; blocks until it has run.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <exception cref="InvalidOperationException">As for <see cref="Submit"/>.</exception>
    public void RunExclusive(Action action)
    {
        ThrowIfWaitingForItself();
        using Lifetime.Lease lease = lifetime.Hold();
        var exclusive = new Exclusive(action);
        _exclusive.Enqueue(exclusive);
        Pulse();
        if (TryLead())
            Lead(null, isServing: isInline);
        exclusive.Wait(scheduler);
    }

    /// <summary>
    /// Dequeues and starts the next command of the batch; false if there is none. Must be called by the leader.
    /// </summary>
    public bool TryNext(out WriteRequest? request)
    {
        Debug.Assert(HasLeader, "1: only the leader dequeues");
        while (_queue.TryDequeue(out request))
            if (request.TryStart())
                return true;
        return false;
    }

    /// <summary>
    /// Runs the waiting exclusive actions. Must be called by the leader, with no batch open and no frame being flushed.
    /// </summary>
    public void DrainExclusive()
    {
        Debug.Assert(
            HasLeader && !IsFlushing && !writer.HasOpen, "3: an action runs with no batch open and no frame being flushed");
        while (_exclusive.TryDequeue(out Exclusive? exclusive))
            exclusive.Run();
    }

    /// <summary>
    /// Waits until an exclusive action is enqueued or <paramref name="isOver"/> returns true. Must be called by the leader.
    /// </summary>
    public void WaitForExclusive(Func<bool> isOver)
    {
        lock (_exclusive)
        {
            while (_exclusive.IsEmpty && !isOver())
                scheduler.Wait(_exclusive);
        }
    }

    /// <summary>Makes <see cref="WaitForExclusive"/> check its conditions again.</summary>
    public void Pulse()
    {
        lock (_exclusive)
            Monitor.PulseAll(_exclusive);
    }

    private bool HasLeader => (Volatile.Read(ref _state) & Led) != 0;

    private bool IsFlushing => (Volatile.Read(ref _state) & Flushing) != 0;

    /// <summary>
    /// Whether the calling thread is the leader. No lock is needed: only the leader itself stores and clears its id.
    /// </summary>
    private bool IsLeading => _leadingThread == Environment.CurrentManagedThreadId;

    /// <summary>
    /// Refuses, before anything is enqueued, to wait on the thread that leads or flushes: with no other threads, nobody else may
    /// ever do the work. Other threads wait for it.
    /// </summary>
    private void ThrowIfWaitingForItself()
    {
        if (isInline && (IsLeading || _flushingThread == Environment.CurrentManagedThreadId))
            throw new InvalidOperationException(
                "A command or sync of this environment is running on this thread, which would wait for itself: nothing was done. "
                + "Use WriteAsync there, or write when it has returned.");
    }

    /// <summary>
    /// Becomes the leader if there is none. The barrier ensures that a leader stepping down after this check sees what was
    /// enqueued before it (invariant 5).
    /// </summary>
    private bool TryLead()
    {
        Interlocked.MemoryBarrier();
        int state = Volatile.Read(ref _state);
        while ((state & Led) == 0)
        {
            int seen = Interlocked.CompareExchange(ref _state, state | Led, state);
            if (seen == state)
            {
                _leadingThread = Environment.CurrentManagedThreadId;
                return true;
            }

            state = seen;
        }

        return false;
    }

    /// <summary>
    /// Steps down while a frame is being flushed; the end of the flush leads again. Returns false, still leading, if the
    /// flush has already ended.
    /// </summary>
    private bool TryStepDownDuringFlush()
    {
        _leadingThread = 0;
        if (Interlocked.CompareExchange(ref _state, Flushing, Led | Flushing) == (Led | Flushing))
            return true;

        _leadingThread = Environment.CurrentManagedThreadId;
        return false;
    }

    private void StepDown()
    {
        _leadingThread = 0;
        int before = Interlocked.And(ref _state, ~Led);
        Debug.Assert((before & Led) != 0, "1: only the leader steps down");
    }

    /// <summary>Ends the flush; returns true if there was no leader, in which case the caller now leads.</summary>
    private bool EndFlush()
    {
        _flushingThread = 0;
        int state = Volatile.Read(ref _state);
        while (true)
        {
            Debug.Assert((state & Flushing) != 0, "2: a flush ends once");
            int seen = Interlocked.CompareExchange(ref _state, Led, state);
            if (seen == state)
                break;
            state = seen;
        }

        if ((state & Led) != 0)
            return false;

        _leadingThread = Environment.CurrentManagedThreadId;
        return true;
    }

    /// <summary>
    /// Leads until another thread takes over or no work is left. A serving caller leads as long as there is work: it is a
    /// thread started for that, or the only thread of an environment without background threads.
    /// </summary>
    private void Lead(WriteRequest? own, bool isServing)
    {
        while (true)
        {
            try
            {
                if (TryStep(own, ref isServing))
                    return;
            }
            catch (Exception error)
            {
                writer.Stop(error); // invariant 7: this thread still leads
            }
        }
    }

    /// <summary>One step of <see cref="Lead"/>; returns false while the caller still leads.</summary>
    private bool TryStep(WriteRequest? own, ref bool isServing)
    {
        if (!writer.HasOpen)
        {
            if (IsFlushing)
            {
                if (!_exclusive.IsEmpty || maintenance.IsDue)
                    return TryStepDownDuringFlush();
            }
            else
            {
                writer.FinishPublished();
                DrainExclusive();
                if (!writer.HasStopped)
                    maintenance.WhenIdle();
            }

            if (_queue.IsEmpty && !writer.HasRetries)
                return TryGoIdle();
            if (!isServing && own is not { IsStarted: false })
                return HandOver(ref isServing);
            if (!IsFlushing && maintenance.IsDue)
                maintenance.Run();
        }

        Debug.Assert(HasLeader, "1: only the leader runs commands");
        writer.Execute(this);
        if (!writer.HasOpen)
            return false;

        bool isFull = !writer.CanTakeMore;
        if (IsFlushing)
            return TryStepDownDuringFlush() && (isFull || _queue.IsEmpty || !TryLead());
        if (writer.Close())
            return !Flush(ref isServing);

        maintenance.AfterBatch();
        return false;
    }

    /// <summary>
    /// Writes the closed batch while other threads may lead; returns true if the caller leads again. Never throws: it must
    /// answer the callers of the batch.
    /// </summary>
    private bool Flush(ref bool isServing)
    {
        int before = Interlocked.Or(ref _state, Flushing);
        Debug.Assert(before == Led, "2: at most one frame is being flushed");
        _flushingThread = Environment.CurrentManagedThreadId;
        StepDown();
        if (!isInline && _queue.TryPeek(out WriteRequest? next))
            TryWake(next); // if no thread can be woken, the end of the flush finds the command

        RequestList answers = writer.Flush();
        bool isTaken = EndFlush() && (isServing || !TryHandOver(ref isServing));
        answers.Complete();
        maintenance.AfterBatch();
        return isTaken;
    }

    private bool TryHandOver(ref bool isServing)
    {
        try
        {
            return HandOver(ref isServing);
        }
        catch (Exception error)
        {
            writer.Stop(error);
            return false;
        }
    }

    /// <summary>Steps down with nothing to do; false, leading again, if work was enqueued meanwhile.</summary>
    private bool TryGoIdle()
    {
        StepDown();
        return (_queue.IsEmpty && _exclusive.IsEmpty) || !TryLead();
    }

    /// <summary>
    /// Steps down with work left, and wakes one of the waiting callers to lead. Returns false, leading again, if no thread
    /// can be started: then the caller serves.
    /// </summary>
    private bool HandOver(ref bool isServing)
    {
        while (true)
        {
            if (!writer.HasOpen && !IsFlushing)
            {
                writer.FinishPublished();
                DrainExclusive();
            }

            WriteRequest? next = writer.FindWaiter(MaxCandidates);
            if (next is null && !TryPeekWaiting(out next))
            {
                if (TryGoIdle())
                    return true;
                continue;
            }

            StepDown();
            if (TryWake(next) || !TryLead())
                return true;

            isServing = true;
            return false;
        }
    }

    /// <summary>
    /// Returns the first waiting command. Drops cancelled ones, whose callers would otherwise wake themselves over and over.
    /// Must be called by the leader.
    /// </summary>
    private bool TryPeekWaiting([NotNullWhen(true)] out WriteRequest? next)
    {
        while (_queue.TryPeek(out next) && next.IsDone)
            _queue.TryDequeue(out _);
        return next is not null;
    }

    /// <summary>Wakes or starts a thread to lead; false where none can be. Never throws.</summary>
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
            if (TryLead())
                Lead(null, isServing: true);
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
