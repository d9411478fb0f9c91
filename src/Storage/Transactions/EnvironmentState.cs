using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Transactions;

/// <summary>What writer, checkpointer and readers of one environment share.</summary>
internal sealed class EnvironmentState(PageStore store, FreePages space, MetaPage durable, Snapshot current)
{
    private readonly List<RetiredFrame> _retired = [];
    private readonly List<long> _snapshots = [];
    private readonly List<PageRun> _released = [];
    private Snapshot _current = current;
    private MetaPage _durable = durable;
    private Exception? _failure;
    private long _retiredBytes;

    public PageStore Store { get; } = store;

    public FreePages Space { get; } = space;

    public ReaderTable Readers { get; } = new();

    /// <summary>The newest published state.</summary>
    public Snapshot Current
    {
        get => Volatile.Read(ref _current);
        set => Volatile.Write(ref _current, value);
    }

    /// <summary>The last durable checkpoint.</summary>
    public MetaPage Durable
    {
        get => Volatile.Read(ref _durable);
        set => Volatile.Write(ref _durable, value);
    }

    /// <summary>Last transaction of the checkpoint under way, or -1. Pages up to it are held.</summary>
    public long CheckpointUnderWay { get; set; } = -1;

    /// <summary>Why writing has stopped for good, or null.</summary>
    public Exception? Failure
    {
        get => Volatile.Read(ref _failure);
        set => Volatile.Write(ref _failure, value);
    }

    /// <summary>Bytes of pages that a checkpoint still has to write.</summary>
    public long UnwrittenBytes => Store.Scratch.BytesInUse - Interlocked.Read(ref _retiredBytes);

    /// <summary>A page was written: its frame goes when no reader can hold it any more. For the holder of the lane.</summary>
    public void Retire(uint frame)
    {
        ref Scratch.FrameRecord record = ref Store.Scratch.Record(frame);
        _retired.Add(new RetiredFrame(frame, record.Birth, Current.TransactionId));
        Interlocked.Add(ref _retiredBytes, (long)record.Pages * PageLayout.SizeBytes);
    }

    /// <summary>Gives free what no snapshot can see. For the holder of the lane.</summary>
    public void Reclaim()
    {
        _snapshots.Clear();
        Readers.CollectSnapshots(_snapshots);
        _snapshots.Sort();
        ReleaseRetired();

        _snapshots.Add(Current.TransactionId); // whoever begins now
        _snapshots.Add(Durable.LastTransaction); // what a recovery would begin from
        _snapshots.Sort();
        _released.Clear();
        Space.Reclaim(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_snapshots), CheckpointUnderWay, _released);
        foreach (PageRun run in _released)
            Store.Forget(run.First);
    }

    private void ReleaseRetired()
    {
        int kept = 0;
        for (int i = 0; i < _retired.Count; i++)
        {
            RetiredFrame retired = _retired[i];
            int index = _snapshots.BinarySearch(retired.Birth);
            index = index < 0 ? ~index : index;
            if (index < _snapshots.Count && _snapshots[index] <= retired.At)
            {
                _retired[kept++] = retired;
                continue;
            }

            Interlocked.Add(ref _retiredBytes, -(long)Store.Scratch.Record(retired.Frame).Pages * PageLayout.SizeBytes);
            Store.Scratch.Release(retired.Frame);
        }

        _retired.RemoveRange(kept, _retired.Count - kept);
    }

    private readonly record struct RetiredFrame(uint Frame, long Birth, long At);
}
