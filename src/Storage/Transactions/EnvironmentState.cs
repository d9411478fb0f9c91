using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Transactions;

/// <summary>What writer, checkpointer and readers of one environment share.</summary>
/// <remarks>
/// Invariants. 1. Published states ascend. 2. Checkpoints ascend, and none is newer than the published state. 3. Retired frames
/// are in use until they are released, once.
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

    /// <summary>Bitmap pages of the last durable checkpoint.</summary>
    public required BitmapSource Bitmaps { get; init; }

    /// <summary>Time of day, for what is stamped with it.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>Drawn at every opening; where the seeds of new maps begin.</summary>
    public ulong HashSeed { get; init; }

    /// <summary>What verifies pages on the disk; null where the environment is read-only.</summary>
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
    /// Last transactions of checkpoints whose meta page was being written when they failed: the disk may have it all the same,
    /// and a recovery begin from it, until a later one is durable. For the leader.
    /// </summary>
    public List<long> Doubtful { get; } = [];

    /// <summary>Last transaction of the checkpoint under way, or -1. Pages up to it are held.</summary>
    public long CheckpointUnderWay { get; set; } = -1;

    /// <summary>Why writing has stopped for good, or null.</summary>
    public Exception? Failure
    {
        get => Volatile.Read(ref _failure);
        set => Volatile.Write(ref _failure, value);
    }

    /// <summary>Bytes of the data file that only open readers keep, as of the last batch.</summary>
    public long BytesHeldByReaders => Volatile.Read(ref _heldByReaders) * PageLayout.SizeBytes;

    /// <summary>Bytes of pages that a checkpoint still has to write.</summary>
    public long UnwrittenBytes => Store.Scratch.BytesInUse - Interlocked.Read(ref _retiredBytes);

    /// <summary>Pages were written: their frames go when no reader can hold them any more. For the leader.</summary>
    public void Retire(List<uint> frames)
    {
        Debug.Assert(frames.TrueForAll(frame => Store.Scratch.Record(frame).Pages > 0), "3: retired frames are in use");
        foreach (uint frame in frames)
            Interlocked.Add(ref _retiredBytes, (long)Store.Scratch.Record(frame).Pages * PageLayout.SizeBytes);
        _retired.Add(new RetiredGroup(frames, Current.TransactionId));
    }

    /// <summary>Gives free what no snapshot can see. For the leader.</summary>
    public void Reclaim()
    {
        // Published before, so read before: a reader that is not in a slot yet will find this state or a newer one.
        long current = Current.TransactionId;
        long durable = Durable.LastTransaction;
        _snapshots.Clear();
        Readers.CollectSnapshots(_snapshots);
        _snapshots.Sort();
        ReleaseRetired();
        int readers = _snapshots.Count;
        _readers.Clear();
        _readers.AddRange(_snapshots);

        _snapshots.Add(current); // whoever begins now
        _snapshots.Add(durable); // what a recovery would begin from
        _snapshots.AddRange(Doubtful); // or this
        _snapshots.Sort();
        _released.Clear();
        Space.Reclaim(
            System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_snapshots), durable, CheckpointUnderWay, _released);
        long held = readers == 0 ? 0 : Space.Held.CountUnder(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_readers));
        Volatile.Write(ref _heldByReaders, held);
    }

    /// <summary>
    /// Looks at a group again only when fewer snapshots are open that can hold frames of it, so that a reader that stays
    /// for a year costs one comparison for each checkpoint it blocks, not one for each frame.
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

    /// <summary>Frames that one checkpoint made superfluous.</summary>
    private sealed class RetiredGroup(List<uint> frames, long at)
    {
        public List<uint> Frames { get; } = frames;

        /// <summary>Snapshots after this one find the pages in the map.</summary>
        public long At { get; } = at;

        /// <summary>Snapshots up to <see cref="At"/> when the group was last looked at.</summary>
        public int Blockers { get; set; } = int.MaxValue;
    }
}
