using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// The addresses of scratch: a first segment, which is enough for most environments, and larger ones reserved when it is
/// full. Frames never move. Only the one writer may reserve; any thread may read the bytes.
/// </summary>
/// <remarks>
/// Frame numbers of the first segment begin with 0; those of the others follow, <see cref="_segmentFrames"/> each. The first
/// arena of each of the others has no frames: so frames of different segments never have adjacent numbers, and a run never
/// spans two.
/// </remarks>
internal sealed class ScratchSpace : IDisposable
{
    private readonly SystemCalls? _calls;
    private readonly AddressRange _first;
    private readonly uint _firstFrames;
    private readonly uint _segmentFrames;
    private AddressRange[] _others = [];

    /// <param name="firstBytes">Bytes of the first segment; whole arenas.</param>
    /// <param name="segmentBytes">Bytes of each other segment; whole arenas.</param>
    /// <param name="calls">System calls; null for those of this machine.</param>
    public ScratchSpace(long firstBytes, long segmentBytes, SystemCalls? calls)
    {
        _calls = calls;
        _first = AddressRange.Reserve(firstBytes, calls);
        _firstFrames = (uint)(firstBytes / PageLayout.SizeBytes);
        _segmentFrames = (uint)(segmentBytes / PageLayout.SizeBytes);
        Debug.Assert(
            _firstFrames % Scratch.ArenaFrames == 0 && _segmentFrames % Scratch.ArenaFrames == 0,
            "segments are whole arenas");
    }

    /// <summary>The number after that of the last frame.</summary>
    public long EndFrame => _firstFrames + ((long)_others.Length * _segmentFrames);

    /// <summary>Maximum number of contiguous frames in a segment other than the first.</summary>
    public int MostRunFrames => (int)Math.Min(int.MaxValue, _segmentFrames - Scratch.ArenaFrames);

    /// <summary>Returns the bytes of a run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Span(uint frame, int lengthBytes) =>
        frame < _firstFrames ? _first.Span((long)frame * PageLayout.SizeBytes, lengthBytes) : FarSpan(frame, lengthBytes);

    /// <summary>Returns the address range and offset of a frame.</summary>
    public AddressRange Find(uint frame, out long offset)
    {
        if (frame < _firstFrames)
        {
            offset = (long)frame * PageLayout.SizeBytes;
            return _first;
        }

        Debug.Assert(frame < EndFrame, "a frame lies in a segment");
        uint beyond = frame - _firstFrames;
        offset = (long)(beyond % _segmentFrames) * PageLayout.SizeBytes;
        return Volatile.Read(ref _others)[beyond / _segmentFrames];
    }

    /// <summary>Reserves another segment; returns its first frame.</summary>
    public uint Add()
    {
        long start = EndFrame;
        if (start + _segmentFrames > uint.MaxValue)
            throw new StorageException(
                "A transaction needs more memory than pages that are not written yet can have; write in smaller transactions.");

        AddressRange[] before = _others;
        Volatile.Write(ref _others, [.. before, AddressRange.Reserve((long)_segmentFrames * PageLayout.SizeBytes, _calls)]);
        return (uint)start + Scratch.ArenaFrames;
    }

    public void Dispose()
    {
        _first.Dispose();
        foreach (AddressRange other in _others)
            other.Dispose();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Span<byte> FarSpan(uint frame, int lengthBytes) => Find(frame, out long offset).Span(offset, lengthBytes);
}
