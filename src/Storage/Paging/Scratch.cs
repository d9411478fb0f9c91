using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// Native memory for pages that no checkpoint has written yet, in frames of one page. Frames of one run lie side by side,
/// so that a value of any size is one span. Allocation and release belong to the one writer; bytes may be read by any thread.
/// </summary>
/// <remarks>
/// Invariants. 1. Frame numbers 0 and 1 are never given out: in the page table they mean "not looked at" and "in the map".
/// 2. A frame is either free, or in exactly one run whose first frame has its record, or the spare of exactly one frame.
/// 3. Of two frames in use, <c>Successor</c> of one names the other if and only if <c>Source</c> of the other names the one.
/// 4. A spare holds the bytes of the page that its owner was copied from, so the two differ in the owner's <c>Changed</c> lines
/// at most: the next copy of the owner's page costs those lines, not a page. Spares and frames in use together are no more than
/// the memory that is kept.
/// </remarks>
internal sealed class Scratch : IDisposable
{
    /// <summary>Bytes of an arena: one large page of the processor.</summary>
    public const long ArenaBytes = AddressRange.AlignmentBytes;

    /// <summary>Frames of an arena: 256.</summary>
    public const int ArenaFrames = (int)(ArenaBytes / PageLayout.SizeBytes);

    private const uint FirstFrame = 2;
    // a small store does without large pages, which would cost it 2 MiB for a few of its own
    private const int SmallFrames = 2 * ArenaFrames;
    private const int DiscardFromPages = 32;

    private const long DefaultFirstBytes = 512L << 20;
    private const int SegmentFactor = 8; // 4 GiB, more than the longest value

    private readonly ScratchSpace _space;
    private readonly long _limitBytes;
    private readonly SingleFrames _singles = new();
    private readonly ScratchArenas _arenas;
    private readonly SortedDictionary<uint, int> _extents = [];
    private FrameRecord[] _records = new FrameRecord[ArenaFrames];
    private uint _committedFrames;
    private long _committedBytes;
    private long _framesInUse;
    private long _spares;

    private readonly bool _isSecret;
    private readonly long _keptFrames;

    /// <param name="reserveBytes">Most memory that frames may take.</param>
    /// <param name="keptBytes">Memory that may be taken, and is kept for use again; what is needed beyond lies in a file, or goes
    /// back to the system after use.</param>
    /// <param name="isSecret">Whether frames are kept out of swap and core dumps where the system allows, and zeroed when they go
    /// out of use.</param>
    /// <param name="openSpill">Creates the file for frames beyond that memory, when it is needed; null where there is
    /// none.</param>
    /// <param name="keptSpillBytes">Bytes of that file that are kept for use again.</param>
    /// <param name="calls">The system; null for this machine's.</param>
    /// <param name="firstBytes">Addresses that are reserved at once.</param>
    public Scratch(
        long reserveBytes,
        long keptBytes,
        bool isSecret = false,
        Func<SpillFile?>? openSpill = null,
        long keptSpillBytes = 0,
        SystemCalls? calls = null,
        long firstBytes = DefaultFirstBytes)
    {
        _isSecret = isSecret;
        IsLocked = isSecret;
        _keptFrames = keptBytes / PageLayout.SizeBytes;
        _limitBytes = reserveBytes;
        firstBytes = Math.Max(ArenaBytes, Math.Min(firstBytes, reserveBytes) / ArenaBytes * ArenaBytes);
        _space = new ScratchSpace(firstBytes, firstBytes * SegmentFactor, calls);
        _arenas = new ScratchArenas(_space, keptBytes, keptSpillBytes, isSecret, openSpill, Reunite);
        Grow(ArenaFrames);
    }

    /// <summary>Whether the system keeps frames out of swap.</summary>
    public bool IsLocked { get; private set; }

    /// <summary>Bytes of frames in use.</summary>
    public long BytesInUse => Volatile.Read(ref _framesInUse) * PageLayout.SizeBytes;

    /// <summary>Bytes of memory that frames have touched and that did not go back to the system.</summary>
    public long ResidentBytes => _arenas.ResidentBytes;

    /// <summary>Bytes of the file that frames beyond this memory lie in.</summary>
    public long SpilledBytes => _arenas.SpilledBytes;

    /// <summary>Frames that were ever committed: those in use have numbers below.</summary>
    public uint FrameCount => _committedFrames;

    /// <summary>Gives out frames side by side; their bytes are undefined.</summary>
    public uint Allocate(int pages, long pageNumber, long birth)
    {
        Debug.Assert(pages > 0, "2: a run has frames");
        uint frame = pages == 1 ? AllocateSingle() : AllocateRun(pages);
        Debug.Assert(frame >= FirstFrame, "1: frames 0 and 1 are never given out");
        Debug.Assert(frame + pages <= _committedFrames, "2: only frames with memory are given out");
        Debug.Assert(_records[frame].Pages == 0, "2: a frame in use is not given out again");
        _records[frame] = new FrameRecord { Page = pageNumber, Birth = birth, Pages = pages };
        Volatile.Write(ref _framesInUse, _framesInUse + pages);
        _arenas.Count(frame, pages);
        return frame;
    }

