using System.Runtime.CompilerServices;

namespace Treepie.Storage.Maps;

/// <summary>
/// What the directory of a map without a disk says of a bucket, in one 64-bit number that is read and exchanged as a whole: bit 0
/// a writer holds it, bit 1 there are frames behind the first, bits 2 to 35 version, bits 36 to 63 first frame. The version rises
/// with every change, so a reader who finds the same number before and after has read what was there: it would take 17 thousand
/// million changes of one bucket during one read to deceive it.
/// </summary>
internal readonly record struct BucketEntry(ulong Bits)
{
    private const int VersionShift = 2;
    private const int FrameShift = 36;
    private const ulong VersionMask = (1UL << (FrameShift - VersionShift)) - 1;

    public const uint MaxFrame = (1u << (64 - FrameShift)) - 1;

    /// <summary>Whether a writer holds it.</summary>
    public bool IsHeld => (Bits & 1) != 0;

    /// <summary>Whether there are frames behind the first.</summary>
    public bool IsChained => (Bits & 2) != 0;

    /// <summary>
    /// Whether nobody holds it and there is a frame: with the lowest bit on top, where it makes the number negative, one
    /// comparison tells both.
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

    /// <summary>The same, held.</summary>
    public ulong Held => Bits | 1;

    /// <summary>What follows it, not held, after a change.</summary>
    public ulong After(uint frame, bool isChained)
    {
        ulong version = ((Bits >> VersionShift) + 1) & VersionMask;
        return ((ulong)frame << FrameShift) | (version << VersionShift) | (isChained ? 2UL : 0);
    }
}
