using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Indexing.Schema;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Keeps one index up to date with the document log, in the background: reads the changes since the last batch, extracts the
/// fields, commits them with the etag, and waits for more. Idle while nothing changes. A document that cannot be indexed is
/// recorded as an error and skipped; any other error, such as one of the disk, is recorded, and the work is tried again at the
/// next change or after a pause, which doubles with each failure.
/// </summary>
/// <remarks>
/// An index to which fields are added keeps indexing with its existing fields, and between batches its entries get the new
/// ones in the order of the log. Once all entries have them, batches write all fields.
/// </remarks>
internal sealed class DocumentIndexer
{
    private static readonly TimeSpan _firstPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan _longestPause = TimeSpan.FromMinutes(1);

    private readonly DocumentIndex _index;
    private readonly IndexingContext _context;
    private readonly IndexSwitch _switch;
    private readonly CancellationTokenSource _stop;
    private readonly ChangeSignal _wake = new();
    private readonly BatchMapper _mapper;
    private readonly MapBatch?[] _batches = new MapBatch?[2];
    private FieldRange _batchFields;
    private IndexWriter? _batchesOf;
    private readonly OutputWriter? _outputs;
    private (long Reached, bool IsComplete)? _unreported;
    private bool _hasWorkedMuch;
    private TimeSpan _pause = _firstPause;
    private Task _running = Task.CompletedTask;

    public DocumentIndexer(DocumentIndex index, IndexingContext context, IndexSwitch onOff, CancellationToken stop)
    {
        _index = index;
        _context = context;
        _switch = onOff;
        _mapper = new BatchMapper(index, context);
        _outputs = index.Outputs is { } outputs ? new OutputWriter(index, outputs, context) : null;
        index.Wanted = Wake;
        _stop = CancellationTokenSource.CreateLinkedTokenSource(stop);
    }

    public DocumentIndex Index => _index;

    /// <summary>Starts indexing. Calls back, once, when the index has caught up for the first time.</summary>
    public void Start(Action<DocumentIndexer> caughtUp)
    {
        if (_index.TryHold())
            _running = Task.Run(() => RunAsync(caughtUp));
    }

    /// <summary>Wakes it, to add new fields and requested compound keys.</summary>
    public void Wake() => _wake.Publish(_wake.LastEtag + 1);

