using System.Buffers.Binary;
using System.Buffers.Text;
using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Terms;

/// <summary>
/// A number as ten bytes whose byte order is the numeric order, exactly and for longs and doubles together.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       8     the nearest double, big-endian; all bits flipped if negative, otherwise the sign bit set
/// 8       2     32,768 plus the long minus that double (−512 to 512), big-endian; 32,768 for a double
/// </code>
/// Rounding preserves order, and where two longs round to the same double the remainder distinguishes them: 2^53 + 1 is neither
/// 2^53 nor 2^53 + 2. −0 is stored as 0; NaN has no key.
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
        Debug.Assert(!double.IsNaN(value), "NaN has no key");
        Write(output, value, 0);
    }

    /// <summary>The first eight bytes of a number's key as an integer with the same order.</summary>
    public static ulong HeadOf(double value)
    {
        ulong bits = BitConverter.DoubleToUInt64Bits(value == 0 ? 0 : value);
        return (bits & (1UL << 63)) != 0 ? ~bits : bits | (1UL << 63);
    }

    /// <summary>The double of a key; for a long that is not exactly a double, the nearest double.</summary>
    public static double ToDouble(ReadOnlySpan<byte> key)
    {
        ulong ordered = BinaryPrimitives.ReadUInt64BigEndian(key);
        return BitConverter.UInt64BitsToDouble((ordered & (1UL << 63)) != 0 ? ordered ^ (1UL << 63) : ~ordered);
    }

    /// <summary>The long of a key; false if the number has a fraction or is outside the range of a long.</summary>
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

    /// <summary>The number as a long: a fraction is truncated, and a number outside the range of a long is clamped.</summary>
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
    /// Writes the number as text, the same text for equal numbers: whole numbers in the range of a long without fraction or
    /// exponent, others in the shortest form that parses back (<c>0.1</c>, <c>1e+300</c>). Returns the bytes written, at
    /// most 32.
    /// </summary>
    public static int Format(ReadOnlySpan<byte> key, Span<byte> output)
    {
        int written;
        bool done = TryToLong(key, out long whole)
            ? Utf8Formatter.TryFormat(whole, output, out written)
            : ToDouble(key).TryFormat(output, out written, "r", CultureInfo.InvariantCulture);
        Debug.Assert(done && written <= MaxTextBytes, "the text of a number fits");

        // Convert to lower case, so that the text equals its folded form; only "Infinity" needs it.
        Ascii.ToLowerInPlace(output[..written], out _);
        return written;
    }

    /// <summary>
    /// Whether <see cref="Format"/> writes the number without an exponent, as digits with at most one point: whole numbers
    /// in the range of a long, and fractions from 0.0001 up to 10^14. Texts of such numbers with the same number of digits
    /// before the point sort like the numbers.
    /// </summary>
    public static bool HasPlainText(ReadOnlySpan<byte> key) =>
        TryToLong(key, out _) || Math.Abs(ToDouble(key)) is >= 1e-4 and < 1e14;

    /// <summary>Finds the key of the number that <see cref="Format"/> writes as this text; false if there is none.</summary>
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
        Debug.Assert(remainder is >= -512 and <= 512, "a long is at most 512 from its nearest double");
        BinaryPrimitives.WriteUInt64BigEndian(output, HeadOf(nearest));
        BinaryPrimitives.WriteUInt16BigEndian(output[8..], (ushort)(remainder + Bias));
    }
}
