using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>How far an index is, for those who wait for it, and what went wrong. Thread-safe.</summary>
internal sealed class IndexProgress
{
    /// <summary>Batches that are remembered.</summary>
    private const int MostBatches = 64;

    private readonly ChangeSignal _signal = new();
    private readonly ChangeSignal _fields = new();
    private readonly ChangeSignal _begunFields = new();
    private readonly Lock _lock = new();
    private long _lastBatchTicks;
    private long _lastBatchChanges;
    private long _lastEnd = long.MinValue;
    private double _changesPerSecond;
    private readonly Queue<IndexBatchReport> _batches = new();
    private long _batchCount;
    private TimeSpan _indexingTime;
    private IndexError? _fault;
    private volatile bool _isCaughtUp;

    /// <summary>Begins with so many fields complete.</summary>
    public IndexProgress(int completeFields, int begunFields) => ReportFields(completeFields, begunFields);

    /// <summary>Every change of the database up to this etag is in the index, or is none of its documents.</summary>
    public long Etag => _signal.LastEtag;

    /// <summary>Fields that every entry has, from the first on.</summary>
    public int CompleteFields => (int)_fields.LastEtag;

    /// <summary>Fields that it can be asked about, whether or not all entries have them.</summary>
    public int BegunFields => (int)_begunFields.LastEtag;

    /// <summary>Whether it was complete once since it was opened.</summary>
    public bool IsCaughtUp => _isCaughtUp;

    /// <summary>Why indexing stopped until there is something new to try it with; null if it did not.</summary>
    public IndexError? Fault => Volatile.Read(ref _fault);

    public bool IsFaulted => Fault is not null;

    /// <summary>End of the last batch (UTC); null before the first.</summary>
    public DateTime? LastBatch =>
        Interlocked.Read(ref _lastBatchTicks) is > 0 and var ticks ? new DateTime(ticks, DateTimeKind.Utc) : null;

    /// <summary>Changes of the last batch; 0 before the first.</summary>
    public int LastBatchChanges => (int)Interlocked.Read(ref _lastBatchChanges);

    /// <summary>Changes indexed per second of work, late batches counting most; 0 before the first.</summary>
    public double ChangesPerSecond
    {
        get
        {
            lock (_lock)
                return _changesPerSecond;
        }
    }

    /// <summary>How long it was at work since it was opened.</summary>
    public TimeSpan IndexingTime
    {
        get
        {
            lock (_lock)
                return _indexingTime;
        }
    }

    /// <summary>The last batches, oldest first.</summary>
    public IReadOnlyList<IndexBatchReport> Batches
    {
        get
        {
            lock (_lock)
                return [.. _batches];
        }
    }

    /// <summary>
    /// A batch of so many changes is in the index. It was made from a moment on, of which counts what is later than the end of
    /// the batch before: one is made while the other is written.
    /// </summary>
    public void ReportBatch(DateTimeOffset now, int changes, in BatchTimes times, TimeProvider clock)
    {
        (long begun, long ended) = (times.Begun, times.Ended);
        Interlocked.Exchange(ref _lastBatchTicks, now.UtcTicks);
        Interlocked.Exchange(ref _lastBatchChanges, changes);
        TimeSpan duration = clock.GetElapsedTime(Math.Max(begun, Interlocked.Exchange(ref _lastEnd, ended)), ended);
        double rate = changes / Math.Max(duration.TotalSeconds, 1e-6);
        lock (_lock)
        {
            _changesPerSecond = _changesPerSecond == 0 ? rate : (0.7 * _changesPerSecond) + (0.3 * rate);
            _indexingTime += duration;
            _batches.Enqueue(new IndexBatchReport(
                ++_batchCount, now.UtcDateTime - clock.GetElapsedTime(begun, ended), now.UtcDateTime, changes,
                clock.GetElapsedTime(begun, times.Mapped), clock.GetElapsedTime(times.CommitBegun, ended)));
            if (_batches.Count > MostBatches)
                _batches.Dequeue();
        }
    }

    public void ReportReached(long etag, bool caughtUp)
    {
        Volatile.Write(ref _fault, null);
        if (caughtUp)
            _isCaughtUp = true;
        _signal.Publish(etag);
    }

    /// <summary>Every entry has so many fields, and some have so many.</summary>
    public void ReportFields(int completeFields, int begunFields)
    {
        _begunFields.Publish(begunFields);
        _fields.Publish(completeFields);
    }

    /// <summary>Indexing stopped until there is something new to try it with.</summary>
    public void ReportFault(string message, DateTimeOffset now) =>
        Volatile.Write(ref _fault, new IndexError(now.UtcDateTime, null, "Index", message));

    /// <summary>Completes when the index has reached an etag.</summary>
    /// <exception cref="ObjectDisposedException">The index was closed.</exception>
    public Task WaitForAsync(long etag, CancellationToken cancellationToken) => WaitAsync(_signal, etag, cancellationToken);

    /// <summary>Completes when every entry has so many fields.</summary>
    /// <exception cref="ObjectDisposedException">The index was closed.</exception>
    public Task WaitForFieldsAsync(int fields, CancellationToken cancellationToken) =>
        WaitAsync(_fields, fields, cancellationToken);

    /// <summary>Completes when the index can be asked about so many fields, whether or not all entries have them.</summary>
    /// <exception cref="ObjectDisposedException">The index was closed.</exception>
    public Task WaitForBegunFieldsAsync(int fields, CancellationToken cancellationToken) =>
        WaitAsync(_begunFields, fields, cancellationToken);

    public void Close()
    {
        _begunFields.Close();
        _signal.Close();
        _fields.Close();
    }

    private static async Task WaitAsync(ChangeSignal signal, long wanted, CancellationToken cancellationToken)
    {
        for (long reached = signal.LastEtag; reached < wanted; reached = signal.LastEtag)
            await signal.WaitAsync(reached, cancellationToken).ConfigureAwait(false);
    }
}
