using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// A <see cref="NumberKey"/> in as few bytes as possible. A whole number between −2⁶¹ and 2⁶¹ is stored as the varint
/// <c>zigzag · 2</c>, where zigzag maps 0, −1, 1, −2, … to 0, 1, 2, 3, …; any other number is a byte 1 and the key.
/// </summary>
internal static class CompactNumber
{
    public const int MaxBytes = 1 + NumberKey.Bytes;
    private const long Limit = 1L << 61;

    public static int Write(Span<byte> output, ReadOnlySpan<byte> key)
    {
        Debug.Assert(key.Length == NumberKey.Bytes, "a key of a number has ten bytes");
        if (NumberKey.TryToLong(key, out long value) && value is > -Limit and < Limit)
            return Varint.WriteLong(output, ((value << 1) ^ (value >> 63)) << 1);

        output[0] = 1;
        key.CopyTo(output[1..]);
        return MaxBytes;
    }

    /// <summary>Length in bytes of the number at the start.</summary>
    public static int BytesOf(ReadOnlySpan<byte> input) =>
        input[0] == 1 ? MaxBytes : 1 + input.IndexOfAnyInRange((byte)0, (byte)0x7F);

    /// <summary>Reads the key and moves the span past it.</summary>
    public static void Read(ref ReadOnlySpan<byte> input, Span<byte> key)
    {
        if (input[0] == 1)
        {
            input.Slice(1, NumberKey.Bytes).CopyTo(key);
            input = input[MaxBytes..];
            return;
        }

        long zigzag = (long)((ulong)Varint.ReadLong(ref input) >> 1);
        NumberKey.Write(key, (long)((ulong)zigzag >> 1) ^ -(zigzag & 1));
    }
}
