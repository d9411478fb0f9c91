using System.Diagnostics;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// The open snapshots: a slot for each read transaction, each in cache lines of its own, so that readers do not slow
/// each other. Taking a slot is one interlocked operation, giving it back one store.
/// </summary>
/// <remarks>
/// A slot holds snapshot + 1, or 0 when free. A reader stores its snapshot before it reads the page table; the
/// writer changes the table (or publishes) before it looks at the slots. Whoever comes second sees the other.
/// </remarks>
internal sealed class ReaderTable
{
    private const int SlotLongs = 16; // 128 bytes: two lines, because processors fetch them in pairs
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

    /// <summary>Takes a slot for a snapshot; <paramref name="name"/> is for statistics.</summary>
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
    /// Who reads, oldest snapshot first. A reader that begins or ends meanwhile may be missing, or be named as the one before in
    /// its slot.
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

    /// <summary>The snapshots in use, in no order and some more than once, added to a list.</summary>
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
    /// Who reads at this moment: once all of them have ended or renewed, nobody holds what could not be looked up any more before
    /// the call.
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
                    // even: its count is about to follow, or it is about to go
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
    /// The place of one reader. It carries the number of its claim, by which a copy of it knows that it was given back, even if
    /// another has it now.
    /// </summary>
    internal struct Slot(Segment segment, int index, long claim)
    {
        private long _claim = claim;

        /// <summary>Whether it was given back.</summary>
        public readonly bool IsFreed => Volatile.Read(ref segment.Slots[index + 2]) != _claim;

        /// <summary>Throws if it was given back.</summary>
        public readonly void ThrowIfFreed()
        {
            if (segment is null || IsFreed)
                throw new ObjectDisposedException(
                    nameof(ReadScope), "The read has been disposed, and what was read through it with it.");
        }

        /// <summary>Counts as another reader of the same snapshot from now on. Copies made before count as given back.</summary>
        public void Renew()
        {
            ThrowIfFreed();
            _claim += 2; // odd while it is claimed
            // a page that is looked up next is looked up after this is seen
            Interlocked.Exchange(ref segment.Slots[index + 2], _claim);
        }

        /// <summary>Moves to another snapshot.</summary>
        public readonly void Change(long snapshot)
        {
            Debug.Assert(!IsFreed && snapshot >= 0, "a slot in use has a snapshot");
            Interlocked.Exchange(ref segment.Slots[index], snapshot + 1);
        }

        /// <summary>Gives the place back.</summary>
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

    /// <summary>The readers of one moment. It never changes: any number of threads may ask at once.</summary>
    internal sealed class GracePeriod((long[] Slots, int Index, long Claim)[] readers)
    {
        /// <summary>Whether none of them reads any more what it could look up then.</summary>
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
    /// Slots that were made together: snapshot + 1, time of begin in ms and number of claims and returns for each; names, which
    /// are rare, beside them.
    /// </summary>
    internal sealed class Segment
    {
        public long[] Slots { get; } = new long[(SegmentSlots * SlotLongs) + SlotLongs];

        public string?[] Names { get; } = new string?[SegmentSlots];
    }
}
