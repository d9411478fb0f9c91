using Treepie.Storage.Journal;

namespace Treepie.Storage.Transactions;

/// <summary>Decides when checkpoints run: by journal volume, by scratch in use, some time after a relaxed commit, when asked, and at the end.</summary>
internal sealed class CheckpointRunner(
    EnvironmentState state, Checkpointer checkpointer, CommitLane lane, Background background, StorageOptions options, JournalWriter? journal, TimeProvider clock) : IDisposable
{
    private readonly Gate _gate = new(background.Scheduler);
    private ITimer? _timer;
    private int _isRequested;
    private volatile bool _isStopped;
    private Exception? _error;

    /// <summary>What the last attempt failed with, or null.</summary>
    public Exception? LastError => Volatile.Read(ref _error);

    /// <summary>Whether this session took the mark of a clean close away.</summary>
    public bool HasMarked { get; private set; }

    /// <summary>
    /// Before the first batch after a clean close: takes the mark away, durably, and names the journal use that follows, so that an
    /// opener who finds no such file knows that acknowledged data is missing. Holding the lane.
    /// </summary>
    /// <remarks>
    /// Once in a session: the new use's header and its sync, then a checkpoint with no pages. A failure to write the checkpoint is no reason
    /// to refuse the batch, whose frame is as safe as any; the next batch tries again. A failure of the journal stops writing, as always.
    /// </remarks>
    public void MarkInUse()
    {
        if (journal is null || !state.Durable.IsClean || state.Failure is not null || !_gate.TryEnter())
            return;

        try
        {
            if (!TryBeginUse())
                return;

            checkpointer.Begin(isClean: false);
            checkpointer.Write(CancellationToken.None);
            checkpointer.End();
            HasMarked = true;
            Volatile.Write(ref _error, null);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            checkpointer.GiveUp();
            Volatile.Write(ref _error, error);
        }
        finally
        {
            _gate.Leave();
        }
    }

    /// <summary>Runs one, unless everything is written already. Blocks; must not be called holding the lane.</summary>
    public void Run(bool isClean, CancellationToken cancellationToken)
    {
        _gate.Enter(cancellationToken);
        try
        {
            if (state.Failure is { } failure && failure is not ObjectDisposedException)
                throw new CommitOutcomeUnknownException($"No checkpoint after the journal failed: {failure.Message}", failure);

            bool isNeeded = false;
            lane.RunExclusive(() =>
            {
                isNeeded = !checkpointer.IsUpToDate || (isClean && !state.Durable.IsClean);
                if (isNeeded)
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
                lane.RunExclusive(checkpointer.GiveUp);
                throw;
            }

            lane.RunExclusive(checkpointer.End);
            Volatile.Write(ref _error, null);
        }
        catch (Exception error) when (error is not OperationCanceledException)
        {
            Volatile.Write(ref _error, error);
            throw;
        }
        finally
        {
            _gate.Leave();
        }
    }

    /// <summary>The last one, at closing. Where it fails the journal still has everything, so closing goes on.</summary>
    public void TryRunLast()
    {
        try
        {
            Run(isClean: true, CancellationToken.None);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            Volatile.Write(ref _error, error);
        }
    }

    /// <summary>Whether <see cref="RunDuties"/> has something to do. Holding the lane.</summary>
    public bool HasDuties => state.Failure is null
        && ((journal is not null && state.Durable.IsClean) || (background.IsAllowed && state.UnwrittenBytes >= options.ScratchBudgetBytes));

    private bool IsDue => state.UnwrittenBytes >= options.ScratchBudgetBytes / 2
        || (journal is not null && journal.BytesSinceCheckpoint >= options.MaxJournalFileBytes);

    /// <summary>What comes before a batch. Holding the lane, with no frame in flight.</summary>
    public void RunDuties()
    {
        MarkInUse();
        Throttle();
    }

    /// <summary>Without other threads: a checkpoint that is due runs here and now. Holding the lane, with nothing open and nothing in flight.</summary>
    public void RunDueInLine()
    {
        if (!background.IsAllowed && IsDue)
            TryRunInLine();
    }

    /// <summary>Makes writers wait while scratch is over its budget. Holding the lane.</summary>
    public void Throttle()
    {
        if (!background.IsAllowed || state.UnwrittenBytes < options.ScratchBudgetBytes || state.Failure is not null)
            return;

        while (state.UnwrittenBytes >= options.ScratchBudgetBytes && Request())
        {
            lane.WaitForExclusive(() => Volatile.Read(ref _isRequested) == 0);
            lane.DrainExclusive();
            if (LastError is not null)
                return; // scratch has room beyond its budget; the next batch tries again
        }
    }

    /// <summary>Runs one to its end, and the one under way before it. Holding the lane.</summary>
    public void RunHoldingLane()
    {
        if (!background.IsAllowed)
        {
            TryRunInLine();
            return;
        }

        // One may be under way that began before the pages in question were freed.
        for (int i = 0; i < 2 && !checkpointer.IsUpToDate && Request(); i++)
        {
            while (Volatile.Read(ref _isRequested) != 0)
            {
                lane.WaitForExclusive(() => Volatile.Read(ref _isRequested) == 0);
                lane.DrainExclusive();
            }
        }
    }

    /// <summary>After a batch: begins a checkpoint where one is due. By any thread.</summary>
    public void AfterBatch()
    {
        if (!background.IsAllowed)
            return; // see RunDueInLine

        if (IsDue)
            Request();
        else if (journal is null && !checkpointer.IsUpToDate && Volatile.Read(ref _timer) is null)
            StartTimer();
    }

    /// <summary>Lets no further one begin by itself.</summary>
    public void Stop()
    {
        _isStopped = true;
        Interlocked.Exchange(ref _timer, null)?.Dispose();
    }

    public void Dispose() => Stop();

    /// <summary>Without other threads: here and now, in the lane.</summary>
    private void TryRunInLine()
    {
        if (checkpointer.IsUpToDate || state.Failure is not null || !_gate.TryEnter())
            return; // one may be under way, for whose syncs the lane is free

        try
        {
            checkpointer.Begin(isClean: false);
            checkpointer.Write(CancellationToken.None);
            checkpointer.End();
            _error = null;
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            checkpointer.GiveUp();
            _error = error;
        }
        finally
        {
            _gate.Leave();
        }
    }

    private bool TryBeginUse()
    {
        try
        {
            journal!.BeginUse(); // there is one: see MarkInUse
            return true;
        }
        catch (DiskFullException)
        {
            return false; // the batch will find out too, and say so
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            state.Failure = error;
            return false;
        }
    }

    private bool Request()
    {
        if (!background.IsAllowed || _isStopped)
            return false;
        if (Interlocked.Exchange(ref _isRequested, 1) != 0)
            return true;

        background.Run(() =>
        {
            try
            {
                Run(isClean: false, CancellationToken.None);
            }
            catch (Exception error) when (error is StorageException or IOException)
            {
                Volatile.Write(ref _error, error);
            }
            finally
            {
                Volatile.Write(ref _isRequested, 0);
                lane.Pulse();
            }
        });
        return true;
    }

    private void StartTimer()
    {
        ITimer timer = clock.CreateTimer(
            _ =>
            {
                Interlocked.Exchange(ref _timer, null)?.Dispose();
                Request();
            },
            null, options.RelaxedDelay, Timeout.InfiniteTimeSpan);
        Volatile.Write(ref _timer, timer);
    }
}