    /// <summary>
    /// A frame with a copy of a page, whose bytes the caller has. Where the page lies in a frame that has a spare, that one is
    /// brought up to date.
    /// </summary>
    /// <param name="source">The frame the page lies in, or 0.</param>
    /// <param name="original">Its bytes.</param>
    /// <param name="pageNumber">Number of the copy.</param>
    /// <param name="birth">Birth of the copy.</param>
    public uint AllocateCopy(uint source, ReadOnlySpan<byte> original, long pageNumber, long birth)
    {
        uint frame = source == 0 ? 0 : _records[source].Spare;
        if (frame == 0)
        {
            frame = Allocate(1, pageNumber, birth);
            original.CopyToFresh(Bytes(frame, PageLayout.SizeBytes));
        }
        else
        {
            ref FrameRecord owner = ref _records[source];
            Debug.Assert(owner.Pages == 1 && _records[frame].Pages == 0, "2: a spare is a frame of its own, not in use");
            owner.Changed.Copy(original, Bytes(frame, PageLayout.SizeBytes));
            Debug.Assert(
                default(LineSet).CoversDifferences(
                    original[LineSet.LineBytes..], Bytes(frame, PageLayout.SizeBytes)[LineSet.LineBytes..]),
                "4: a spare differs in the lines that were noted. (The first line has the checksum, which a checkpoint may be "
                    + "setting.)");
            owner.Spare = 0;
            _spares--;
            Debug.Assert(_spares >= 0, "2: spares are counted once");
            _records[frame] = new FrameRecord { Page = pageNumber, Birth = birth, Pages = 1 };
            Volatile.Write(ref _framesInUse, _framesInUse + 1);
        }

        if (source != 0)
        {
            Debug.Assert(_records[source].Successor == 0, "3: a page is copied once, or again when the copy was given back");
            _records[source].Successor = frame;
            _records[frame].Source = source;
        }

        return frame;
    }

    /// <summary>
    /// Takes back a frame that nobody can see any more: as the spare of the one that was copied from it, where that may be.
    /// </summary>
    /// <param name="frame">The frame.</param>
    /// <param name="mayBeSpare">Whether the one that was copied from it is still where its page is looked for.</param>
    public void Release(uint frame, bool mayBeSpare)
    {
        uint owner = _records[frame].Successor;
        if (!mayBeSpare || owner == 0 || _records[owner].Spare != 0 || _framesInUse + _spares > _keptFrames)
        {
            Release(frame);
            return;
        }

        Debug.Assert(_records[frame].Pages == 1 && _records[owner].Pages == 1, "4: a spare is one frame, for one frame in use");
        Debug.Assert(_records[owner].Source == frame, "3: the successor of a frame was copied from it");
        Unlink(frame);
        _records[frame] = default;
        _records[owner].Spare = frame;
        _spares++;
        Volatile.Write(ref _framesInUse, _framesInUse - 1);
    }

    /// <summary>Gives up the spare of a frame whose page is not looked for there any more.</summary>
    public void DropSpare(uint frame)
    {
        ref FrameRecord owner = ref _records[frame];
        if (owner.Spare == 0)
            return;

        uint spare = owner.Spare;
        Debug.Assert(_records[spare].Pages == 0, "2: a spare is not in use");
        owner.Spare = 0;
        _spares--;
        Debug.Assert(_spares >= 0, "2: spares are counted once");
        Zero(spare, 1);
        _singles.Add(spare);
        _arenas.Discount(spare, 1);
    }

    /// <summary>Takes a run back.</summary>
    public void Release(uint frame)
    {
        int pages = _records[frame].Pages;
        Debug.Assert(pages > 0, "2: a frame in use has its record");
        Unlink(frame);
        _records[frame] = default;
        Volatile.Write(ref _framesInUse, _framesInUse - pages);
        Debug.Assert(_framesInUse >= 0, "2: frames in use are counted once");
        Zero(frame, pages);
        if (pages == 1)
        {
            _singles.Add(frame);
        }
        else
        {
            if (pages >= DiscardFromPages)
                Discard(frame, (long)pages * PageLayout.SizeBytes);
            AddExtent(frame, pages);
        }

        _arenas.Discount(frame, pages);
    }

    /// <summary>Gives memory that nothing is in back to the system, but for a little.</summary>
    public void Trim() => _arenas.Trim();

    /// <summary>What a frame holds.</summary>
    public ref FrameRecord Record(uint frame) => ref _records[frame];

    /// <summary>The bytes of a run, from its first frame.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Bytes(uint frame, int lengthBytes) => _space.Span(frame, lengthBytes);

    /// <summary>
    /// Whether a frame has memory: of those below <see cref="FrameCount"/> a few lie where one segment of addresses ends and the
    /// next begins.
    /// </summary>
    public bool IsCommitted(uint frame) => _arenas.IsCommitted(frame);

