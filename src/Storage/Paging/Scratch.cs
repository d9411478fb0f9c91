using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// Native memory for pages that no checkpoint has written yet, in frames of one page. Frames of a run are contiguous, so that
/// a value of any size is one span. Only the one writer may allocate and release; any thread may read the bytes.
/// </summary>
/// <remarks>
/// Invariants. 1. Frame numbers 0 and 1 are never allocated: in the page table they mean "not yet verified" and "in the map".
/// 2. A frame is either free, or in exactly one run whose first frame has its record, or the spare of exactly one frame.
/// 3. For two frames in use, <c>Successor</c> of one names the other if and only if <c>Source</c> of the other names the one.
/// 4. A spare holds the bytes of the page that its owner was copied from, so the two differ at most in the owner's
/// <c>Changed</c> lines: the next copy of the owner's page costs those lines, not a page. Spares and frames in use together
/// do not exceed the memory that is kept.
/// </remarks>
internal sealed class Scratch : IDisposable
{
    /// <summary>Size of an arena in bytes: one huge page of the processor.</summary>
    public const long ArenaBytes = AddressRange.AlignmentBytes;

    /// <summary>Number of frames of an arena: 256.</summary>
    public const int ArenaFrames = (int)(ArenaBytes / PageLayout.SizeBytes);

    private const uint FirstFrame = 2;
    // A small store does without huge pages, which would cost it 2 MiB for a few of its own.
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

    /// <param name="reserveBytes">Maximum memory for frames.</param>
    /// <param name="keptBytes">Memory that may be used, and is kept for reuse; frames beyond it are in a file, or their
    /// memory is returned to the system after use.</param>
    /// <param name="isSecret">Whether frames are kept out of swap and core dumps where the system allows, and zeroed when
    /// released.</param>
    /// <param name="openSpill">Creates the file for frames beyond that memory, when needed; null if there is none.</param>
    /// <param name="keptSpillBytes">Bytes of that file that are kept for reuse.</param>
    /// <param name="calls">System calls; null for those of this machine.</param>
    /// <param name="firstBytes">Addresses reserved at once, in bytes.</param>
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

    /// <summary>Whether the system keeps all frames out of swap.</summary>
    public bool IsLocked { get; private set; }

    /// <summary>Bytes of frames in use.</summary>
    public long BytesInUse => Volatile.Read(ref _framesInUse) * PageLayout.SizeBytes;

    /// <summary>Bytes of memory touched by frames and not returned to the system.</summary>
    public long ResidentBytes => _arenas.ResidentBytes;

    /// <summary>Bytes of the file that holds the frames beyond this memory.</summary>
    public long SpilledBytes => _arenas.SpilledBytes;

    /// <summary>End of the committed frames: all frames in use have lower numbers.</summary>
    public uint FrameCount => _committedFrames;

    /// <summary>Allocates contiguous frames; their bytes are undefined.</summary>
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
    /// Allocates a frame with a copy of a page. If the page is in a frame that has a spare, updates the spare instead of
    /// copying the whole page.
    /// </summary>
    /// <param name="source">The frame of the page, or 0.</param>
    /// <param name="original">The bytes of the page.</param>
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

    /// <summary>Releases a frame that nobody can see any more; if possible, as the spare of the frame copied from it.</summary>
    /// <param name="frame">The frame.</param>
    /// <param name="mayBeSpare">Whether the frame copied from it is still the current one of its page.</param>
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

    /// <summary>Releases the spare of a frame that is no longer the current one of its page.</summary>
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

    /// <summary>Releases a run.</summary>
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

    /// <summary>Returns the memory of empty arenas, except the first, to the system.</summary>
    public void Trim() => _arenas.Trim();

    /// <inheritdoc cref="SpillFile.ThrowIfNotWrittenOut"/>
    public void ThrowIfNotWrittenOut() => _arenas.ThrowIfNotWrittenOut();

    /// <summary>Returns the record of a frame.</summary>
    public ref FrameRecord Record(uint frame) => ref _records[frame];

    /// <summary>Returns the bytes of a run, given its first frame.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Bytes(uint frame, int lengthBytes) => _space.Span(frame, lengthBytes);

    /// <summary>
    /// Whether a frame has memory: a few below <see cref="FrameCount"/>, where one address segment ends and the next begins,
    /// do not.
    /// </summary>
    public bool IsCommitted(uint frame) => _arenas.IsCommitted(frame);

    public void Dispose()
    {
        _space.Dispose();
        _arenas.Dispose();
    }

    /// <summary>
    /// Turns the frames of an arena that were split into single ones back into one extent, so that runs fit again.
    /// </summary>
    private void Reunite(int arena)
    {
        if (_singles.TryTakeArena(arena))
            AddExtent((uint)arena * ArenaFrames, ArenaFrames);
    }

    /// <summary>Maintains invariant 3 for a frame that goes out of use; its own spare is released too.</summary>
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

    /// <summary>Record of a run, kept at its first frame.</summary>
    internal struct FrameRecord
    {
        /// <summary>Number of the (first) page.</summary>
        public long Page;

        /// <summary>Birth transaction of the page.</summary>
        public long Birth;

        /// <summary>Number of pages of the run; 0 for a frame not in use.</summary>
        public int Pages;

        /// <summary>Command of the running batch that made the page or saved its image; undefined after the batch.</summary>
        public int Command;

        /// <summary>Index in the running batch's list of pages; undefined after the batch.</summary>
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
