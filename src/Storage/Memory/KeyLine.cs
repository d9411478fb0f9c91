using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Memory;

/// <summary>
/// A cache line of four records of 16 bytes that start with a key of 8 bytes. Compares all four keys at once.
/// </summary>
internal static class KeyLine
{
    /// <summary>The size of a line in bytes.</summary>
    public const int Bytes = 64;

    /// <summary>The size of a record in bytes.</summary>
    public const int RecordBytes = 16;

    /// <summary>The number of records per line.</summary>
    public const int Records = Bytes / RecordBytes;

    /// <summary>Returns the offset of the record of a key, or at least <see cref="Bytes"/> if there is none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Find(ReadOnlySpan<byte> line, ulong key)
    {
        if (line.Length < Bytes)
            ThrowShort();
        if (!Vector256.IsHardwareAccelerated)
            return FindScalar(line, key);

        ref ulong words = ref Unsafe.As<byte, ulong>(ref MemoryMarshal.GetReference(line));
        uint matches;
        if (Vector512.IsHardwareAccelerated)
        {
            matches = (uint)Vector512.Equals(Vector512.LoadUnsafe(ref words), Vector512.Create(key)).ExtractMostSignificantBits();
        }
        else
        {
            Vector256<ulong> wanted = Vector256.Create(key);
            matches = Vector256.Equals(Vector256.LoadUnsafe(ref words), wanted).ExtractMostSignificantBits()
                | (Vector256.Equals(Vector256.LoadUnsafe(ref words, 4), wanted).ExtractMostSignificantBits() << 4);
        }

        // One bit per word; every second word is a value. Without a match the count is 32.
        return BitOperations.TrailingZeroCount(matches & 0b0101_0101) * sizeof(ulong);
    }

    /// <summary>The scalar version, for processors without vectors.</summary>
    public static int FindScalar(ReadOnlySpan<byte> line, ulong key)
    {
        for (int at = 0; at < Bytes; at += RecordBytes)
        {
            if (MemoryMarshal.Read<ulong>(line[at..]) == key)
                return at;
        }

        return 32 * sizeof(ulong);
    }

    private static void ThrowShort() => throw new ArgumentException($"A line has {Bytes} bytes.");
}
