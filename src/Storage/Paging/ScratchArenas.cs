using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// The backing of the arenas of scratch: none, process memory, or, beyond the memory that may be used, a file. It is decided
/// when the first frame of an empty arena is allocated. Must be used by the one writer only; any thread may read the figures.
/// </summary>
/// <remarks>
/// Invariants. 1. An arena with a frame in use is backed by memory or a part of the file, and keeps that backing: readers
/// hold addresses. 2. No more arenas have memory than may be kept, unless there is no file or the disk has no room for it. 3.
/// An empty arena keeps its part of the file only while no more arenas have one than may be kept: a mapped dirty part can be
/// reused without a page fault and a system call per page.
/// </remarks>
internal sealed class ScratchArenas : IDisposable
{
    private readonly ScratchSpace _space;
    private readonly Func<SpillFile?>? _openSpill;
    private readonly Action<int> _onEmptied;
    private readonly bool _isSecret;
    private readonly long _kept;
    private readonly long _keptSpilled;
    private Arena[] _arenas = [Arena.Empty];
    private SpillFile? _spill;
    private bool _isSpillOpened;
    private int _resident;
    private int _spilled;
    private long _spilledBytes;

    /// <param name="space">The addresses of the arenas.</param>
    /// <param name="keptBytes">Memory that may be used.</param>
    /// <param name="keptSpillBytes">Bytes of the file that are kept for reuse.</param>
    /// <param name="isSecret">Whether the memory may be locked.</param>
    /// <param name="openSpill">Creates the file, when needed; null if there is none.</param>
    /// <param name="onEmptied">Called with the number of an arena whose backing was released.</param>
    public ScratchArenas(
        ScratchSpace space, long keptBytes, long keptSpillBytes, bool isSecret, Func<SpillFile?>? openSpill,
        Action<int> onEmptied)
    {
        _space = space;
        _isSecret = isSecret;
        _openSpill = openSpill;
        _onEmptied = onEmptied;
        _kept = Math.Max(1, keptBytes / Scratch.ArenaBytes);
        _keptSpilled = keptSpillBytes / Scratch.ArenaBytes;
    }

    /// <summary>Bytes of arenas backed by process memory.</summary>
    public long ResidentBytes => Volatile.Read(ref _resident) * Scratch.ArenaBytes;

    /// <summary>Size of the file in bytes.</summary>
    public long SpilledBytes => Volatile.Read(ref _spilledBytes);

    /// <summary>Records that frames were committed.</summary>
    public void OnCommitted(uint frame, int pages)
    {
        for (long at = frame; at < frame + pages; at += Scratch.ArenaFrames)
            Find(at, frame + pages, out _, out _).IsCommitted = true;
    }

    /// <summary>Whether a frame was committed.</summary>
    public bool IsCommitted(uint frame) =>
        frame / Scratch.ArenaFrames is var number && number < _arenas.Length && _arenas[number].IsCommitted;

    /// <summary>Counts allocated frames, and backs their arenas if necessary.</summary>
    public void Count(uint frame, int pages)
    {
        for (long at = frame; at < frame + pages;)
        {
            ref Arena arena = ref Find(at, frame + pages, out int number, out int part);
            arena.Frames += part;
            Debug.Assert(arena.Frames <= Scratch.ArenaFrames, "an arena has no more frames in use than it has frames");
            Debug.Assert(arena.IsCommitted, "1: frames in use have memory");
            if (!arena.IsBacked)
            {
                arena.IsBacked = true;
                Back(number, ref arena);
            }

            at += part;
        }
    }

    /// <summary>
    /// Uncounts released frames. An arena that becomes empty releases its backing if more is kept than allowed.
    /// </summary>
    public void Discount(uint frame, int pages)
    {
        for (long at = frame; at < frame + pages;)
        {
            ref Arena arena = ref Find(at, frame + pages, out int number, out int part);
            arena.Frames -= part;
            Debug.Assert(arena.Frames >= 0, "a frame is free once");
            if (arena.Frames == 0 && (arena.FilePart >= 0 ? _spilled > _keptSpilled : _resident > _kept))
                GiveBack(number, ref arena);
            at += part;
        }
    }

    /// <summary>Releases the backing of all empty arenas except the first.</summary>
    public void Trim()
    {
        for (int number = _arenas.Length - 1; number > 0; number--)
            if (_arenas[number] is { IsBacked: true, Frames: 0 })
                GiveBack(number, ref _arenas[number]);
    }

    /// <inheritdoc cref="SpillFile.ThrowIfNotWrittenOut"/>
    public void ThrowIfNotWrittenOut() => _spill?.ThrowIfNotWrittenOut();

    public void Dispose() => _spill?.Dispose();

    private ref Arena Find(long at, long end, out int number, out int part)
    {
        number = (int)(at / Scratch.ArenaFrames);
        part = (int)Math.Min(((number + 1L) * Scratch.ArenaFrames) - at, end - at);
        if (number >= _arenas.Length)
        {
            int before = _arenas.Length;
            Array.Resize(ref _arenas, Math.Max(number + 1, 2 * before));
            _arenas.AsSpan(before).Fill(Arena.Empty);
        }

        return ref _arenas[number];
    }

    private void Back(int number, ref Arena arena)
    {
        if (_resident >= _kept && Spill() is { } spill)
        {
            AddressRange range = RangeOf(number, out long offset);
            arena.FilePart = spill.TryMap(range, offset);
            Volatile.Write(ref _spilledBytes, spill.LengthBytes);
            if (arena.FilePart >= 0)
            {
                _spilled++;
                return;
            }
        }

        Volatile.Write(ref _resident, _resident + 1);
    }

    private void GiveBack(int number, ref Arena arena)
    {
        Debug.Assert(arena is { Frames: 0, IsBacked: true }, "1: an arena with a frame in use keeps what is behind it");
        AddressRange range = RangeOf(number, out long offset);
        if (arena.FilePart >= 0)
        {
            if (!_spill!.TryUnmap(range, offset, arena.FilePart)) // not null: it supplied the part
                return;

            _spilled--;
            Volatile.Write(ref _spilledBytes, _spill.LengthBytes);
        }
        else
        {
            if (_isSecret)
                range.DiscardLocked(offset, Scratch.ArenaBytes);
            else
                range.Discard(offset, Scratch.ArenaBytes);
            Volatile.Write(ref _resident, _resident - 1);
        }

        Debug.Assert(_resident >= 0 && _spilled >= 0, "2: arenas are counted once");
        arena = Arena.Empty with { IsCommitted = true };
        _onEmptied(number);
    }

    private AddressRange RangeOf(int arena, out long offset) => _space.Find((uint)arena * Scratch.ArenaFrames, out offset);

    private SpillFile? Spill()
    {
        if (!_isSpillOpened)
        {
            _isSpillOpened = true;
            _spill = _openSpill?.Invoke();
        }

        return _spill;
    }

    /// <summary>
    /// Number of frames in use; part of the file, or -1 for memory; whether it is committed; and whether it is backed.
    /// </summary>
    private struct Arena
    {
        public static readonly Arena Empty = new() { FilePart = -1 };

        public int Frames;
        public int FilePart;
        public bool IsCommitted;
        public bool IsBacked;
    }
}
