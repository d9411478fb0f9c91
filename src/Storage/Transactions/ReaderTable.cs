using System.Diagnostics;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// The open snapshots: one slot per read transaction, each on its own cache lines, so that readers do not slow each other
/// down. Claiming a slot takes one interlocked operation, freeing it one store.
/// </summary>
/// <remarks>
/// A slot holds snapshot + 1, or 0 if free. A reader stores its snapshot before it reads the page table; the writer changes
/// the table (or publishes) before it reads the slots. So whichever comes second sees the other.
/// </remarks>
internal sealed class ReaderTable
{
    private const int SlotLongs = 16; // 128 bytes: two lines, because processors prefetch lines in pairs
    private const int SegmentSlots = 64;
    private const int MaxSegments = 1024;

    private readonly Segment?[] _segments = new Segment?[MaxSegments];
    private readonly Lock _growth = new();
    private int _segmentCount;

    private readonly CoarseClock _ages;

    public ReaderTable(CoarseClock ages)
    {
        _ages = ages;
        AddSegment(0);
    }

    /// <summary>Claims a slot for a snapshot; <paramref name="name"/> is for statistics.</summary>
    public Slot Claim(long snapshot, string? name)
    {
        Debug.Assert(snapshot >= 0, "a slot in use is not 0");
        int hint = Thread.GetCurrentProcessorId();
        for (int segment = 0; ; segment++)
        {
            if (segment == Volatile.Read(ref _segmentCount))
                AddSegment(segment);

            Segment found = _segments[segment]!; // segments below the count are set
            long[] slots = found.Slots;
            for (int i = 0; i < SegmentSlots; i++)
            {
                int index = ((hint + i) & (SegmentSlots - 1)) * SlotLongs;
                if (slots[index] == 0 && Interlocked.CompareExchange(ref slots[index], snapshot + 1, 0) == 0)
                {
                    Volatile.Write(ref slots[index + 1], _ages.NowMs);
                    if (name is not null)
                        found.Names[index / SlotLongs] = name;
                    Debug.Assert((slots[index + 2] & 1) == 0, "a free slot has an even number of claims and returns");
                    return new Slot(found, index, ++slots[index + 2]);
                }
            }
        }
    }

    /// <summary>
    /// Describes the open readers, oldest snapshot first. A reader that begins or ends meanwhile may be missing, or appear
    /// under the name of the slot's previous reader.
    /// </summary>
    public IReadOnlyList<ReaderInfo> Describe()
    {
        var readers = new List<ReaderInfo>();
        long now = _ages.NowMs;
        for (int segment = 0; segment < Volatile.Read(ref _segmentCount); segment++)
        {
            Segment found = _segments[segment]!; // segments below the count are set
            for (int i = 0; i < SegmentSlots; i++)
            {
                long value = Volatile.Read(ref found.Slots[i * SlotLongs]);
                if (value != 0)
                    readers.Add(
                        new ReaderInfo(
                            found.Names[i], value - 1,
                            TimeSpan.FromMilliseconds(Math.Max(0, now - Volatile.Read(ref found.Slots[(i * SlotLongs) + 1])))));
            }
        }

        return [.. readers.OrderBy(reader => reader.TransactionId).ThenByDescending(reader => reader.Age)];
    }

    /// <summary>Adds the snapshots in use to a list, in no order and possibly more than once.</summary>
    public void CollectSnapshots(List<long> snapshots)
    {
        Interlocked.MemoryBarrier();
        for (int segment = 0; segment < Volatile.Read(ref _segmentCount); segment++)
        {
            long[] slots = _segments[segment]!.Slots; // segments below the count are set
            for (int i = 0; i < slots.Length; i += SlotLongs)
            {
                long value = Volatile.Read(ref slots[i]);
                if (value != 0)
                    snapshots.Add(value - 1);
            }
        }
    }

