using Treepie.Indexing;
using Treepie.Indexing.Schema;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Keeps one index up with the document log, in the background: reads what changed since the last batch, extracts the fields,
/// commits with the etag, waits for more. Costs nothing while nothing changes. A document that cannot be indexed is noted and
/// left out; a failing disk is noted and tried again at the next change.
/// </summary>
/// <remarks>
/// An index that is given more fields goes on with those it has, and between batches its entries are given the new ones, in the
/// order of the log. Once all have them, batches write them all.
/// </remarks>
internal sealed class DocumentIndexer
{
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
    private Task _running = Task.CompletedTask;

    public DocumentIndexer(DocumentIndex index, IndexingContext context, IndexSwitch onOff, CancellationToken stop)
    {
        _index = index;
        _context = context;
        _switch = onOff;
        _mapper = new BatchMapper(index, context);
        _outputs = index.Outputs is { } outputs ? new OutputWriter(index, outputs, context) : null;
        index.CompoundWanted = Wake;
        _stop = CancellationTokenSource.CreateLinkedTokenSource(stop);
    }

    public DocumentIndex Index => _index;

    /// <summary>Begins. Calls back, once, when the index is complete for the first time.</summary>
    public void Start(Action<DocumentIndexer> caughtUp)
    {
        if (_index.TryHold())
            _running = Task.Run(() => RunAsync(caughtUp));
    }

    /// <summary>Lets it look at the definition again.</summary>
    public void Wake() => _wake.Publish(_wake.LastEtag + 1);

    /// <summary>
    /// Ends it and the index; complete when the current batch was given up. The index's files may go later, see there.
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
                    // It has taken the place of another that has written them.
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

    /// <summary>
    /// Writes the documents that are to be written of its groups. Only then it has reached the changes they come from, for those
    /// who wait.
    /// </summary>
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
            // It stays noted, and is tried again at the next change.
            _index.Progress.ReportFault($"Index '{_index.Name}': {error.Message}", _context.TimeProvider.GetUtcNow());
        }
    }

    /// <summary>
    /// Adds the compound keys that queries wanted, and gives some entries theirs. False if there are more, so that changes come
    /// first again.
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
    /// Makes the files of an index small that has nothing else to do, after much was changed. False if something came up
    /// meanwhile.
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
            // A disk that fails is one for the next batch to tell, which is tried at the next change.
            _index.Progress.ReportFault($"Index '{_index.Name}': {error.Message}", _context.TimeProvider.GetUtcNow());
            return true;
        }
        finally
        {
            _context.Turns.Release();
        }
    }

    /// <summary>Waits for a change, or for more fields.</summary>
    private async Task WaitAsync(long reached, long woken, CancellationToken stop)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
        Task change = _context.Changes.WaitAsync(reached, ended.Token), wake = _wake.WaitAsync(woken, ended.Token);
        Task first = await Task.WhenAny(change, wake).ConfigureAwait(false);
        await ended.CancelAsync().ConfigureAwait(false);
        await first.ConfigureAwait(false);
        Task other = first == change ? wake : change;
        await other.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>
    /// Only so many indexes work at a time. What is quickly done is done here and now, so that it is soon found also on a busy
    /// machine; what is more gives way to all who ask and write.
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
            // Whatever it is, the index goes on at the next change and its statistics say what happened.
            _index.Progress.ReportFault($"Index '{_index.Name}': {error.Message}", _context.TimeProvider.GetUtcNow());
            return (_context.Changes.LastEtag, true);
        }
        finally
        {
            _context.Turns.Release();
        }
    }

    /// <param name="tell">Calls something where it may begin threads, see <see cref="QuietWorkers"/>.</param>
    /// <param name="stop">Gives it up.</param>
    private (long Reached, bool IsComplete) Work(Action<Action> tell, CancellationToken stop)
    {
        (long reached, bool isComplete) = RunBatches(tell, stop);
        if (_index.Writer.Pending is { } pending)
            isComplete &= RunBackfill(pending, tell, stop);
        return (reached, isComplete && _index.Writer.Pending is null);
    }

    /// <summary>Writes batch after batch while nobody else wants the turn; while one is written, the next is mapped.</summary>
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
                _ = Commit(batch, tell, stop); // no group has fields with computed names: it is the batch that was written
            }
            finally
            {
                next.WaitForEnd(); // it reads the index's definition and the documents: not beyond this turn
            }

            batch = Named(next.Wait(), room, reached, stop);
        }

        batch = Commit(batch, tell, stop);
        return (batch.Reached, batch.IsComplete);
    }

    /// <summary>Whether it may go on without giving the turn back.</summary>
    private bool IsFree =>
        !_index.Definition.HasReferences
            && _index.Definition.Reduction is not { Reduce.HasDynamicFields: true }
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
    /// A batch whose fields the index has: where documents have named others it is given these first, and the batch is mapped
    /// again.
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
    /// Writes a batch and returns it, or the one that was mapped in its place because its groups had fields which the index did
    /// not have.
    /// </summary>
    private MappedBatch Commit(MappedBatch batch, Action<Action> tell, CancellationToken stop)
    {
        // Changes of other collections are no reason to write.
        int changes = batch.Batch.Count;
        if (changes > 0)
        {
            long begun = _context.TimeProvider.GetTimestamp();
            while (!batch.Batch.TryCommit(batch.Reached, stop))
                batch = Named(batch, 0, _index.Writer.LastEtag, stop);
            Report(changes, batch, begun);
        }

        if (_outputs is null)
            tell(() => _index.Progress.ReportReached(batch.Reached, batch.IsComplete));
        else
            _unreported = (batch.Reached, batch.IsComplete);
        return batch;
    }

    /// <summary>Gives some entries the fields they have not. False if there are more.</summary>
    private bool RunBackfill(Backfill pending, Action<Action> tell, CancellationToken stop)
    {
        var fields = new FieldRange(pending.FirstField, pending.EndField);
        MappedBatch batch = _mapper.Map(Batch(0, fields), fields, pending.Etag, _index.Writer.LastEtag, stop);
        int changes = batch.Batch.Count;
        long begun = _context.TimeProvider.GetTimestamp();
        _index.Writer.CommitBackfill(((EntryBatch)batch.Batch).Entries, batch.Reached, stop); // what reduces is not given fields
        Report(changes, batch, begun);
        tell(_index.ReportFields);
        return batch.IsComplete;
    }

    private void Report(int changes, MappedBatch batch, long commitBegun) =>
        _index.Progress.ReportBatch(
            _context.TimeProvider.GetUtcNow(), changes,
            new BatchTimes(batch.Begun, batch.Ended, commitBegun, _context.TimeProvider.GetTimestamp()), _context.TimeProvider);

    /// <summary>An empty batch: one of two, which are filled and written in turns.</summary>
    private MapBatch Batch(int room, FieldRange fields)
    {
        if (_batchesOf != _index.Writer || _batchFields != fields)
        {
            Array.Clear(_batches);
            (_batchesOf, _batchFields) = (_index.Writer, fields);
        }

        MapBatch batch = _batches[room] ??= _index.BeginBatch(fields, _context.TimeProvider);
        batch.Clear(); // a batch that failed has something in it
        return batch;
    }

    /// <summary>An index with nothing to do keeps no memory for it, but for the little that single changes need.</summary>
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
