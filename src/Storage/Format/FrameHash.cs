using System.Buffers.Binary;
using System.Numerics;

namespace Treepie.Storage.Format;

/// <summary>
/// The 64-bit hash of journal frames: XXH64 with seed 0. Its cost is negligible compared with writing the data it covers.
/// </summary>
internal static class FrameHash
{
    private const ulong Prime1 = 0x9E3779B185EBCA87;
    private const ulong Prime2 = 0xC2B2AE3D27D4EB4F;
    private const ulong Prime3 = 0x165667B19E3779F9;
    private const ulong Prime4 = 0x85EBCA77C2B2AE63;
    private const ulong Prime5 = 0x27D4EB2F165667C5;
    private const int StripeBytes = 32;

    /// <summary>
    /// Whether a block has this hash, with its hash field set to 0: either as it is, since a later format may store more, or
    /// with zeros after the record, which it has then. So a single sector decides whether a block is valid. Otherwise a block
    /// whose write left garbage after the record would count as damaged until part of a later write, with zeros there again,
    /// made it valid.
    /// </summary>
    public static bool IsRight(Span<byte> block, int recordBytes, ulong hash)
    {
        if (hash == Compute(block))
            return true;

        block[recordBytes..].Clear();
        return hash == Compute(block);
    }

    /// <summary>Computes the hash.</summary>
    public static ulong Compute(ReadOnlySpan<byte> bytes)
    {
        ulong hash;
        ReadOnlySpan<byte> rest = bytes;
        if (bytes.Length >= StripeBytes)
        {
            ulong a = unchecked(Prime1 + Prime2), b = Prime2, c = 0, d = unchecked(0 - Prime1);
            while (rest.Length >= StripeBytes)
            {
                a = Round(a, BinaryPrimitives.ReadUInt64LittleEndian(rest));
                b = Round(b, BinaryPrimitives.ReadUInt64LittleEndian(rest[8..]));
                c = Round(c, BinaryPrimitives.ReadUInt64LittleEndian(rest[16..]));
                d = Round(d, BinaryPrimitives.ReadUInt64LittleEndian(rest[24..]));
                rest = rest[StripeBytes..];
            }

            hash = BitOperations.RotateLeft(a, 1) + BitOperations.RotateLeft(b, 7) + BitOperations.RotateLeft(c, 12)
                + BitOperations.RotateLeft(d, 18);
            hash = Merge(Merge(Merge(Merge(hash, a), b), c), d);
        }
        else
        {
            hash = Prime5;
        }

        return Finish(hash + (ulong)bytes.Length, rest);
    }

    private static ulong Finish(ulong hash, ReadOnlySpan<byte> rest)
    {
        for (; rest.Length >= 8; rest = rest[8..])
            hash = (BitOperations.RotateLeft(hash ^ Round(0, BinaryPrimitives.ReadUInt64LittleEndian(rest)), 27) * Prime1)
                + Prime4;

        if (rest.Length >= 4)
        {
            hash = (BitOperations.RotateLeft(hash ^ (BinaryPrimitives.ReadUInt32LittleEndian(rest) * Prime1), 23) * Prime2)
                + Prime3;
            rest = rest[4..];
        }

        foreach (byte value in rest)
            hash = BitOperations.RotateLeft(hash ^ (value * Prime5), 11) * Prime1;

        hash = (hash ^ (hash >> 33)) * Prime2;
        hash = (hash ^ (hash >> 29)) * Prime3;
        return hash ^ (hash >> 32);
    }

    private static ulong Round(ulong state, ulong lane) => BitOperations.RotateLeft(state + (lane * Prime2), 31) * Prime1;

    private static ulong Merge(ulong hash, ulong state) => ((hash ^ Round(0, state)) * Prime1) + Prime4;
}
