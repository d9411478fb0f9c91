using Treepie.Kinds;

namespace Treepie.Writes;

/// <summary>
/// Stores many documents in order, in durable batches; the next batch is parsed while one is being committed. Each batch is
/// atomic, the whole insert is not: after an error, everything up to <see cref="Progress"/> is kept. Uses memory for two batches
/// and one document, however many documents are stored. Not thread-safe.
/// </summary>
public sealed class BulkInsert : IAsyncDisposable
{
    private readonly IWriteHost _database;
    private readonly BulkInsertOptions _options;
    private WriteBatch _batch;
    private WriteBatch? _spare;
    private string? _lastId;
    private Task _commit = Task.CompletedTask;
    private bool _completed;

    internal BulkInsert(IWriteHost database, BulkInsertOptions options)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(options.MaxBatchDocuments, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(options.MaxBatchBytes, 1);
        _database = database;
        _options = options;
        _batch = NewBatch();
    }

    /// <summary>The progress of what is durable so far. May be read from any thread.</summary>
    public BulkInsertProgress Progress { get; private set; } = new(0, 0, null);

    /// <summary>
    /// Adds a document; <paramref name="json"/> is copied. Waits only if a batch is full and the previous one is not durable yet.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The document is not valid; it is skipped, and the insert can
    /// continue.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert has ended.</exception>
    public ValueTask StoreAsync(string? id, ReadOnlyMemory<byte> json, CancellationToken cancellationToken = default)
    {
        return StoreAsync(id, json, isRevised: false, cancellationToken);
    }

    /// <summary>Same as above; revised: the document's revision is provided separately, so that none is created.</summary>
    internal ValueTask StoreAsync(string? id, ReadOnlyMemory<byte> json, bool isRevised, CancellationToken cancellationToken)
    {
        ObjectDisposedException.ThrowIf(_completed, this);
        _batch.IsRevised = isRevised;
        _batch.Put(id, json);
        _lastId = id;
        return CommitIfFullAsync(cancellationToken);
    }

    /// <summary>Adds operations on counters of a document, which may have been stored earlier in the insert.</summary>
    /// <exception cref="InvalidDocumentException">The id is not valid; the insert can continue.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert has ended.</exception>
    public ValueTask CountersAsync(
        string id, IReadOnlyList<CounterOperation> operations, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_completed, this);
        _batch.Counters(id, operations);
        return CommitIfFullAsync(cancellationToken);
    }

    /// <summary>Appends entries to a time series of a document, which may have been stored earlier in the insert.</summary>
    /// <exception cref="InvalidDocumentException">The id, the name or an entry is not valid; the insert can continue.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert has ended.</exception>
    public ValueTask TimeSeriesAsync(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_completed, this);
        _batch.TimeSeries(id, name, points);
        return CommitIfFullAsync(cancellationToken);
    }

    /// <summary>
    /// Adds an attachment of a document, which may have been stored earlier in the insert. The upload can be disposed when the
    /// method completes.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id, name or content type is not valid; the insert can continue.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert has ended.</exception>
    public async ValueTask AttachmentAsync(
        string id, string name, string? contentType, AttachmentUpload upload, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_completed, this);
        ArgumentNullException.ThrowIfNull(upload);
        _batch.PutAttachment(id, name, contentType, upload);
        if (upload.IsOnDisk)
            // content that is not stored is dropped when the upload is disposed
            await FlushAsync(cancellationToken).ConfigureAwait(false);
        else
            await CommitIfFullAsync(cancellationToken).ConfigureAwait(false);
    }

    private ValueTask CommitIfFullAsync(CancellationToken cancellationToken)
    {
        bool full = _batch.Count >= _options.MaxBatchDocuments || _batch.SizeBytes >= _options.MaxBatchBytes;
        return full ? new ValueTask(BeginCommitAsync(cancellationToken)) : ValueTask.CompletedTask;
    }

    /// <summary>Completes when everything stored so far is durable.</summary>
    public async Task FlushAsync(CancellationToken cancellationToken = default)
    {
        if (_batch.Count > 0)
            await BeginCommitAsync(cancellationToken).ConfigureAwait(false);
        await _commit.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Makes the remaining documents durable and ends the insert.</summary>
    public async Task<BulkInsertProgress> CompleteAsync(CancellationToken cancellationToken = default)
    {
        if (!_completed)
            await FlushAsync(cancellationToken).ConfigureAwait(false);
        _completed = true;
        return Progress;
    }

    /// <summary>
    /// Completes the insert, unless it has failed or been completed already. Does not throw the exception of a failed batch
    /// again.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        if (!_completed && !_commit.IsFaulted && !_commit.IsCanceled)
            await CompleteAsync().ConfigureAwait(false);
        _completed = true;
        _batch.Dispose();
    }

    /// <summary>
    /// Ends the insert and discards the documents added since the last full batch. Waits for the batch that is being committed.
    /// </summary>
    public async Task AbortAsync()
    {
        _completed = true;
        _batch.Dispose();
        await _commit.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private WriteBatch NewBatch() => new(_database.Options) { SkipUnchanged = _options.SkipUnchanged };

    private async Task BeginCommitAsync(CancellationToken cancellationToken)
    {
        await _commit.WaitAsync(cancellationToken).ConfigureAwait(false); // one at a time: documents keep their order
        WriteBatch batch = _batch;
        _batch = _spare ?? NewBatch();
        _spare = null;
        string? lastId = _lastId;
        // The storage runs a commit on the calling thread; on another thread, this one can continue parsing. It is not cancelled:
        // what has been submitted is written.
        _commit = Task.Run(() => CommitAsync(batch, lastId), CancellationToken.None);
    }

    private async Task CommitAsync(WriteBatch batch, string? lastId)
    {
        int documents = batch.DocumentCount;
        await _database.WriteWithoutResultsAsync(batch, CancellationToken.None).ConfigureAwait(false);
        batch.Reopen();
        _spare = batch; // seen by the next batch, which waits for this one
        Progress = new BulkInsertProgress(Progress.Documents + documents, Progress.Batches + 1, lastId);
    }
}
