using Treepie.Storage.Journal;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Decides when checkpoints run: by journal volume, by scratch in use, some time after a relaxed commit, when asked, and at the
/// end.
/// </summary>
internal sealed class CheckpointRunner(
    EnvironmentState state, Checkpointer checkpointer, CommitQueue commits, Background background, Lifetime lifetime,
    StorageOptions options, JournalWriter? journal,
    TimeProvider clock) : IDisposable
{
    /// <summary>
    /// An idle environment leaves less than this part of its budget unwritten: it would be written sooner or later anyway.
    /// </summary>
    private const int IdleDivisor = 16;

    private readonly Gate _gate = new(background.Scheduler);
    private ITimer? _timer;
    private int _isRequested;
    private volatile bool _isStopped;
    private ITimer? _retry;
    private ITimer? _idle;
    private long _batches;

    /// <summary>How they go.</summary>
    public CheckpointHealth Health { get; } = new(clock);

    /// <summary>What the last attempt failed with, or null.</summary>
    public Exception? LastError => Health.LastError;

    /// <summary>
    /// Whether so much waits for a checkpoint, and they keep failing, that no more can be taken: the journal is at its bound, or
    /// memory is.
    /// </summary>
    public bool IsAtBound => Health.Failures > 0
        && (state.UnwrittenBytes >= 2 * state.Store.UnwrittenBudgetBytes
            || (journal is not null && journal.BytesSinceCheckpoint >= options.MaxJournalBytes));

    /// <summary>
    /// A bound is no place to be silent: what waits for checkpoints that keep failing would fill disk and memory.
    /// </summary>
    public void ThrowIfAtBound(string path)
    {
        if (!IsAtBound)
            return;

        if (Health.WaitLeft <= TimeSpan.Zero)
            TryRun();
        if (IsAtBound)
            throw new StorageException(
                $"Writing to '{path}' is refused until a checkpoint succeeds: {Health.Failures} in a row have failed, the last "
                + $"with: {LastError?.Message} "
                + $"{journal?.BytesSinceCheckpoint ?? 0} bytes of journal and {state.UnwrittenBytes} bytes of memory wait for "
                + $"one. Nothing is lost; reads go on. Mend the disk; it is tried again by itself.",
                LastError);
    }

    /// <summary>Whether this session took the mark of a clean close away.</summary>
    public bool HasMarked { get; private set; }

    /// <summary>
    /// Before the first batch after a clean close: takes the mark away, durably, and names the journal use that follows, so that
    /// an opener who finds no such file knows that acknowledged data is missing. For the leader.
    /// </summary>
    /// <remarks>
    /// Once in a session: the new use's header and its sync, then a checkpoint with no pages. A failure to write the checkpoint
    /// is no reason to refuse the batch, whose frame is as safe as any; the next batch tries again. A failure of the journal
    /// stops writing, as always.
    /// </remarks>
    public void MarkInUse()
    {
        if (journal is null
            || !state.Durable.IsClean
            || state.Failure is not null
            || Health.WaitLeft > TimeSpan.Zero
            || !_gate.TryEnter())
            return;

        try
        {
            if (!TryBeginUse())
                return;

            WriteAsLeader();
            HasMarked |= LastError is null;
        }
        finally
        {
            _gate.Leave();
        }
    }

    /// <summary>Runs one, unless everything is written already. Blocks; the leader must not call it.</summary>
    /// <exception cref="ObjectDisposedException">Closing has begun: the last one is the closing's own.</exception>
    public void Run(CancellationToken cancellationToken) =>
        Run(isForced: false, long.MaxValue, endsWithClosing: true, cancellationToken);

    /// <summary>Runs one even if everything is written already. As <see cref="Run(CancellationToken)"/>.</summary>
    public void RunForced(CancellationToken cancellationToken) => RunToShrink(long.MaxValue, cancellationToken);

    /// <summary>
    /// As <see cref="RunForced"/>, for the rest of something that closing waits for, because half of it is worse than all.
    /// </summary>
    public void RunForcedToEnd() => Run(isForced: true, long.MaxValue, endsWithClosing: false, CancellationToken.None);

    /// <summary>
    /// Runs one even if everything is written already, and puts a bitmap from a page on elsewhere. As
    /// <see cref="Run(CancellationToken)"/>.
    /// </summary>
    public void RunToShrink(long boundary, CancellationToken cancellationToken) =>
        Run(isForced: true, boundary, endsWithClosing: true, cancellationToken);

    /// <summary>Gives all beyond the last page in use back to the system. The leader must not call it.</summary>
    public void Cut() => commits.RunExclusive(() => checkpointer.Cut(keptPages: 0));

    /// <summary>
    /// The only way to a checkpoint that does not lead, but for the last one: each is a step of an operation with a lease,
    /// for which closing waits.
    /// </summary>
    private void Run(bool isForced, long boundary, bool endsWithClosing, CancellationToken cancellationToken)
    {
        using Lifetime.Lease lease = lifetime.Hold();
        _gate.Enter(cancellationToken);
        try
        {
            if (endsWithClosing)
                lifetime.ThrowIfClosing();
            RunInGate(isClean: false, isForced, boundary, cancellationToken);
        }
        finally
        {
            _gate.Leave();
        }
    }

    private void RunInGate(bool isClean, bool isForced, long boundary, CancellationToken cancellationToken)
    {
        try
        {
            bool isNeeded = false;
            commits.RunExclusive(() =>
            {
                // Here no frame is being flushed: one that failed may have been the first of a use whose header is nowhere.
                if (state.Failure is { } failure)
                    throw new WritingStoppedException(
                        $"No checkpoint is written after an error: {failure.Message} The journal has what was committed.",
                        failure);

                isNeeded = isForced || !checkpointer.IsUpToDate || (isClean && !state.Durable.IsClean);
                if (!isNeeded)
                {
                    checkpointer.MakeFoundDurable();
                    return;
                }

                HasMarked |= !isClean;
                checkpointer.MoveBitmapsFrom = boundary;
                checkpointer.Begin(isClean);
            });
            if (!isNeeded)
                return;

            try
            {
                checkpointer.Write(cancellationToken);
            }
            catch
            {
                commits.RunExclusive(checkpointer.GiveUp);
                throw;
            }

            commits.RunExclusive(End);
            Health.Succeeded();
        }
        catch (Exception error) when (error is not OperationCanceledException)
        {
            OnFailed(error);
            throw;
        }
    }

    /// <summary>Runs one from begin to end. For the leader. What it fails with is noted in <see cref="Health"/>.</summary>
    private void WriteAsLeader()
    {
        try
        {
            checkpointer.Begin(isClean: false);
            checkpointer.Write(CancellationToken.None);
        }
        catch (Exception error)
        {
            checkpointer.GiveUp();
            OnFailed(error);
            return;
        }

        End();
        Health.Succeeded();
    }

    /// <summary>The checkpoint is durable. Half of what is handed out then is no state to go on from.</summary>
    private void End()
    {
        try
        {
            checkpointer.End();
        }
        catch (Exception error)
        {
            state.Failure ??= error;
            throw;
        }
    }

    /// <summary>Tries one; a failure is noted in <see cref="Health"/>. The leader must not call it.</summary>
    public void TryRun()
    {
        try
        {
            Run(CancellationToken.None);
        }
        catch (Exception error) when (error is not ObjectDisposedException)
        {
            // Run has noted it.
        }
    }

    /// <summary>The last one, at closing. Where it fails the journal still has everything, so closing goes on.</summary>
    public void TryRunLast()
    {
        try
        {
            // nobody else is left, so the gate is free
            RunInGate(isClean: true, isForced: false, long.MaxValue, CancellationToken.None);
            Cut();
        }
        catch (Exception)
        {
            // Run has noted it.
        }
    }

    /// <summary>Whether <see cref="RunMaintenance"/> has something to do. For the leader.</summary>
    public bool IsMaintenanceDue => state.Failure is null
        && ((journal is not null && state.Durable.IsClean && Health.WaitLeft <= TimeSpan.Zero)
            || (background.IsAllowed && IsFull && Health.Failures == 0));

    private bool IsFull =>
        state.UnwrittenBytes >= state.Store.UnwrittenBudgetBytes
            || (journal is not null && journal.BytesSinceCheckpoint >= options.MaxJournalBytes);

    private bool IsDue => Health.WaitLeft <= TimeSpan.Zero
        && (state.UnwrittenBytes >= state.Store.UnwrittenBudgetBytes / 2
            || (journal is not null && journal.BytesSinceCheckpoint >= JournalInterval));

    /// <summary>
    /// Journal between checkpoints: one file's worth for a small store, up to four for a large one, where random changes touch a
    /// page each, so that a checkpoint twice as late writes hardly more. A recovery reads that much: about a second.
    /// </summary>
    private long JournalInterval =>
        Math.Clamp(state.Store.FileBytes / 2, options.MaxJournalFileBytes, 4 * options.MaxJournalFileBytes);

    /// <summary>What comes before a batch. For the leader, with no frame being flushed.</summary>
    public void RunMaintenance()
    {
        MarkInUse();
        Throttle();
    }

    /// <summary>
    /// Without other threads: a checkpoint that is due runs here and now. For the leader, with no batch open and
    /// no frame being flushed.
    /// </summary>
    public void RunIfDueWithoutThreads()
    {
        if (!background.IsAllowed && IsDue)
            TryRunHere();
    }

    /// <summary>Makes writers wait while scratch or journal are over their budgets. For the leader.</summary>
    public void Throttle()
    {
        if (!background.IsAllowed || !IsFull || state.Failure is not null || Health.Failures > 0)
            return; // where they fail, scratch has room beyond its budget, up to IsAtBound

        while (IsFull)
        {
            if (!Request())
            {
                TryRunHere(); // no thread can be started for it, and more must not wait
                return;
            }

            commits.WaitForExclusive(() => Volatile.Read(ref _isRequested) == 0);
            commits.DrainExclusive();
            if (LastError is not null)
                return;
        }
    }

    /// <summary>Runs one to its end, and the one under way before it. For the leader.</summary>
    public void RunAsLeader()
    {
        if (!background.IsAllowed)
        {
            TryRunHere();
            return;
        }

        // One may be under way that began before the pages in question were freed.
        for (int i = 0; i < 2 && !checkpointer.IsUpToDate; i++)
        {
            if (!Request())
            {
                TryRunHere();
                return;
            }

            while (Volatile.Read(ref _isRequested) != 0)
            {
                commits.WaitForExclusive(() => Volatile.Read(ref _isRequested) == 0);
                commits.DrainExclusive();
            }
        }
    }

    /// <summary>After a batch: begins a checkpoint where one is due. By any thread.</summary>
    public void AfterBatch()
    {
        if (!background.IsAllowed)
            return; // see RunIfDueWithoutThreads

        Interlocked.Increment(ref _batches);
        StartIdleTimerIfNeeded();
        if (IsDue)
            Request();
        else
            StartTimerIfNeeded();
    }

    /// <summary>Lets no further one begin by itself.</summary>
    public void Stop()
    {
        _isStopped = true;
        Interlocked.Exchange(ref _timer, null)?.Dispose();
        Interlocked.Exchange(ref _retry, null)?.Dispose();
        Interlocked.Exchange(ref _idle, null)?.Dispose();
    }

    public void Dispose()
    {
        Stop();
        checkpointer.Dispose();
    }

    /// <summary>Runs one here and now, where there is no other thread for it. For the leader.</summary>
    private void TryRunHere()
    {
        if (checkpointer.IsUpToDate || state.Failure is not null || !_gate.TryEnter())
            return; // one may be under way, which does not lead during its syncs

        try
        {
            WriteAsLeader();
        }
        finally
        {
            _gate.Leave();
        }
    }

    /// <summary>Notes a failure, and comes back when the wait after it is over.</summary>
    private void OnFailed(Exception error)
    {
        Health.Failed(error);
        if (!background.IsAllowed || _isStopped)
            return;

        ITimer timer = clock.CreateTimer(
            _ => Request(), null, Health.WaitLeft > TimeSpan.Zero ? Health.WaitLeft : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        Interlocked.Exchange(ref _retry, timer)?.Dispose();
        if (_isStopped)
            Interlocked.Exchange(ref _retry, null)?.Dispose();
    }

    private bool TryBeginUse()
    {
        try
        {
            journal!.BeginUse(); // there is one: see MarkInUse
            return true;
        }
        catch (Exception error) when (error is DiskFullException or OpenFileLimitException)
        {
            return false; // the batch will find out too, and say so
        }
        catch (Exception error)
        {
            state.Failure = error;
            return false;
        }
    }

    /// <summary>Lets one begin on another thread, unless one is about to; false where none can.</summary>
    private bool Request()
    {
        if (!background.IsAllowed || _isStopped)
            return false;
        if (Interlocked.Exchange(ref _isRequested, 1) != 0)
            return true;

        bool isStarted = background.Run(() =>
        {
            try
            {
                TryRun();
            }
            finally
            {
                Volatile.Write(ref _isRequested, 0);
                commits.Pulse();
                StartTimerIfNeeded();
            }
        });
        if (isStarted)
            return true;

        Volatile.Write(ref _isRequested, 0);
        commits.Pulse();
        return false;
    }

    /// <summary>
    /// Gives memory back: writes what waits for a checkpoint, where that is more than a little, and trims scratch. What open
    /// readers hold stays; it goes when they have ended and somebody writes again, or the next time here.
    /// </summary>
    private void GiveMemoryBack()
    {
        if (state.UnwrittenBytes > options.MemoryBudgetBytes / IdleDivisor)
            TryRun();
        commits.RunExclusive(() =>
        {
            state.Reclaim();
            state.Store.Scratch.Trim();
        });
        if (state.Store.Scratch.BytesInUse > options.MemoryBudgetBytes / IdleDivisor)
            StartIdleTimerIfNeeded();
    }

    private void StartIdleTimerIfNeeded()
    {
        if (_isStopped || Volatile.Read(ref _idle) is not null)
            return;

        long seen = Interlocked.Read(ref _batches);
        ITimer timer = clock.CreateTimer(
            _ =>
            {
                Interlocked.Exchange(ref _idle, null)?.Dispose();
                if (Interlocked.Read(ref _batches) != seen)
                    StartIdleTimerIfNeeded(); // it was not idle
                else if (!_isStopped)
                    background.Run(GiveMemoryBack);
            },
            null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        if (Interlocked.CompareExchange(ref _idle, timer, null) is not null)
        {
            timer.Dispose(); // another thread was first
            return;
        }

        timer.Change(options.IdleDelay, Timeout.InfiniteTimeSpan);
        if (_isStopped)
            Interlocked.Exchange(ref _idle, null)?.Dispose();
    }

    /// <summary>
    /// Also after a checkpoint: the timer of a commit that came while it was written went off to no purpose if that took long.
    /// </summary>
    private void StartTimerIfNeeded()
    {
        if (journal is not null
            || checkpointer.IsUpToDate
            || _isStopped
            || Health.Failures > 0
            || Volatile.Read(ref _timer) is not null)
            return; // after a failure there is a timer of its own

        ITimer timer = clock.CreateTimer(
            _ =>
            {
                Interlocked.Exchange(ref _timer, null)?.Dispose();
                Request();
            },
            null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);

        // It runs only when it stands there: one that went off before would stay, and none would follow it.
        Volatile.Write(ref _timer, timer);
        timer.Change(options.RelaxedDelay, Timeout.InfiniteTimeSpan);
    }
}
