using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>How far an index is, for those who wait for it, and what went wrong. Thread-safe.</summary>
internal sealed class IndexProgress
{
    private readonly ChangeSignal _signal = new();
    private long _errorCount;
    private long _lastBatchTicks;
    private string? _lastError;
    private volatile bool _isFaulted;
    private volatile bool _isCaughtUp;

    /// <summary>Every change of the database up to this etag is in the index, or is none of its documents.</summary>
    public long Etag => _signal.LastEtag;

    /// <summary>Whether it was complete once since it was opened.</summary>
    public bool IsCaughtUp => _isCaughtUp;

    public bool IsFaulted => _isFaulted;

    public long ErrorCount => Interlocked.Read(ref _errorCount);

    public string? LastError => Volatile.Read(ref _lastError);

    /// <summary>End of the last batch (UTC); null before the first.</summary>
    public DateTime? LastBatch => Interlocked.Read(ref _lastBatchTicks) is > 0 and var ticks ? new DateTime(ticks, DateTimeKind.Utc) : null;

    public void ReportBatch(DateTimeOffset now) => Interlocked.Exchange(ref _lastBatchTicks, now.UtcTicks);

    public void ReportReached(long etag, bool caughtUp)
    {
        _isFaulted = false;
        if (caughtUp)
            _isCaughtUp = true;
        _signal.Publish(etag);
    }

    /// <summary>A document could not be indexed.</summary>
    public void ReportDocumentError(string message)
    {
        Interlocked.Increment(ref _errorCount);
        Volatile.Write(ref _lastError, message);
    }

    /// <summary>Indexing stopped until there is something new to try it with.</summary>
    public void ReportFault(string message)
    {
        Volatile.Write(ref _lastError, message);
        _isFaulted = true;
    }

    /// <summary>Completes when the index has reached an etag.</summary>
    /// <exception cref="ObjectDisposedException">The index was closed.</exception>
    public async Task WaitForAsync(long etag, CancellationToken cancellationToken)
    {
        for (long reached = Etag; reached < etag; reached = Etag)
            await _signal.WaitAsync(reached, cancellationToken).ConfigureAwait(false);
    }

    public void Close() => _signal.Close();
}