    /// <summary>
    /// Captures the current readers: once all of them have ended or renewed, no reader holds anything that could no longer be
    /// looked up before the call.
    /// </summary>
    public GracePeriod BeginGracePeriod()
    {
        Interlocked.MemoryBarrier();
        var readers = new List<(long[] Slots, int Index, long Claim)>();
        for (int segment = 0; segment < Volatile.Read(ref _segmentCount); segment++)
        {
            long[] slots = _segments[segment]!.Slots; // segments below the count are set
            for (int i = 0; i < slots.Length; i += SlotLongs)
                if (Volatile.Read(ref slots[i]) != 0)
                    // If even, the claim is about to be counted, or the slot is about to be freed.
                    readers.Add((slots, i, Volatile.Read(ref slots[i + 2]) | 1));
        }

        return new GracePeriod([.. readers]);
    }

    private void AddSegment(int segment)
    {
        lock (_growth)
        {
            if (_segmentCount > segment)
                return;
            if (segment == MaxSegments)
                throw new InvalidOperationException(
                    $"{MaxSegments * SegmentSlots} read transactions are open; are they disposed?");

            _segments[segment] = new Segment();
            Volatile.Write(ref _segmentCount, segment + 1);
        }
    }

    /// <summary>
    /// The slot of one reader. It carries the number of its claim, so that a copy of it knows that it was freed, even if
    /// another reader has claimed the slot since.
    /// </summary>
    internal struct Slot(Segment segment, int index, long claim)
    {
        private long _claim = claim;

        /// <summary>Whether this claim was freed or renewed.</summary>
        public readonly bool IsFreed => Volatile.Read(ref segment.Slots[index + 2]) != _claim;

        /// <summary>Throws if this claim was freed.</summary>
        public readonly void ThrowIfFreed()
        {
            if (segment is null || IsFreed)
                throw new ObjectDisposedException(
                    nameof(ReadScope), "The read has been disposed, and what was read through it with it.");
        }

        /// <summary>Makes it count as a new reader of the same snapshot. Earlier copies count as freed.</summary>
        public void Renew()
        {
            ThrowIfFreed();
            _claim += 2; // odd while it is claimed
            // Full barrier: later page lookups happen after this store is visible.
            Interlocked.Exchange(ref segment.Slots[index + 2], _claim);
        }

        /// <summary>Moves the reader to another snapshot.</summary>
        public readonly void Change(long snapshot)
        {
            Debug.Assert(!IsFreed && snapshot >= 0, "a slot in use has a snapshot");
            Interlocked.Exchange(ref segment.Slots[index], snapshot + 1);
        }

        /// <summary>Frees the slot.</summary>
        public readonly void Free()
        {
            Debug.Assert(!IsFreed && segment.Slots[index] != 0, "a slot is given back once");
            ref string? name = ref segment.Names[index / SlotLongs];
            if (name is not null)
                name = null;
            segment.Slots[index + 2]++;
            Volatile.Write(ref segment.Slots[index], 0);
        }
    }

    /// <summary>The readers at one moment. Immutable, so any number of threads may use it at once.</summary>
    internal sealed class GracePeriod((long[] Slots, int Index, long Claim)[] readers)
    {
        /// <summary>Whether all of them have ended or renewed since.</summary>
        public bool IsOver
        {
            get
            {
                foreach ((long[] slots, int index, long claim) in readers)
                    if (Volatile.Read(ref slots[index]) != 0 && Volatile.Read(ref slots[index + 2]) <= claim)
                        return false;
                return true;
            }
        }
    }

    /// <summary>
    /// Slots allocated together. For each: snapshot + 1, start time in ms, and number of claims and frees. Names, which are
    /// rare, are kept separately.
    /// </summary>
    internal sealed class Segment
    {
        public long[] Slots { get; } = new long[(SegmentSlots * SlotLongs) + SlotLongs];

        public string?[] Names { get; } = new string?[SegmentSlots];
    }
}
