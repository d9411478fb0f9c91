using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Maps;

/// <summary>
/// A directory entry of a bucket of an in-memory map, in one 64-bit number that is read and exchanged atomically: bit 0 held
/// by a writer, bit 1 there are frames after the first, bits 2 to 35 version, bits 36 to 63 first frame. The version
/// increases with every change, so a reader that finds the same number before and after has read consistent data, unless the
/// bucket changed 17 billion times during the read.
/// </summary>
internal readonly record struct BucketEntry(ulong Bits)
{
    private const int VersionShift = 2;
    private const int FrameShift = 36;
    private const ulong VersionMask = (1UL << (FrameShift - VersionShift)) - 1;

    public const uint MaxFrame = (1u << (64 - FrameShift)) - 1;

    /// <summary>Whether a writer holds the bucket.</summary>
    public bool IsHeld => (Bits & 1) != 0;

    /// <summary>Whether there are frames after the first.</summary>
    public bool IsChained => (Bits & 2) != 0;

    /// <summary>
    /// Whether nobody holds the bucket and it has a frame. Rotated, the lowest bit makes the number negative, so one
    /// comparison tests both.
    /// </summary>
    public bool IsReadable
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => (long)System.Numerics.BitOperations.RotateRight(Bits, 1) >= 1L << (FrameShift - 1);
    }

    /// <summary>The first frame, or 0.</summary>
    public uint Frame
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => (uint)(Bits >> FrameShift);
    }

    /// <summary>The same entry, held.</summary>
    public ulong Held => Bits | 1;

    /// <summary>Returns the entry after a change, not held.</summary>
    public ulong After(uint frame, bool isChained)
    {
        Debug.Assert(frame <= MaxFrame, "an entry has 28 bits for a frame");
        ulong version = ((Bits >> VersionShift) + 1) & VersionMask;
        return ((ulong)frame << FrameShift) | (version << VersionShift) | (isChained ? 2UL : 0);
    }
}
