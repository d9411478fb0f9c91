namespace Treepie.Indexing.Terms;

/// <summary>Whole numbers from 0 in 7-bit groups, lowest first.</summary>
internal static class Varint
{
    public const int MaxBytes = 5;

    /// <summary>Most bytes of a 64-bit number.</summary>
    public const int MaxLongBytes = 10;

    /// <summary>Bytes that a number takes.</summary>
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

    public static long ReadLong(ref ReadOnlySpan<byte> input)
    {
        ulong value = 0;
        for (int i = 0; i < MaxLongBytes && i < input.Length; i++)
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

    /// <summary>Reads a number and moves the span behind it.</summary>
    public static int Read(ref ReadOnlySpan<byte> input)
    {
        uint value = 0;
        for (int i = 0; i < MaxBytes && i < input.Length; i++)
        {
            byte next = input[i];
            value |= (uint)(next & 0x7F) << (7 * i);
            if (next < 0x80)
            {
                input = input[(i + 1)..];
                return (int)value;
            }
        }

        throw new Storage.CorruptionException("A number in an index record does not end. Reset the index to build it again.");
    }
}
