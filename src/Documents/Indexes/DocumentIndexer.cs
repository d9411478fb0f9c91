using System.Text;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Keeps one index up with the document log, in the background: reads what changed since the last batch, extracts the fields, commits
/// with the etag, waits for more. Costs nothing while nothing changes. A document that cannot be indexed is noted and left out; a
/// failing disk is noted and tried again at the next change.
/// </summary>
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
    private readonly FieldExtractor _extractor;
    private readonly CancellationTokenSource _stop;
    private readonly byte[] _key = new byte[DocumentId.MaxFoldedBytes];
    private Task _running = Task.CompletedTask;

    public DocumentIndexer(DocumentIndex index, IndexingContext context, CancellationToken stop)
    {
        _index = index;
        _context = context;
        _extractor = new FieldExtractor(index.Definition);
        _stop = CancellationTokenSource.CreateLinkedTokenSource(stop);
    }

    public DocumentIndex Index => _index;

    /// <summary>Begins. Calls back, once, when the index is complete for the first time.</summary>
    public void Start(Action<DocumentIndex> caughtUp)
    {
        if (_index.TryHold())
            _running = Task.Run(() => RunAsync(caughtUp));
    }

    /// <summary>Ends it and the index; complete when the current batch was given up. The index's files may go later, see there.</summary>
    public async Task StopAsync(bool deleteFiles)
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        _index.Close(deleteFiles);
        await _running.ConfigureAwait(false);
        _stop.Dispose();
    }

    private async Task RunAsync(Action<DocumentIndex> caughtUp)
    {
        CancellationToken stop = _stop.Token;
        bool wasCaughtUp = false;
        try
        {
            while (true)
            {
                (long reached, bool isComplete) = await RunBatchAsync(stop).ConfigureAwait(false);
                if (!isComplete)
                    continue;

                if (!wasCaughtUp && !_index.Progress.IsFaulted)
                {
                    wasCaughtUp = true;
                    caughtUp(_index);
                }

                await _context.Changes.WaitAsync(reached, stop).ConfigureAwait(false);
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

    /// <summary>Only so many indexes work at a time, so that queries and writes keep a processor.</summary>
    private async Task<(long Reached, bool IsComplete)> RunBatchAsync(CancellationToken stop)
    {
        await _context.Turns.WaitAsync(stop).ConfigureAwait(false);
        try
        {
            return RunBatch(stop);
        }
        catch (Exception error) when (error is not OperationCanceledException && !stop.IsCancellationRequested)
        {
            // Whatever it is, the index goes on at the next change and its statistics say what happened.
            _index.Progress.ReportFault($"Index '{_index.Name}': {error.Message}");
            return (_context.Changes.LastEtag, true);
        }
        finally
        {
            _context.Turns.Release();
        }
    }

    private (long Reached, bool IsComplete) RunBatch(CancellationToken stop)
    {
        using DatabaseSnapshot snapshot = _context.BeginRead();
        using ChangeFeed feed = snapshot.Changes(_index.Collection, _index.Writer.LastEtag);
        IndexBatch batch = _index.Writer.BeginBatch();
        long begun = _context.TimeProvider.GetTimestamp();
        long reached = snapshot.LastEtag;
        bool isComplete = true;
        for (int count = 1; feed.MoveNext(); count++)
        {
            Add(feed, batch);
            snapshot.ReleasePages(); // the batch has copied what it needs
            stop.ThrowIfCancellationRequested();

            // One document may be large; the clock is asked less often.
            bool isLate = count % 64 == 0 && _context.TimeProvider.GetElapsedTime(begun) >= MaxBatchTime;
            if (isLate || batch.SizeBytes >= MaxBatchBytes || count >= MaxBatchCount)
            {
                reached = feed.Etag;
                isComplete = false;
                break;
            }
        }

        // Changes of other collections are no reason to write.
        if (batch.Count > 0)
        {
            _index.Writer.Commit(batch, reached, stop);
            _index.Progress.ReportBatch(_context.TimeProvider.GetUtcNow());
        }

        _index.Progress.ReportReached(reached, isComplete);
        return (reached, isComplete);
    }

    private void Add(ChangeFeed feed, IndexBatch batch)
    {
        int length = DocumentId.Fold(feed.Id, _key);
        ReadOnlySpan<byte> key = _key.AsSpan(0, length);
        if (length > DocumentId.MaxBytes)
        {
            _index.Progress.ReportDocumentError($"Document '{Encoding.UTF8.GetString(feed.Id)}': its id in lower case has {length} bytes; an index takes {DocumentId.MaxBytes}.");
            return;
        }

        if (feed.IsTombstone)
        {
            batch.Delete(key);
            return;
        }

        Document document = feed.Document;
        batch.BeginEntry(key);
        try
        {
            _extractor.Extract(document, batch);
        }
        catch (Exception error) when (error is InvalidOperationException or ArgumentException or FormatException or System.Text.Json.JsonException)
        {
            _index.Progress.ReportDocumentError($"Document '{document.IdText()}': {error.Message}");
        }

        batch.EndEntry();
    }
}
