using System.Buffers;
using System.Globalization;
using System.Numerics;
using System.Text;

namespace Treepie.Indexes.States;

/// <summary>
/// A sum of numbers as JSON spells them: each is a whole number times a power of ten, so nothing is rounded, and the sum is the
/// same whatever the order of its numbers. Not thread-safe.
/// </summary>
internal sealed class ExactSum
{
    /// <summary>Most digits of one number: a double that is written out has at most 767.</summary>
    public const int MaxDigits = 1_100;

    /// <summary>Greatest power of ten of a digit, either way: doubles reach from 10^-324 to 10^308.</summary>
    public const int MaxExponent = 1_100;

    private const int DigitsOfLong = 18;

    private BigInteger _digits;
    private int _exponent;

    /// <summary>Makes it 0.</summary>
    public void Clear() => (_digits, _exponent) = (BigInteger.Zero, 0);

    /// <summary>Adds a number.</summary>
    /// <exception cref="FormatException">It has too many digits, or is too great or too small.</exception>
    public void Add(ReadOnlySpan<byte> number)
    {
        (BigInteger digits, int exponent) = Parse(number);
        if (digits.IsZero)
            return;
        if (_digits.IsZero)
        {
            (_digits, _exponent) = (digits, exponent);
            return;
        }

        if (exponent < _exponent)
        {
            _digits *= BigInteger.Pow(10, _exponent - exponent);
            _exponent = exponent;
        }
        else if (exponent > _exponent)
        {
            digits *= BigInteger.Pow(10, exponent - _exponent);
        }

        _digits += digits;
    }

    /// <summary>Writes the sum as a JSON number, in the one spelling of <see cref="CanonicalJson"/>.</summary>
    public void WriteTo(IBufferWriter<byte> output)
    {
        string digits = BigInteger.Abs(_digits).ToString(CultureInfo.InvariantCulture);
        CanonicalJson.WriteNumber(_digits.Sign < 0, Encoding.ASCII.GetBytes(digits), _exponent, output);
    }

    private static (BigInteger Digits, int Exponent) Parse(ReadOnlySpan<byte> number)
    {
        Span<byte> digits = stackalloc byte[MaxDigits];
        if (!CanonicalJson.TryParseNumber(number, digits, out int length, out bool isNegative, out int exponent))
            throw new FormatException($"a number of more than {MaxDigits} digits cannot be summed up.");
        if (exponent > MaxExponent || exponent + length < -MaxExponent)
            throw new FormatException(
                $"the number {Encoding.ASCII.GetString(number[..Math.Min(number.Length, 40)])} is too great or too small to be "
                    + $"summed up.");

        BigInteger value;
        if (length <= DigitsOfLong)
        {
            long small = 0;
            foreach (byte digit in digits[..length])
                small = (small * 10) + digit - '0';
            value = small;
        }
        else
        {
            value = BigInteger.Parse(Encoding.ASCII.GetString(digits[..length]), NumberStyles.None, CultureInfo.InvariantCulture);
        }

        return (isNegative ? -value : value, exponent);
    }
}
