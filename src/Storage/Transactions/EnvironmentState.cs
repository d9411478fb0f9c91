using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Transactions;

/// <summary>State shared by the writer, checkpointer and readers of one environment.</summary>
/// <remarks>
/// Invariants. 1. Published states ascend. 2. Checkpoints ascend, and none is newer than the published state. 3. Retired
/// frames stay in use until they are released, exactly once.
/// </remarks>
internal sealed class EnvironmentState(PageStore store, FreePages space, MetaPage durable, Snapshot current, CoarseClock ages)
{
    private readonly List<RetiredGroup> _retired = [];
    private readonly List<long> _snapshots = [];
    private readonly List<PageRun> _released = [];
    private readonly List<long> _readers = [];
    private long _heldByReaders;
    private Snapshot _current = current;
    private MetaPage _durable = durable;
    private Exception? _failure;
    private long _retiredBytes;

    public PageStore Store { get; } = store;

    public FreePages Space { get; } = space;

    public ReaderTable Readers { get; } = new(ages);

    /// <summary>Reads the bitmap pages of the last durable checkpoint.</summary>
    public required BitmapSource Bitmaps { get; init; }

    /// <summary>Wall clock for timestamps.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>Random value drawn at every opening, from which the seeds of new maps are derived.</summary>
    public ulong HashSeed { get; init; }

    /// <summary>Verifies pages on disk; null if the environment is read-only.</summary>
    public Scrubber? Scrubber { get; set; }

    /// <summary>The newest published state.</summary>
    public Snapshot Current
    {
        get => Volatile.Read(ref _current);
        set
        {
            Debug.Assert(value.TransactionId >= _current.TransactionId, "1: published states ascend");
            Volatile.Write(ref _current, value);
        }
    }

    /// <summary>The last durable checkpoint.</summary>
    public MetaPage Durable
    {
        get => Volatile.Read(ref _durable);
        set
        {
            Debug.Assert(
                value.Checkpoint >= _durable.Checkpoint && value.LastTransaction >= _durable.LastTransaction,
                "2: checkpoints ascend");
            Debug.Assert(value.LastTransaction <= Current.TransactionId, "2: only published states are written");
            Volatile.Write(ref _durable, value);
            Bitmaps.Meta = value;
        }
    }

    /// <summary>
    /// Last transactions of checkpoints that failed while their meta page was being written: it may be on disk nevertheless,
    /// so a recovery may start from it, until a later one is durable. Must be used by the leader only.
    /// </summary>
    public List<long> Doubtful { get; } = [];

    /// <summary>Last transaction of the running checkpoint, or -1. Pages up to it are held.</summary>
    public long CheckpointUnderWay { get; set; } = -1;

    /// <summary>The error that stopped writing for good, or null.</summary>
    public Exception? Failure
    {
        get => Volatile.Read(ref _failure);
        set => Volatile.Write(ref _failure, value);
    }

    /// <summary>Bytes of data-file pages held only by open readers, as of the last batch.</summary>
    public long BytesHeldByReaders => Volatile.Read(ref _heldByReaders) * PageLayout.SizeBytes;

    /// <summary>Bytes of scratch pages that a checkpoint has yet to write.</summary>
    public long UnwrittenBytes => Store.Scratch.BytesInUse - Interlocked.Read(ref _retiredBytes);

    /// <summary>
    /// Retires frames whose pages were written: each is released once no reader can hold it. Must be called by the leader.
    /// </summary>
    public void Retire(List<uint> frames)
    {
        Debug.Assert(frames.TrueForAll(frame => Store.Scratch.Record(frame).Pages > 0), "3: retired frames are in use");
        foreach (uint frame in frames)
            Interlocked.Add(ref _retiredBytes, (long)Store.Scratch.Record(frame).Pages * PageLayout.SizeBytes);
        _retired.Add(new RetiredGroup(frames, Current.TransactionId));
    }

    /// <summary>Frees what no snapshot can see. Must be called by the leader.</summary>
    public void Reclaim()
    {
        // Read these before collecting the readers: a reader not yet in a slot will find this state or a newer one.
        long current = Current.TransactionId;
        long durable = Durable.LastTransaction;
        _snapshots.Clear();
        Readers.CollectSnapshots(_snapshots);
        _snapshots.Sort();
        ReleaseRetired();
        int readers = _snapshots.Count;
        _readers.Clear();
        _readers.AddRange(_snapshots);

        _snapshots.Add(current); // for readers that begin now
        _snapshots.Add(durable); // a recovery would start from it
        _snapshots.AddRange(Doubtful); // or from one of these
        _snapshots.Sort();
        _released.Clear();
        Space.Reclaim(
            System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_snapshots), durable, CheckpointUnderWay, _released);
        long held = readers == 0 ? 0 : Space.Held.CountUnder(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_readers));
        Volatile.Write(ref _heldByReaders, held);
    }

    /// <summary>
    /// Re-examines a group only when fewer open snapshots can hold its frames, so that a reader open for a year costs one
    /// comparison per checkpoint it blocks, not one per frame.
    /// </summary>
    private void ReleaseRetired()
    {
        for (int i = _retired.Count - 1; i >= 0; i--)
        {
            RetiredGroup group = _retired[i];
            int blockers = 0;
            while (blockers < _snapshots.Count && _snapshots[blockers] <= group.At)
                blockers++;
            if (blockers >= group.Blockers)
                continue;

            group.Blockers = blockers;
            group.Frames.RemoveAll(frame => !IsHeld(frame, group.At) && Release(frame));
            if (group.Frames.Count == 0)
                _retired.RemoveAt(i);
        }
    }

    private bool IsHeld(uint frame, long until)
    {
        int index = _snapshots.BinarySearch(Store.Scratch.Record(frame).Birth);
        index = index < 0 ? ~index : index;
        return index < _snapshots.Count && _snapshots[index] <= until;
    }

    private bool Release(uint frame)
    {
        Debug.Assert(Store.Scratch.Record(frame).Pages > 0, "3: a retired frame is released once");
        long left = Interlocked.Add(ref _retiredBytes, -(long)Store.Scratch.Record(frame).Pages * PageLayout.SizeBytes);
        Debug.Assert(left >= 0, "3: retired bytes are counted once");
        Store.Release(frame);
        return true;
    }

    /// <summary>Frames made obsolete by one checkpoint.</summary>
    private sealed class RetiredGroup(List<uint> frames, long at)
    {
        public List<uint> Frames { get; } = frames;

        /// <summary>Snapshots newer than this one read the pages from the memory map.</summary>
        public long At { get; } = at;

        /// <summary>Number of snapshots up to <see cref="At"/> when the group was last examined.</summary>
        public int Blockers { get; set; } = int.MaxValue;
    }
}