    public void Dispose()
    {
        _space.Dispose();
        _arenas.Dispose();
    }

    /// <summary>Frames of an arena that were divided into single ones are one extent again: runs find room there.</summary>
    private void Reunite(int arena)
    {
        if (_singles.TryTakeArena(arena))
            AddExtent((uint)arena * ArenaFrames, ArenaFrames);
    }

    /// <summary>Invariant 3 for a frame that goes out of use, whose own spare goes too.</summary>
    private void Unlink(uint frame)
    {
        DropSpare(frame);
        ref FrameRecord record = ref _records[frame];
        Debug.Assert(record.Source == 0 || _records[record.Source].Successor == frame, "3: links go both ways");
        Debug.Assert(record.Successor == 0 || _records[record.Successor].Source == frame, "3: links go both ways");
        if (record.Source != 0)
            _records[record.Source].Successor = 0;
        if (record.Successor != 0)
            _records[record.Successor].Source = 0;
    }

    private void Zero(uint frame, int pages)
    {
        if (_isSecret)
            _space.Span(frame, (int)Math.Min((long)pages * PageLayout.SizeBytes, int.MaxValue)).Clear();
    }

    private void Discard(uint frame, long lengthBytes)
    {
        AddressRange range = _space.Find(frame, out long offset);
        if (_isSecret)
            range.DiscardLocked(offset, lengthBytes);
        else
            range.Discard(offset, lengthBytes);
    }

    private uint AllocateSingle()
    {
        if (_singles.TryTake(out uint frame))
            return frame;

        uint first = AllocateRun(ArenaFrames / 4);
        for (int i = (ArenaFrames / 4) - 1; i > 0; i--)
            _singles.Add(first + (uint)i);
        return first;
    }

    private uint AllocateRun(int pages)
    {
        while (true)
        {
            foreach ((uint start, int length) in _extents)
            {
                if (length < pages)
                    continue;

                _extents.Remove(start);
                if (length > pages)
                    _extents.Add(start + (uint)pages, length - pages);
                return start;
            }

            Grow(pages);
        }
    }

    private void Grow(int pages)
    {
        long step = (pages + ArenaFrames - 1L) / ArenaFrames * ArenaFrames, bytes = step * PageLayout.SizeBytes;
        if (bytes > _limitBytes - _committedBytes || (step > _space.EndFrame - _committedFrames && pages > _space.MostRunFrames))
            throw new StorageException(
                $"A transaction needs more than the {_limitBytes >> 20} MiB reserved for unwritten pages; write in smaller "
                    + $"transactions.");

        uint start = step > _space.EndFrame - _committedFrames ? _space.Add() : _committedFrames;
        AddressRange range = _space.Find(start, out long offset);
        range.Commit(offset, bytes);
        _arenas.OnCommitted(start, (int)step);
        if (_isSecret)
        {
            range.ExcludeFromDumps(offset, bytes);
            IsLocked = IsLocked && range.TryLock(offset, bytes);
        }

        if (start >= SmallFrames)
            range.PreferHugePages(offset, bytes);
        _committedFrames = start + (uint)step;
        _committedBytes += bytes;
        if (_records.Length < _committedFrames)
            Array.Resize(ref _records, (int)Math.Max(_committedFrames, Math.Min(2L * _records.Length, Array.MaxLength)));
        uint first = Math.Max(start, FirstFrame);
        AddExtent(first, (int)(_committedFrames - first));
    }

    private void AddExtent(uint start, int pages)
    {
        Debug.Assert(start >= FirstFrame && pages > 0 && start + pages <= _committedFrames, "1: free frames have memory");
        Debug.Assert(!_extents.ContainsKey(start), "2: a frame is free once");
        if (_extents.Remove(start + (uint)pages, out int after))
            pages += after;
        uint? before = null;
        foreach ((uint other, int length) in _extents)
        {
            if (other > start)
                break;
            if (other + (uint)length == start)
                before = other;
        }

        if (before is { } joined)
        {
            _extents[joined] += pages;
            return;
        }

        _extents.Add(start, pages);
    }

    /// <summary>What the first frame of a run holds.</summary>
    internal struct FrameRecord
    {
        /// <summary>Number of the (first) page.</summary>
        public long Page;

        /// <summary>Its birth transaction.</summary>
        public long Birth;

        /// <summary>Pages of the run; 0 for a frame not in use.</summary>
        public int Pages;

        /// <summary>Command of the running batch that made the page or saved its image; meaningless after the batch.</summary>
        public int Command;

        /// <summary>Place in the list of the running batch's pages; meaningless after the batch.</summary>
        public int Index;

        /// <summary>The frame in use that this one was copied from, or 0.</summary>
        public uint Source;

        /// <summary>The frame in use that was copied from this one, or 0.</summary>
        public uint Successor;

        /// <summary>A frame with the bytes of the page this one was copied from, or 0.</summary>
        public uint Spare;

        /// <summary>Lines that may differ from the page it was copied from.</summary>
        public LineSet Changed;
    }
}
