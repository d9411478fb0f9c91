using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Memory;

/// <summary>
/// A cache line of four records of 16 bytes, each beginning with a key of 8: all four keys are compared at once.
/// </summary>
internal static class KeyLine
{
    /// <summary>Bytes of a line.</summary>
    public const int Bytes = 64;

    /// <summary>Bytes of a record.</summary>
    public const int RecordBytes = 16;

    /// <summary>Records of a line.</summary>
    public const int Records = Bytes / RecordBytes;

    /// <summary>Where the record of a key begins; <see cref="Bytes"/> or more where the key is not there.</summary>
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

        // A bit for each word; every second one is a value. Without a match 32 zeros are counted.
        return BitOperations.TrailingZeroCount(matches & 0b0101_0101) * sizeof(ulong);
    }

    /// <summary>The same, key by key: for processors without vectors.</summary>
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
