using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Keeps one index up with the document log, in the background: reads what changed since the last batch, extracts the fields, commits
/// with the etag, waits for more. Costs nothing while nothing changes. A document that cannot be indexed is noted and left out; a
/// failing disk is noted and tried again at the next change.
/// </summary>
/// <remarks>
/// An index that is given more fields goes on with those it has, and between batches its entries are given the new ones, in the order of
/// the log. Once all have them, batches write them all.
/// </remarks>
internal sealed class DocumentIndexer
{
    /// <summary>Bytes of a batch after which it is committed: large enough to write each touched page once for many documents.</summary>
    private const long MaxBatchBytes = 16 * 1024 * 1024;

    /// <summary>Changes of a batch after which it is committed.</summary>
    private const int MaxBatchCount = 64 * 1024;

    /// <summary>Time after which a batch is committed, so that answers of a busy index do not fall far behind.</summary>
    private static readonly TimeSpan MaxBatchTime = TimeSpan.FromSeconds(2);

    private readonly DocumentIndex _index;
    private readonly IndexingContext _context;
    private readonly IndexSwitch _switch;
    private readonly CancellationTokenSource _stop;
    private readonly ChangeSignal _wake = new();
    private EntryWriter _entries;
    private Task _running = Task.CompletedTask;

    public DocumentIndexer(DocumentIndex index, IndexingContext context, IndexSwitch onOff, CancellationToken stop)
    {
        _index = index;
        _context = context;
        _switch = onOff;
        _entries = EntriesOfCompleteFields(index.Definition);
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

    /// <summary>Ends it and the index; complete when the current batch was given up. The index's files may go later, see there.</summary>
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
                (long reached, bool isComplete) = await RunBatchAsync(stop).ConfigureAwait(false);
                if (!isComplete)
                    continue;

                if (!wasCaughtUp && !_index.Progress.IsFaulted)
                {
                    wasCaughtUp = true;
                    caughtUp(this);
                }

                if (await TidyAsync(reached, woken, stop).ConfigureAwait(false))
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

    /// <summary>Makes the files of an index small that has nothing else to do, after much was changed. False if something came up meanwhile.</summary>
    private async Task<bool> TidyAsync(long reached, long woken, CancellationToken stop)
    {
        if (!_index.Writer.IsUntidy || _index.Progress.IsFaulted)
            return true;

        await _context.Turns.WaitAsync(_switch.Settings.Priority, stop).ConfigureAwait(false);
        try
        {
            return _index.Writer.Tidy(() => _context.Changes.LastEtag <= reached && _wake.LastEtag == woken, stop);
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

    /// <summary>Only so many indexes work at a time, so that queries and writes keep a processor.</summary>
    private async Task<(long Reached, bool IsComplete)> RunBatchAsync(CancellationToken stop)
    {
        await _context.Turns.WaitAsync(_switch.Settings.Priority, stop).ConfigureAwait(false);
        try
        {
            if (_index.TryAddFields(out IndexMapping definition))
                _entries = EntriesOfCompleteFields(definition);
            (long reached, bool isComplete) = RunBatch(stop);
            if (_index.Writer.Pending is { } pending)
                isComplete &= RunBackfill(pending, stop);
            return (reached, isComplete && _index.Writer.Pending is null);
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

    private EntryWriter EntriesOfCompleteFields(IndexMapping definition) =>
        new(new FieldExtractor(definition, 0, _index.Writer.Pending?.FirstField ?? int.MaxValue), _context.TimeProvider);

    private (long Reached, bool IsComplete) RunBatch(CancellationToken stop)
    {
        using DatabaseSnapshot snapshot = _context.BeginRead();
        using MappedChanges feed = _index.Changes(snapshot, _index.Writer.LastEtag);
        IndexBatch batch = _index.Writer.BeginBatch();
        long begun = _context.TimeProvider.GetTimestamp();
        bool isComplete = Fill(batch, snapshot, feed, long.MaxValue, _entries, out long reached, stop);
        if (isComplete)
            reached = snapshot.LastEtag;

        // Changes of other collections are no reason to write.
        if (batch.Count > 0)
        {
            int changes = batch.Count;
            _index.Writer.Commit(batch, reached, stop);
            _index.Progress.ReportBatch(_context.TimeProvider.GetUtcNow(), changes, _context.TimeProvider.GetElapsedTime(begun));
        }

        _index.Progress.ReportReached(reached, isComplete);
        return (reached, isComplete);
    }

    /// <summary>Gives some entries the fields they have not. False if there are more.</summary>
    private bool RunBackfill(Backfill pending, CancellationToken stop)
    {
        using DatabaseSnapshot snapshot = _context.BeginRead();
        using MappedChanges feed = _index.Changes(snapshot, pending.Etag);
        IndexBatch batch = _index.Writer.BeginBatch();
        long begun = _context.TimeProvider.GetTimestamp();
        var entries = new EntryWriter(new FieldExtractor(_index.Definition, pending.FirstField, pending.EndField), _context.TimeProvider);
        bool isComplete = Fill(batch, snapshot, feed, _index.Writer.LastEtag, entries, out long reached, stop);
        int changes = batch.Count;
        _index.Writer.CommitBackfill(batch, isComplete ? _index.Writer.LastEtag : reached, stop);
        _index.Progress.ReportBatch(_context.TimeProvider.GetUtcNow(), changes, _context.TimeProvider.GetElapsedTime(begun));
        _entries = EntriesOfCompleteFields(_index.Definition);
        _index.ReportFields();
        return isComplete;
    }

    /// <summary>Fills a batch with changes up to an etag; true if there are no more of them.</summary>
    private bool Fill(
        IndexBatch batch, DatabaseSnapshot snapshot, MappedChanges feed, long untilEtag, EntryWriter entries, out long reached, CancellationToken stop)
    {
        long begun = _context.TimeProvider.GetTimestamp();
        reached = 0;
        for (int count = 1; feed.MoveNext() && feed.Etag <= untilEtag; count++)
        {
            entries.Add(feed, batch);
            snapshot.ReleasePages(); // the batch has copied what it needs
            stop.ThrowIfCancellationRequested();
            reached = feed.Etag;

            // One document may be large; the clock is asked less often.
            bool isLate = count % 64 == 0 && _context.TimeProvider.GetElapsedTime(begun) >= MaxBatchTime;
            if (isLate || batch.SizeBytes >= MaxBatchBytes || count >= MaxBatchCount)
                return false;
        }

        return true;
    }
}
