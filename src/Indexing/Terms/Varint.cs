using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Terms;

/// <summary>Non-negative integers in 7-bit groups, lowest group first.</summary>
internal static class Varint
{
    public const int MaxBytes = 5;

    /// <summary>Most bytes of a 64-bit number.</summary>
    public const int MaxLongBytes = 10;

    /// <summary>Encoded length of a number in bytes.</summary>
    public static int BytesOf(long value) => (70 - System.Numerics.BitOperations.LeadingZeroCount((ulong)value | 1)) / 7;

    public static int Write(Span<byte> output, int value)
    {
        uint rest = checked((uint)value);
        int written = 0;
        while (rest >= 0x80)
        {
            output[written++] = (byte)(rest | 0x80);
            rest >>= 7;
        }

        output[written++] = (byte)rest;
        return written;
    }

    public static int WriteLong(Span<byte> output, long value)
    {
        ulong rest = checked((ulong)value);
        int written = 0;
        while (rest >= 0x80)
        {
            output[written++] = (byte)(rest | 0x80);
            rest >>= 7;
        }

        output[written++] = (byte)rest;
        return written;
    }

    /// <summary>Like <see cref="Read"/>, for up to 64 bits.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long ReadLong(ref ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty || input[0] >= 0x80)
            return ReadLonger(ref input, MaxLongBytes);
        long value = input[0];
        input = input[1..];
        return value;
    }

    /// <summary>Reads a number and moves the span past it. Most numbers take one byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Read(ref ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty || input[0] >= 0x80)
            return (int)ReadLonger(ref input, MaxBytes);
        int value = input[0];
        input = input[1..];
        return value;
    }

    private static long ReadLonger(ref ReadOnlySpan<byte> input, int maxBytes)
    {
        ulong value = 0;
        for (int i = 0; i < maxBytes && i < input.Length; i++)
        {
            byte next = input[i];
            value |= (ulong)(next & 0x7F) << (7 * i);
            if (next < 0x80)
            {
                input = input[(i + 1)..];
                return (long)value;
            }
        }

        throw new Storage.CorruptionException("A number in an index record does not end. Reset the index to build it again.");
    }
}
