using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>The progress and errors of an index, with methods to wait for it. Thread-safe.</summary>
internal sealed class IndexProgress
{
    /// <summary>The number of batches in <see cref="Batches"/>.</summary>
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

    /// <summary>Starts with the specified numbers of complete and started fields.</summary>
    public IndexProgress(int completeFields, int begunFields) => ReportFields(completeFields, begunFields);

    /// <summary>The etag up to which all changes of the database are in the index or do not concern it.</summary>
    public long Etag => _signal.LastEtag;

    /// <summary>The number of fields, counted from the first, that all entries have.</summary>
    public int CompleteFields => (int)_fields.LastEtag;

    /// <summary>The number of fields that can be queried, whether or not all entries have them.</summary>
    public int BegunFields => (int)_begunFields.LastEtag;

    /// <summary>Whether it has caught up at least once since it was opened.</summary>
    public bool IsCaughtUp => _isCaughtUp;

    /// <summary>The error that stopped indexing until the next attempt; null if there is none.</summary>
    public IndexError? Fault => Volatile.Read(ref _fault);

    public bool IsFaulted => Fault is not null;

    /// <summary>When the last batch ended (UTC); null before the first.</summary>
    public DateTime? LastBatch =>
        Interlocked.Read(ref _lastBatchTicks) is > 0 and var ticks ? new DateTime(ticks, DateTimeKind.Utc) : null;

    /// <summary>The number of changes in the last batch; 0 before the first.</summary>
    public int LastBatchChanges => (int)Interlocked.Read(ref _lastBatchChanges);

    /// <summary>The number of changes indexed per second of work, weighted towards recent batches; 0 before the first.</summary>
    public double ChangesPerSecond
    {
        get
        {
            lock (_lock)
                return _changesPerSecond;
        }
    }

    /// <summary>The total time spent indexing since the index was opened.</summary>
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
    /// Reports a committed batch. Its duration counts from the end of the previous batch, as one batch is mapped while the
    /// previous one is written.
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

    /// <summary>Reports the number of fields that all entries have, and the number that some have.</summary>
    public void ReportFields(int completeFields, int begunFields)
    {
        _begunFields.Publish(begunFields);
        _fields.Publish(completeFields);
    }

    /// <summary>Reports that indexing stopped until the next attempt.</summary>
    public void ReportFault(string message, DateTimeOffset now) =>
        Volatile.Write(ref _fault, new IndexError(now.UtcDateTime, null, "Index", message));

    /// <summary>Completes when the index has reached an etag.</summary>
    /// <exception cref="ObjectDisposedException">The index was closed.</exception>
    public Task WaitForAsync(long etag, CancellationToken cancellationToken) => WaitAsync(_signal, etag, cancellationToken);

    /// <summary>Completes when every entry has the specified number of fields.</summary>
    /// <exception cref="ObjectDisposedException">The index was closed.</exception>
    public Task WaitForFieldsAsync(int fields, CancellationToken cancellationToken) =>
        WaitAsync(_fields, fields, cancellationToken);

    /// <summary>Completes when the specified number of fields can be queried, whether or not all entries have them.</summary>
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
