using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// Memory for the buckets and long values of an in-memory map: frames of 8 KiB, single or in runs of a power of two, in one
/// range of addresses with huge pages. Released frames stay readable, so that a late reader reads garbage instead of
/// crashing. Thread-safe.
/// </summary>
/// <remarks>
/// Invariants. 1. A run of 2^n frames starts at a multiple of 2^n, never at frame 0. 2. A run is either in use or in the list
/// of its size, once.
/// </remarks>
internal sealed class FrameArena : IDisposable
{
    private const int LargePageBytes = 2 << 20;
    private const int FirstStepFrames = LargePageBytes / PageLayout.SizeBytes;
    private const int MaxStepFrames = 16 * FirstStepFrames;
    private const int Classes = 18; // runs of up to 2^17 frames, or 1 GiB

    private readonly AddressRange _range;
    private readonly Lock _lock = new();
    private readonly Stack<uint>[] _free = new Stack<uint>[Classes];
    private readonly long _start;
    private readonly long _limit;
    private long _committed;
    private long _next = 1; // frame 0 means none
    private long _inUse;

    public FrameArena(long reserveBytes)
    {
        _range = AddressRange.Reserve(reserveBytes + LargePageBytes);
        _start = _range.FirstAligned(LargePageBytes);
        _limit = reserveBytes / PageLayout.SizeBytes;
        for (int i = 0; i < Classes; i++)
            _free[i] = new Stack<uint>();
    }

    /// <summary>The size of the frames in use, in bytes.</summary>
    public long BytesInUse => Volatile.Read(ref _inUse) * PageLayout.SizeBytes;

    /// <summary>The number of frames that may be read, in use or not.</summary>
    public long ReadableFrames => Volatile.Read(ref _committed);

    /// <summary>Allocates at least the given number of consecutive frames. Their contents are undefined.</summary>
    public uint Allocate(int frames)
    {
        int order = OrderOf(frames);
        Debug.Assert(frames > 0 && order < Classes, "1: there are runs of this size");
        lock (_lock)
        {
            if (!TryTake(order, out uint frame))
                frame = TakeNew(order);
            Debug.Assert(frame != 0 && frame % (1u << order) == 0, "1: a run begins at a multiple of its size");
            Debug.Assert(frame + (1L << order) <= _committed, "1: a run has memory");
            Volatile.Write(ref _inUse, _inUse + (1L << order));
            return frame;
        }
    }

    /// <summary>Releases frames.</summary>
    public void Release(uint frame, int frames)
    {
        int order = OrderOf(frames);
        Debug.Assert(frames > 0 && order < Classes, "1: there are runs of this size");
        lock (_lock)
        {
            Debug.Assert(frame != 0 && frame % (1u << order) == 0, "1: a run begins at a multiple of its size");
            Debug.Assert(frame + (1L << order) <= _committed, "1: a run has memory");
            _free[order].Push(frame);
            Volatile.Write(ref _inUse, _inUse - (1L << order));
            Debug.Assert(_inUse >= 0, "2: a run is given back once");
        }
    }

    /// <summary>Returns the bytes of a frame.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Bytes(uint frame) => _range.Span(_start + ((long)frame * PageLayout.SizeBytes), PageLayout.SizeBytes);

    /// <summary>Returns a cache line of a frame.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Line(uint frame, int offset) => _range.Line(_start + ((long)frame * PageLayout.SizeBytes) + offset);

    /// <summary>Returns the first bytes of a run.</summary>
    public Span<byte> Bytes(uint frame, int lengthBytes) =>
        _range.Span(_start + ((long)frame * PageLayout.SizeBytes), lengthBytes);

    /// <summary>Prefetches a cache line of a frame.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Prefetch(uint frame, int offset) => _range.Prefetch(_start + ((long)frame * PageLayout.SizeBytes) + offset);

    /// <summary>
    /// Returns the memory to the system; it reads as zeros afterwards. The addresses are freed with the last reference to
    /// this object.
    /// </summary>
    public void Dispose()
    {
        lock (_lock)
        {
            if (_committed > 0)
                _range.Discard(_start, _committed * PageLayout.SizeBytes);
        }
    }

    private static int OrderOf(int frames) => System.Numerics.BitOperations.Log2((uint)frames - 1) + (frames > 1 ? 1 : 0);

    /// <summary>Takes a free run, or splits a larger one.</summary>
    private bool TryTake(int order, out uint frame)
    {
        frame = 0;
        int larger = order;
        while (larger < Classes && !_free[larger].TryPop(out frame))
            larger++;
        if (larger == Classes)
            return false;

        while (larger-- > order)
            _free[larger].Push(frame + (1u << larger));
        return true;
    }

    /// <summary>
    /// Takes frames never used before, at a multiple of their number. If none are left, joins small free runs to larger ones.
    /// </summary>
    private uint TakeNew(int order)
    {
        long count = 1L << order, first = (_next + count - 1) / count * count;
        if (first + count > _limit)
        {
            JoinFree();
            if (TryTake(order, out uint frame))
                return frame;
        }

        GrowTo(first + count);
        for (; _next < first; _next++)
            _free[0].Push((uint)_next);
        _next = first + count;
        return (uint)first;
    }

    private void JoinFree()
    {
        for (int order = 0; order < Classes - 1; order++)
        {
            uint[] frames = [.. _free[order]];
            Array.Sort(frames);
            _free[order].Clear();
            uint size = 1u << order;
            for (int i = 0; i < frames.Length; i++)
            {
                bool isPair = frames[i] % (2 * size) == 0 && i + 1 < frames.Length && frames[i + 1] == frames[i] + size;
                _free[isPair ? order + 1 : order].Push(frames[i]);
                i += isPair ? 1 : 0;
            }
        }
    }

    private void GrowTo(long frames)
    {
        while (_committed < frames)
        {
            if (frames > _limit)
                throw new StorageException(
                    $"The map needs more than the {_limit * PageLayout.SizeBytes >> 20} MiB of addresses it may use; make it "
                        + $"with more.");

            // A small map takes only what it needs; huge pages are used from the second step on.
            long step = Math.Min(
                _committed == 0 ? FirstStepFrames : Math.Clamp(_committed, FirstStepFrames, MaxStepFrames), _limit - _committed);
            long offset = _start + (_committed * PageLayout.SizeBytes);
            _range.Commit(offset, step * PageLayout.SizeBytes);
            if (_committed > 0)
                _range.PreferHugePages(offset, step * PageLayout.SizeBytes);
            Volatile.Write(ref _committed, _committed + step);
        }
    }
}