    /// <summary>
    /// Stops the indexer and closes the index; completes when the current batch has been abandoned. The files may be deleted
    /// later, see <see cref="DocumentIndex"/>.
    /// </summary>
    public async Task StopAsync(bool deleteFiles)
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        _index.Close(deleteFiles);
        await _running.ConfigureAwait(false);
        _stop.Dispose();
    }

    private async Task RunAsync(Action<DocumentIndexer> caughtUp)
    {
        CancellationToken stop = _stop.Token;
        bool wasCaughtUp = false;
        try
        {
            while (true)
            {
                await _switch.WaitUntilOnAsync(stop).ConfigureAwait(false);
                long woken = _wake.LastEtag;
                _unreported = null;
                (long reached, bool isComplete) = await TakeTurnAsync(stop).ConfigureAwait(false);
                if (wasCaughtUp)
                    await WriteOutputsAsync(stop).ConfigureAwait(false);
                if (!isComplete)
                    continue;

                if (!wasCaughtUp && !(_outputs is null ? _index.Progress.IsFaulted : _unreported is null))
                {
                    wasCaughtUp = true;
                    caughtUp(this);
                    // It has replaced an index that wrote the outputs until now.
                    await WriteOutputsAsync(stop).ConfigureAwait(false);
                }

                if (!await LearnAsync(stop).ConfigureAwait(false))
                    continue;
                if (!await TidyAsync(reached, woken, stop).ConfigureAwait(false))
                    continue;
                ReleaseMemory();
                await WaitAsync(reached, woken, stop).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException)
        {
            // Stopped.
        }
        catch (ObjectDisposedException)
        {
            // The database closed.
        }
        finally
        {
            _index.Release();
        }
    }

    /// <summary>Writes the output documents of its groups. Only then is the etag of their changes reported as reached.</summary>
    private async Task WriteOutputsAsync(CancellationToken stop)
    {
        if (_outputs is null || _unreported is not { } turn)
            return;
        try
        {
            await _outputs.WriteAsync(stop).ConfigureAwait(false);
            _unreported = null;
            _index.Progress.ReportReached(turn.Reached, turn.IsComplete);
        }
        catch (Exception error) when (error is not OperationCanceledException && !stop.IsCancellationRequested)
        {
            // The outputs remain pending.
            _index.Progress.ReportFault($"Index '{_index.Name}': {error.Message}", _context.TimeProvider.GetUtcNow());
        }
    }

    /// <summary>
    /// Adds requested compound keys and builds them for some entries. Returns false if there are more, so that changes are
    /// processed first.
    /// </summary>
    private async Task<bool> LearnAsync(CancellationToken stop)
    {
        if (_index.Progress.IsFaulted)
            return true;

        bool isWanted = _index.TryTakeWantedCompound(out CompoundKey? wanted);
        if (!isWanted && !_index.Writer.HasUnbuiltCompounds)
            return true;

        await _context.Turns.WaitAsync(_switch.Settings.Priority, stop).ConfigureAwait(false);
        try
        {
            return !_context.Workers.Run(
                () => (wanted is not null && _index.Writer.TryAddCompound(wanted)) || _index.Writer.BuildCompounds(stop)).Wait();
        }
        catch (Exception error) when (error is not OperationCanceledException && !stop.IsCancellationRequested)
        {
            _index.Progress.ReportFault($"Index '{_index.Name}': {error.Message}", _context.TimeProvider.GetUtcNow());
            return true;
        }
        finally
        {
            _context.Turns.Release();
        }
    }

    /// <summary>
    /// Compacts the store of an idle index after many changes. Returns false if it was interrupted by new work.
    /// </summary>
    private async Task<bool> TidyAsync(long reached, long woken, CancellationToken stop)
    {
        if (!_index.Writer.IsUntidy || _index.Progress.IsFaulted)
            return true;

        await _context.Turns.WaitAsync(_switch.Settings.Priority, stop).ConfigureAwait(false);
        try
        {
            return _context.Workers.Run(
                () => _index.Writer.Tidy(() => _context.Changes.LastEtag <= reached && _wake.LastEtag == woken, stop)).Wait();
        }
        catch (Exception error) when (error is not OperationCanceledException && !stop.IsCancellationRequested)
        {
            _index.Progress.ReportFault($"Index '{_index.Name}': {error.Message}", _context.TimeProvider.GetUtcNow());
            return true;
        }
        finally
        {
            _context.Turns.Release();
        }
    }

    /// <summary>Waits for a change, until it is woken, or, after an error, for the pause before the next attempt.</summary>
    private async Task WaitAsync(long reached, long woken, CancellationToken stop)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
        List<Task> awaited = [_context.Changes.WaitAsync(reached, ended.Token), _wake.WaitAsync(woken, ended.Token)];
        if (!_index.Progress.IsFaulted)
            _pause = _firstPause;
        else
        {
            awaited.Add(Task.Delay(_pause, _context.TimeProvider, ended.Token));
            _pause = TimeSpan.FromTicks(Math.Min(2 * _pause.Ticks, _longestPause.Ticks));
        }

        Task first = await Task.WhenAny(awaited).ConfigureAwait(false);
        await ended.CancelAsync().ConfigureAwait(false);
        await first.ConfigureAwait(false);
        foreach (Task other in awaited)
            await other.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>
    /// Runs batches when it is this index's turn, as only a limited number of indexes work at a time. A few changes are
    /// indexed on the current thread, so that they become visible soon even on a busy machine; more work runs on threads of
    /// low priority, which give way to queries and writes.
    /// </summary>
    private async Task<(long Reached, bool IsComplete)> TakeTurnAsync(CancellationToken stop)
    {
        await _context.Turns.WaitAsync(_switch.Settings.Priority, stop).ConfigureAwait(false);
        try
        {
            _index.TryAddFields(out _);
            bool isMuch = _index.Writer.Pending is not null || _mapper.IsMuch(_index.Writer.LastEtag);
            _hasWorkedMuch |= isMuch;
            return isMuch
                ? _context.Workers.Run<(long, bool)>(job => Work(job.Tell, stop)).Wait()
                : Work(static news => news(), stop);
        }
        catch (Exception error) when (error is not OperationCanceledException && !stop.IsCancellationRequested)
        {
            _index.Progress.ReportFault($"Index '{_index.Name}': {error.Message}", _context.TimeProvider.GetUtcNow());
            return (_context.Changes.LastEtag, true);
        }
        finally
        {
            _context.Turns.Release();
        }
    }

    /// <param name="tell">Runs an action where it may start threads; see <see cref="QuietWorkers"/>.</param>
    /// <param name="stop">Cancels the work.</param>
    private (long Reached, bool IsComplete) Work(Action<Action> tell, CancellationToken stop)
    {
        (long reached, bool isComplete) = RunBatches(tell, stop);
        if (_index.Writer.Pending is { } pending)
            isComplete &= RunBackfill(pending, tell, stop);
        return (reached, isComplete && _index.Writer.Pending is null);
    }

    /// <summary>Writes batches until another index waits for its turn; maps the next batch while one is written.</summary>
    private (long Reached, bool IsComplete) RunBatches(Action<Action> tell, CancellationToken stop)
    {
        MappedBatch batch = Named(Map(0, _index.Writer.LastEtag, stop), 0, _index.Writer.LastEtag, stop);
        for (int other = 1; !batch.IsComplete && IsFree; other = 1 - other)
        {
            int room = other;
            long reached = batch.Reached;
            QuietJob<MappedBatch> next = _context.Workers.Run(() => Map(room, reached, stop));
            try
            {
                _ = Commit(batch, tell, stop); // groups have no dynamic fields here, so this is the batch that was written
            }
            finally
            {
                next.WaitForEnd(); // it reads the definition of the index and the documents, so it must end within this turn
            }

            batch = Named(next.Wait(), room, reached, stop);
        }

        batch = Commit(batch, tell, stop);
        return (batch.Reached, batch.IsComplete);
    }

    /// <summary>Whether it may continue without ending its turn.</summary>
    private bool IsFree =>
        !_index.Definition.HasReferences
            && _index.Definition is not StaticIndexMapping { Reduction: not null, HasDynamicFields: true }
            && _outputs is null
            && _index.Writer.Pending is null
            && _index.Writer.Schema.Fields.Count == _index.Definition.Schema.Fields.Count
            && _switch.IsOn
            && !_context.Turns.IsWanted;

    private MappedBatch Map(int room, long afterEtag, CancellationToken stop)
    {
        var fields = new FieldRange(0, _index.Writer.Pending?.FirstField ?? _index.Writer.Schema.Fields.Count);
        return _mapper.Map(Batch(room, fields), fields, afterEtag, long.MaxValue, stop);
    }

    /// <summary>
    /// Returns a batch whose fields the index has: if documents have named new fields, adds them and maps the batch again.
    /// </summary>
    private MappedBatch Named(MappedBatch batch, int room, long afterEtag, CancellationToken stop)
    {
        while (batch.Batch.NewFields.Count > 0)
        {
            _index.AddDynamicFields(batch.Batch.NewFields);
            batch = Map(room, afterEtag, stop);
        }

        return batch;
    }

    /// <summary>
    /// Writes a batch and returns it, or the batch that was mapped instead because its groups had fields that the index did
    /// not have.
    /// </summary>
    private MappedBatch Commit(MappedBatch batch, Action<Action> tell, CancellationToken stop)
    {
        // Changes of other collections do not require a write, unless somebody wants to know that they are behind.
        int changes = batch.Batch.Count;
        if (changes > 0 || batch.Batch.IsWithinChange)
        {
            long begun = _context.TimeProvider.GetTimestamp();
            while (!batch.Batch.TryCommit(batch.Reached, stop))
                batch = Named(batch, 0, _index.Writer.LastEtag, stop);
            Report(changes, batch, begun);
        }
        else if (batch.IsComplete && _index.Writer.LastEtag < Math.Min(_index.WantedEtag, batch.Reached))
        {
            batch.Batch.TryCommit(batch.Reached, stop); // an empty batch has no new fields
        }

        if (_outputs is null)
            tell(() => _index.Progress.ReportReached(batch.Reached, batch.IsComplete));
        else
            _unreported = (batch.Reached, batch.IsComplete);
        return batch;
    }

    /// <summary>Adds missing fields to some entries. Returns false if there are more.</summary>
    private bool RunBackfill(Backfill pending, Action<Action> tell, CancellationToken stop)
    {
        var fields = new FieldRange(pending.FirstField, pending.EndField);
        MappedBatch batch = _mapper.Map(Batch(0, fields), fields, pending.Etag, _index.Writer.LastEtag, stop);
        int changes = batch.Batch.Count;
        long begun = _context.TimeProvider.GetTimestamp();
        // Fields are never added to map-reduce indexes.
        _index.Writer.CommitBackfill(((EntryBatch)batch.Batch).Entries, batch.Reached, stop);
        Report(changes, batch, begun);
        tell(_index.ReportFields);
        return batch.IsComplete;
    }

    private void Report(int changes, MappedBatch batch, long commitBegun) =>
        _index.Progress.ReportBatch(
            _context.TimeProvider.GetUtcNow(), changes,
            new BatchTimes(batch.Begun, batch.Ended, commitBegun, _context.TimeProvider.GetTimestamp()), _context.TimeProvider);

    /// <summary>Returns an empty batch: one of two, which are filled and written alternately.</summary>
    private MapBatch Batch(int room, FieldRange fields)
    {
        if (_batchesOf != _index.Writer || _batchFields != fields)
        {
            Array.Clear(_batches);
            (_batchesOf, _batchFields) = (_index.Writer, fields);
        }

        MapBatch batch = _batches[room] ??= _index.BeginBatch(fields, _context.TimeProvider);
        batch.Clear(); // a failed batch is not empty
        return batch;
    }

    /// <summary>Releases the memory of an idle index, except for the little that single changes need.</summary>
    private void ReleaseMemory()
    {
        if (!_hasWorkedMuch)
            return;
        _hasWorkedMuch = false;
        Array.Clear(_batches);
        _mapper.Release();
        _index.Writer.ReleaseMemory();
    }
}
