using Treepie.Kinds;

namespace Treepie.Writes;

/// <summary>
/// Stores many documents in order, in durable batches: while one batch is being committed the next is parsed. Each batch is
/// atomic, the whole is not: after an error everything up to <see cref="Progress"/> stays. Memory is two batches and a document,
/// however many there are. One caller at a time.
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

    /// <summary>What is durable by now. May be read from any thread.</summary>
    public BulkInsertProgress Progress { get; private set; } = new(0, 0, null);

    /// <summary>
    /// Adds a document; <paramref name="json"/> is copied. Waits only when a batch is full and the one before is not yet durable.
    /// </summary>
    /// <exception cref="InvalidDocumentException">This document is not valid; it is left out, and the insert may go
    /// on.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert is over.</exception>
    public ValueTask StoreAsync(string? id, ReadOnlyMemory<byte> json, CancellationToken cancellationToken = default)
    {
        return StoreAsync(id, json, isRevised: false, cancellationToken);
    }

    /// <summary>As above; revised: its revision comes from elsewhere, so that none is made.</summary>
    internal ValueTask StoreAsync(string? id, ReadOnlyMemory<byte> json, bool isRevised, CancellationToken cancellationToken)
    {
        ObjectDisposedException.ThrowIf(_completed, this);
        _batch.IsRevised = isRevised;
        _batch.Put(id, json);
        _lastId = id;
        return CommitIfFullAsync(cancellationToken);
    }

    /// <summary>Adds operations on counters of a document, which may be one that was stored before.</summary>
    /// <exception cref="InvalidDocumentException">The id cannot be one; the insert may go on.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert is over.</exception>
    public ValueTask CountersAsync(
        string id, IReadOnlyList<CounterOperation> operations, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_completed, this);
        _batch.Counters(id, operations);
        return CommitIfFullAsync(cancellationToken);
    }

    /// <summary>Adds entries to a time series of a document, which may be one that was stored before.</summary>
    /// <exception cref="InvalidDocumentException">The id, the name or an entry cannot be one; the insert may go on.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert is over.</exception>
    public ValueTask TimeSeriesAsync(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_completed, this);
        _batch.TimeSeries(id, name, points);
        return CommitIfFullAsync(cancellationToken);
    }

    /// <summary>
    /// Adds an attachment of a document, which may be one that was stored before. The upload may be disposed when this completes.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id, name or type cannot be one; the insert may go on.</exception>
    /// <exception cref="TreepieException">An earlier batch could not be committed; the insert is over.</exception>
    public async ValueTask AttachmentAsync(
        string id, string name, string? contentType, AttachmentUpload upload, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_completed, this);
        ArgumentNullException.ThrowIfNull(upload);
        _batch.PutAttachment(id, name, contentType, upload);
        if (upload.IsOnDisk)
            await FlushAsync(cancellationToken).ConfigureAwait(false); // what is not put when the upload is disposed is dropped
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

    /// <summary>Makes the rest durable and ends the insert.</summary>
    public async Task<BulkInsertProgress> CompleteAsync(CancellationToken cancellationToken = default)
    {
        if (!_completed)
            await FlushAsync(cancellationToken).ConfigureAwait(false);
        _completed = true;
        return Progress;
    }

    /// <summary>
    /// Completes the insert unless it has failed or was completed; what failed has been thrown where it was waited for.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        if (!_completed && !_commit.IsFaulted && !_commit.IsCanceled)
            await CompleteAsync().ConfigureAwait(false);
        _completed = true;
        _batch.Dispose();
    }

    /// <summary>
    /// Ends the insert without what is not yet on its way: documents since the last full batch are dropped. Waits for the batch
    /// on its way.
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
        // The storage runs a commit on the thread that asks for it; on another one, this one can go on parsing. It is not
        // cancelled:
        // what has been handed over is written.
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
