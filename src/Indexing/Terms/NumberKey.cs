using System.Buffers.Binary;
using System.Buffers.Text;
using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Terms;

/// <summary>
/// A number as ten bytes whose byte order is the order of numbers, longs and doubles together and exactly.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       8     the nearest double, big-endian; all bits flipped if negative, else the sign bit set
/// 8       2     what a long is above that double (−512 to 512), plus 32,768, big-endian; 32,768 for a double
/// </code>
/// Rounding keeps order, and where two longs round to one double the remainder tells them apart: 2^53 + 1 is neither 2^53
/// nor 2^53 + 2. −0 is 0; NaN has no key.
/// </summary>
internal static class NumberKey
{
    public const int Bytes = 10;

    /// <summary>Longest text of a number.</summary>
    public const int MaxTextBytes = 32;

    private const ushort Bias = 0x8000;
    private const double TwoTo63 = 9223372036854775808.0;

    public static void Write(Span<byte> output, long value)
    {
        double nearest = value;

        // The nearest double of the greatest longs is 2^63, which a long cannot hold.
        long back = nearest >= TwoTo63 ? long.MinValue : (long)nearest;
        Write(output, nearest, unchecked((int)(value - back)));
    }

    public static void Write(Span<byte> output, double value)
    {
        Debug.Assert(!double.IsNaN(value));
        Write(output, value, 0);
    }

    /// <summary>The first eight bytes of the key of a number, as a number that orders as they do.</summary>
    public static ulong HeadOf(double value)
    {
        ulong bits = BitConverter.DoubleToUInt64Bits(value == 0 ? 0 : value);
        return (bits & (1UL << 63)) != 0 ? ~bits : bits | (1UL << 63);
    }

    /// <summary>The double of a key (the nearest one, for a long it cannot hold).</summary>
    public static double ToDouble(ReadOnlySpan<byte> key)
    {
        ulong ordered = BinaryPrimitives.ReadUInt64BigEndian(key);
        return BitConverter.UInt64BitsToDouble((ordered & (1UL << 63)) != 0 ? ordered ^ (1UL << 63) : ~ordered);
    }

    /// <summary>The long of a key; false if it is a fraction or outside a long.</summary>
    public static bool TryToLong(ReadOnlySpan<byte> key, out long value)
    {
        double nearest = ToDouble(key);
        int remainder = BinaryPrimitives.ReadUInt16BigEndian(key[8..]) - Bias;
        value = 0;
        if (nearest >= TwoTo63)
        {
            // 2^63 itself is outside; with a negative remainder it is one of the greatest longs.
            if (nearest > TwoTo63 || remainder >= 0)
                return false;
            value = unchecked(long.MinValue + remainder);
            return true;
        }

        if (nearest < -TwoTo63 || Math.Truncate(nearest) != nearest)
            return false;

        value = (long)nearest + remainder;
        return true;
    }

    /// <summary>The number as a long: a fraction is cut, what a long cannot hold becomes its nearest end.</summary>
    public static long ToSaturatedLong(ReadOnlySpan<byte> key)
    {
        if (TryToLong(key, out long whole))
            return whole;

        double value = ToDouble(key);
        return value switch
        {
            >= TwoTo63 => long.MaxValue,
            < -TwoTo63 => long.MinValue,
            _ => (long)value,
        };
    }

    /// <summary>
    /// The number as text, the same for equal numbers however they came: whole numbers of a long without fraction or exponent,
    /// others in the shortest form that reads back (<c>0.1</c>, <c>1e+300</c>). Returns the bytes written, at most 32.
    /// </summary>
    public static int Format(ReadOnlySpan<byte> key, Span<byte> output)
    {
        int written;
        bool done = TryToLong(key, out long whole)
            ? Utf8Formatter.TryFormat(whole, output, out written)
            : ToDouble(key).TryFormat(output, out written, "r", CultureInfo.InvariantCulture);
        Debug.Assert(done);

        // In lower case, so that it is its own folded form: "Infinity" is the one that is not.
        Ascii.ToLowerInPlace(output[..written], out _);
        return written;
    }

    /// <summary>
    /// Whether <see cref="Format"/> writes it as digits with at most a point among them, without exponent: whole numbers of a
    /// long, and fractions from 0.0001 up to 10^14. Of those with as many digits before the point, the order of texts is that of
    /// numbers.
    /// </summary>
    public static bool HasPlainText(ReadOnlySpan<byte> key) =>
        TryToLong(key, out _) || Math.Abs(ToDouble(key)) is >= 1e-4 and < 1e14;

    /// <summary>The key of the number that has this text, as <see cref="Format"/> writes it; false if none has.</summary>
    public static bool TryParse(ReadOnlySpan<byte> text, Span<byte> key)
    {
        if (text.Length is 0 or > MaxTextBytes)
            return false;
        if (Utf8Parser.TryParse(text, out long whole, out int read) && read == text.Length)
            Write(key, whole);
        else if (double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double value)
            && !double.IsNaN(value))
            Write(key, value);
        else
            return false;

        Span<byte> own = stackalloc byte[MaxTextBytes];
        return own[..Format(key, own)].SequenceEqual(text);
    }

    private static void Write(Span<byte> output, double nearest, int remainder)
    {
        Debug.Assert(remainder is >= -512 and <= 512);
        BinaryPrimitives.WriteUInt64BigEndian(output, HeadOf(nearest));
        BinaryPrimitives.WriteUInt16BigEndian(output[8..], (ushort)(remainder + Bias));
    }
}
