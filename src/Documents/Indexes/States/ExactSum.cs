using System.Buffers;
using System.Buffers.Text;
using System.Globalization;
using System.Numerics;
using System.Text;

namespace Treepie.Indexes.States;

/// <summary>
/// An exact sum of JSON numbers: each is an integer times a power of ten, so nothing is rounded, and the sum does not depend
/// on the order of its numbers. Not thread-safe.
/// </summary>
/// <remarks>The digits are a 64-bit integer as long as they fit, and a <see cref="BigInteger"/> from then on.</remarks>
internal sealed class ExactSum
{
    /// <summary>The maximum number of digits of one number: a double written in full has at most 767.</summary>
    public const int MaxDigits = 1_100;

    /// <summary>The maximum power of ten of a digit, positive or negative: doubles range from 10^-324 to 10^308.</summary>
    public const int MaxExponent = 1_100;

    /// <summary>
    /// Maximum digits of a sum: the digits of its numbers lie between 10^-2,200 and 10^2,200, and fewer than 10^19 are added.
    /// </summary>
    private const int MaxDigitsOfSum = (4 * MaxExponent) + 19;

    private const int DigitsOfLong = 18;

    private static ReadOnlySpan<long> Powers =>
    [
        1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000,
        1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000, 10_000_000_000_000_000,
        100_000_000_000_000_000, 1_000_000_000_000_000_000,
    ];

    private long _small;
    private BigInteger? _great; // the digits, once they do not fit in _small
    private int _exponent;

    /// <summary>Adds a number of a document.</summary>
    /// <exception cref="FormatException">It has too many digits, or is too great or too small.</exception>
    public void Add(ReadOnlySpan<byte> number)
    {
        if (!TryAddSmall(number))
            AddGreat(Parse(number, MaxDigits, MaxExponent));
    }

    /// <summary>Adds another sum, in the form that <see cref="WriteTo"/> writes.</summary>
    public void AddSum(ReadOnlySpan<byte> sum)
    {
        if (!TryAddSmall(sum))
            AddGreat(Parse(sum, MaxDigitsOfSum, MaxDigitsOfSum));
    }

    /// <summary>Writes the sum as a JSON number, in the form of <see cref="CanonicalJson"/>.</summary>
    public void WriteTo(IBufferWriter<byte> output)
    {
        if (_great is { } great)
        {
            string all = BigInteger.Abs(great).ToString(CultureInfo.InvariantCulture);
            CanonicalJson.WriteNumber(great.Sign < 0, Encoding.ASCII.GetBytes(all), _exponent, output);
            return;
        }

        Span<byte> digits = stackalloc byte[DigitsOfLong + 1];
        Utf8Formatter.TryFormat(Math.Abs(_small), digits, out int length); // at most 19 digits
        CanonicalJson.WriteNumber(_small < 0, digits[..length], _exponent, output);
    }

    private bool TryAddSmall(ReadOnlySpan<byte> number)
    {
        Span<byte> digits = stackalloc byte[DigitsOfLong];
        if (_great is not null
            || !CanonicalJson.TryParseNumber(number, digits, out int length, out bool isNegative, out int exponent))
            return false;
        if (length == 0)
            return true;
        long value = Value(digits[..length]), sum = _small;
        if (isNegative)
            value = -value;
        if (sum == 0)
        {
            if (Math.Abs(exponent) > DigitsOfLong)
                return false; // the caller checks the limits
            (_small, _exponent) = (value, exponent);
            return true;
        }

        int apart = Math.Abs(exponent - _exponent);
        if (apart >= Powers.Length)
            return false;
        ref long greater = ref exponent < _exponent ? ref sum : ref value;
        if (Math.BigMul(greater, Powers[apart], out long scaled) != scaled >> 63)
            return false; // exceeds 64 bits
        greater = scaled;
        long added = unchecked(sum + value);
        if (((sum ^ added) & (value ^ added)) < 0 || added == long.MinValue)
            return false;
        (_small, _exponent) = (added, Math.Min(exponent, _exponent));
        return true;
    }

    private void AddGreat((BigInteger Digits, int Exponent) number)
    {
        (BigInteger digits, int exponent) = number;
        if (digits.IsZero)
            return;
        BigInteger sum = _great ?? _small;
        if (sum.IsZero)
        {
            (_great, _exponent) = (digits, exponent);
            return;
        }

        if (exponent < _exponent)
            sum *= BigInteger.Pow(10, _exponent - exponent);
        else
            digits *= BigInteger.Pow(10, exponent - _exponent);
        (_great, _exponent) = (sum + digits, Math.Min(exponent, _exponent));
    }

    private static long Value(ReadOnlySpan<byte> digits)
    {
        long value = 0;
        foreach (byte digit in digits)
            value = (value * 10) + digit - '0';
        return value;
    }

    private static (BigInteger Digits, int Exponent) Parse(ReadOnlySpan<byte> number, int maxDigits, int maxExponent)
    {
        Span<byte> digits = stackalloc byte[maxDigits];
        if (!CanonicalJson.TryParseNumber(number, digits, out int length, out bool isNegative, out int exponent))
            throw new FormatException($"a number of more than {maxDigits} digits cannot be summed up.");
        if (exponent > maxExponent || exponent + length < -maxExponent)
            throw new FormatException(
                $"the number {Encoding.ASCII.GetString(number[..Math.Min(number.Length, 40)])} is too great or too small to be "
                    + $"summed up.");

        BigInteger value = length <= DigitsOfLong
            ? Value(digits[..length])
            : BigInteger.Parse(Encoding.ASCII.GetString(digits[..length]), NumberStyles.None, CultureInfo.InvariantCulture);
        return (isNegative ? -value : value, exponent);
    }
}
