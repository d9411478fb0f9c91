using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// What stands behind the arenas of scratch: nothing, memory of the process, or, beyond the memory that may be taken, a file.
/// Which of them is decided when the first
/// frame of an empty arena is given out. For the one writer; figures may be read by anyone.
/// </summary>
/// <remarks>
/// Invariants. 1. An arena with a frame in use has memory or a part of the file behind it, and keeps it: readers hold addresses.
/// 2. No more arenas have memory than are
/// to be kept, but where there is no file or the disk has no room for it. 3. An empty arena keeps a part of the file only while
/// no more have one than are to be
/// kept: a part that is mapped and dirty is used again without a fault and a call for each of its pages.
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

    /// <param name="space">Where they lie.</param>
    /// <param name="keptBytes">Memory that may be taken.</param>
    /// <param name="keptSpillBytes">Bytes of the file that are kept for use again.</param>
    /// <param name="isSecret">Whether it may be locked.</param>
    /// <param name="openSpill">Creates the file, when it is needed; null where there is none.</param>
    /// <param name="onEmptied">Told which arena has given back what stood behind it.</param>
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

    /// <summary>Bytes of arenas with memory of the process behind them.</summary>
    public long ResidentBytes => Volatile.Read(ref _resident) * Scratch.ArenaBytes;

    /// <summary>Bytes of the file.</summary>
    public long SpilledBytes => Volatile.Read(ref _spilledBytes);

    /// <summary>Frames have memory from now on.</summary>
    public void OnCommitted(uint frame, int pages)
    {
        for (long at = frame; at < frame + pages; at += Scratch.ArenaFrames)
            Find(at, frame + pages, out _, out _).IsCommitted = true;
    }

    /// <summary>Whether a frame has memory.</summary>
    public bool IsCommitted(uint frame) =>
        frame / Scratch.ArenaFrames is var number && number < _arenas.Length && _arenas[number].IsCommitted;

    /// <summary>Frames are given out.</summary>
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

    /// <summary>Frames are free again. An arena that nothing is in gives back what stands behind it, but for the memory that is
    /// to be kept.</summary>
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

    /// <summary>Gives what stands behind empty arenas, but for the first, back to the system.</summary>
    public void Trim()
    {
        for (int number = _arenas.Length - 1; number > 0; number--)
            if (_arenas[number] is { IsBacked: true, Frames: 0 })
                GiveBack(number, ref _arenas[number]);
    }

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
            if (!_spill!.TryUnmap(range, offset, arena.FilePart)) // it has given the part
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
    /// Frames in use; whether it can be used; whether something stands behind; and the part of the file, -1 for memory.
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
