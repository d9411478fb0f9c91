using Treepie.Storage.Journal;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Decides when checkpoints run: by journal size, by scratch in use, some time after a relaxed commit, on request, and at
/// close.
/// </summary>
internal sealed class CheckpointRunner(
    EnvironmentState state, Checkpointer checkpointer, CommitQueue commits, Background background, Lifetime lifetime,
    StorageOptions options, JournalWriter? journal,
    TimeProvider clock) : IDisposable
{
    /// <summary>An idle environment leaves at most this fraction of its memory budget unwritten.</summary>
    private const int IdleDivisor = 16;

    private readonly Gate _gate = new(background.Scheduler);
    private ITimer? _timer;
    private int _isRequested;
    private volatile bool _isStopped;
    private ITimer? _retry;
    private ITimer? _idle;
    private long _batches;

    /// <summary>Outcomes of checkpoints.</summary>
    public CheckpointHealth Health { get; } = new(clock);

    /// <summary>The error of the last attempt, or null if it succeeded.</summary>
    public Exception? LastError => Health.LastError;

    /// <summary>
    /// Whether checkpoints keep failing and so much is waiting for one that no more writes can be accepted: the journal or
    /// memory has reached its limit. Not if writing has stopped, which says why by itself.
    /// </summary>
    public bool IsAtBound => Health.Failures > 0
        && state.Failure is null
        && (state.UnwrittenBytes >= 2 * state.Store.UnwrittenBudgetBytes
            || (journal is not null && journal.BytesSinceCheckpoint >= options.MaxJournalBytes));

    /// <summary>
    /// Throws if <see cref="IsAtBound"/>, after one more attempt if a retry is due. Otherwise data waiting for failing
    /// checkpoints would fill disk and memory.
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
                + $"one. Nothing is lost; reads still work. Repair the disk; checkpoints are retried automatically.",
                LastError);
    }

    /// <summary>Whether this session has cleared the clean-close mark.</summary>
    public bool HasMarked { get; private set; }

    /// <summary>
    /// Before the first batch after a clean close: durably clears the clean-close mark and names the journal use that
    /// follows, so that an opener that does not find its file knows that acknowledged data is missing. Must be called by the
    /// leader.
    /// </summary>
    /// <remarks>
    /// Runs once per session: it writes and syncs the header of the new use, then writes a checkpoint with no pages. If the
    /// checkpoint cannot be written, the batch is still accepted, since its frame is as safe as any; the next batch tries
    /// again. A journal failure stops writing, as always.
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

    /// <summary>Runs a checkpoint unless everything is already written. Blocks; must not be called by the leader.</summary>
    /// <exception cref="ObjectDisposedException">Closing has begun: it writes the last checkpoint itself.</exception>
    public void Run(CancellationToken cancellationToken) =>
        Run(isForced: false, long.MaxValue, endsWithClosing: true, cancellationToken);

    /// <summary>Like <see cref="Run(CancellationToken)"/>, but runs even if everything is already written.</summary>
    public void RunForced(CancellationToken cancellationToken) => RunToShrink(long.MaxValue, cancellationToken);

    /// <summary>
    /// Like <see cref="RunForced"/>, but also runs after closing has begun: for the remaining steps of an operation that
    /// closing waits for, and that must not be left half done.
    /// </summary>
    public void RunForcedToEnd() => Run(isForced: true, long.MaxValue, endsWithClosing: false, CancellationToken.None);

    /// <summary>
    /// Like <see cref="RunForced"/>, but also moves a bitmap that lies at or beyond page <paramref name="boundary"/>.
    /// </summary>
    public void RunToShrink(long boundary, CancellationToken cancellationToken) =>
        Run(isForced: true, boundary, endsWithClosing: true, cancellationToken);

    /// <summary>
    /// Returns everything beyond the last page in use, and some kept ones, to the system. Must not be called by the leader.
    /// </summary>
    public void Cut(long keptPages) => commits.RunExclusive(() => checkpointer.Cut(keptPages));

    /// <summary>
    /// The only path to a checkpoint for callers that are not the leader, except for the last one: each is a step of an
    /// operation with a lease, for which closing waits.
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
                // No frame is being flushed here. A frame that failed may have been the first of a use whose header is not on
                // disk.
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

    /// <summary>Runs a whole checkpoint as the leader. An error is recorded in <see cref="Health"/>.</summary>
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

    /// <summary>Publishes a durable checkpoint. Stops writing on an error, because the state is then half updated.</summary>
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

    /// <summary>
    /// Tries to run a checkpoint; a failure is recorded in <see cref="Health"/>. Must not be called by the leader.
    /// </summary>
    public void TryRun()
    {
        try
        {
            Run(CancellationToken.None);
        }
        catch (Exception error) when (error is not ObjectDisposedException)
        {
            // Already recorded by Run.
        }
    }

    /// <summary>
    /// Writes the last checkpoint, at close. If it fails, the journal still has everything, so closing continues.
    /// </summary>
    public void TryRunLast()
    {
        try
        {
            // No other thread is left, so the gate is free.
            RunInGate(isClean: true, isForced: false, long.MaxValue, CancellationToken.None);
            Cut(PageWriter.ReservedPages); // so that the next session can delete, even if the disk is full by then
        }
        catch (Exception)
        {
            // Already recorded by RunInGate.
        }
    }

    /// <summary>Whether <see cref="RunMaintenance"/> has work to do. Must be called by the leader.</summary>
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
    /// Journal bytes between checkpoints: one file for a small store, up to four for a large one, where each random change
    /// touches a different page, so that a checkpoint half as often writes little more. Recovery reads that much: about a
    /// second.
    /// </summary>
    private long JournalInterval =>
        Math.Clamp(state.Store.FileBytes / 2, options.MaxJournalFileBytes, 4 * options.MaxJournalFileBytes);

    /// <summary>Maintenance before a batch. Must be called by the leader, with no frame being flushed.</summary>
    public void RunMaintenance()
    {
        MarkInUse();
        Throttle();
    }

    /// <summary>
    /// Without background threads, runs a due checkpoint on this thread. Must be called by the leader, with no batch open and
    /// no frame being flushed.
    /// </summary>
    public void RunIfDueWithoutThreads()
    {
        if (!background.IsAllowed && IsDue)
            TryRunHere();
    }

    /// <summary>Makes writers wait while scratch or journal exceed their budgets. Must be called by the leader.</summary>
    public void Throttle()
    {
        if (!background.IsAllowed || !IsFull || state.Failure is not null || Health.Failures > 0)
            return; // while they fail, scratch may exceed its budget, up to IsAtBound

        while (IsFull)
        {
            if (!Request())
            {
                TryRunHere(); // no thread can be started, and there is no other way to make room
                return;
            }

            commits.WaitForExclusive(() => Volatile.Read(ref _isRequested) == 0);
            commits.DrainExclusive();
            if (LastError is not null)
                return;
        }
    }

    /// <summary>Runs a checkpoint to its end, after any that is already running. Must be called by the leader.</summary>
    public void RunAsLeader()
    {
        if (!background.IsAllowed)
        {
            TryRunHere();
            return;
        }

        // A running checkpoint may have begun before the pages in question were freed, so a second one may be needed.
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

    /// <summary>Called after each batch, on any thread: requests a checkpoint if one is due.</summary>
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

    /// <summary>Lets no further checkpoint start by itself.</summary>
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

    /// <summary>Runs a checkpoint on this thread if no other is running. Must be called by the leader.</summary>
    private void TryRunHere()
    {
        if (checkpointer.IsUpToDate || state.Failure is not null || !_gate.TryEnter())
            return; // another may be running: it does not lead during its syncs

        try
        {
            WriteAsLeader();
        }
        finally
        {
            _gate.Leave();
        }
    }

    /// <summary>Records a failure, and schedules a retry when the wait after it is over.</summary>
    private void OnFailed(Exception error)
    {
        Health.Failed(error);
        StartRetryTimerIfNeeded();
    }

    private void StartRetryTimerIfNeeded()
    {
        if (!background.IsAllowed || _isStopped || Health.Failures == 0)
            return;

        TimeSpan wait = Health.WaitLeft;
        if (background.TryCreateTimer(
            clock, () => Request(), wait > TimeSpan.Zero ? wait : TimeSpan.Zero, StartRetryTimerIfNeeded) is not { } timer)
            return;

        Interlocked.Exchange(ref _retry, timer)?.Dispose();
        if (_isStopped)
            Interlocked.Exchange(ref _retry, null)?.Dispose();
    }

    private bool TryBeginUse()
    {
        try
        {
            journal!.BeginUse(); // not null: MarkInUse has checked
            return true;
        }
        catch (Exception error) when (error is DiskFullException or OpenFileLimitException)
        {
            return false; // the batch will fail with the same error
        }
        catch (Exception error)
        {
            state.Failure = error;
            return false;
        }
    }

    /// <summary>
    /// Requests a checkpoint on another thread unless one is already requested; false if none can be started.
    /// </summary>
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
    /// Releases memory: writes a checkpoint if more than a little is unwritten, and trims scratch. Frames held by open
    /// readers stay; they are released once the readers have ended and someone writes again, or at the next call.
    /// </summary>
    private void GiveMemoryBack()
    {
        if (state.UnwrittenBytes > options.MemoryBudgetBytes / IdleDivisor)
            TryRun();
        commits.RunExclusive(() =>
        {
            state.Reclaim();
            state.Store.Scratch.Trim();
            journal?.Buffer.Trim();
        });
        if (state.Store.Scratch.BytesInUse > options.MemoryBudgetBytes / IdleDivisor)
            StartIdleTimerIfNeeded();
    }

    private void StartIdleTimerIfNeeded()
    {
        if (_isStopped || Volatile.Read(ref _idle) is not null)
            return;

        long seen = Interlocked.Read(ref _batches);
        Action onTimer = () =>
        {
            Interlocked.Exchange(ref _idle, null)?.Dispose();
            if (Interlocked.Read(ref _batches) != seen)
                StartIdleTimerIfNeeded(); // it was not idle
            else if (!_isStopped)
                background.Run(GiveMemoryBack);
        };
        if (background.TryCreateTimer(clock, onTimer, Timeout.InfiniteTimeSpan, StartIdleTimerIfNeeded) is not { } timer)
            return;

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
    /// Also called after a checkpoint: for a commit made while a long checkpoint was being written, the timer may have fired
    /// without effect.
    /// </summary>
    private void StartTimerIfNeeded()
    {
        if (journal is not null
            || checkpointer.IsUpToDate
            || _isStopped
            || Health.Failures > 0
            || Volatile.Read(ref _timer) is not null)
            return; // a failure has its own retry timer

        Action onTimer = () =>
        {
            Interlocked.Exchange(ref _timer, null)?.Dispose();
            Request();
        };
        if (background.TryCreateTimer(clock, onTimer, Timeout.InfiniteTimeSpan, StartTimerIfNeeded) is not { } timer)
            return;

        // Start it only after it is stored: if it fired earlier, the expired timer would stay stored and block later ones.
        Volatile.Write(ref _timer, timer);
        timer.Change(options.RelaxedDelay, Timeout.InfiniteTimeSpan);
    }
}
