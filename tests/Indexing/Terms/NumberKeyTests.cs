using System.Text;
using Treepie.Indexing.Terms;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Terms;

public sealed class NumberKeyTests
{
    [Fact]
    public void Order_of_keys_is_order_of_numbers_long_and_double_together()
    {
        var random = new Random(Seed.Next());
        var values = new List<(byte[] Key, System.Numerics.BigInteger Scaled)>();
        foreach (long value in Longs(random))
            values.Add((Key(value), Scale(value)));
        foreach (double value in Doubles(random))
            values.Add((Key(value), Scale(value)));

        values.Sort((x, y) => x.Key.AsSpan().SequenceCompareTo(y.Key));
        for (int i = 1; i < values.Count; i++)
        {
            int order = values[i - 1].Scaled.CompareTo(values[i].Scaled);
            bool sameKey = values[i - 1].Key.AsSpan().SequenceEqual(values[i].Key);
            Assert.True(sameKey ? order == 0 : order < 0, $"{values[i - 1].Scaled} {values[i].Scaled}");
        }
    }

    [Fact]
    public void Neighbours_above_two_to_the_53_stay_apart()
    {
        long start = 1L << 53;
        byte[][] keys = [Key(start), Key(start + 1), Key(start + 2), Key((double)start)];
        Assert.NotEqual(keys[0], keys[1]);
        Assert.NotEqual(keys[1], keys[2]);
        Assert.Equal(keys[0], keys[3]);
    }

    [Fact]
    public void A_long_comes_back_from_its_key()
    {
        foreach (long value in Longs(new Random(Seed.Next())))
        {
            Assert.True(NumberKey.TryToLong(Key(value), out long back));
            Assert.Equal(value, back);
        }

        Assert.False(NumberKey.TryToLong(Key(0.5), out _));
        Assert.False(NumberKey.TryToLong(Key(9223372036854775808.0), out _));
        Assert.False(NumberKey.TryToLong(Key(double.PositiveInfinity), out _));
        Assert.False(NumberKey.TryToLong(Key(double.NegativeInfinity), out _));
    }

    [Theory]
    [InlineData(5.0, "5")]
    [InlineData(-0.0, "0")]
    [InlineData(-2.5, "-2.5")]
    [InlineData(0.1, "0.1")]
    [InlineData(1e300, "1e+300")]
    public void Text_is_invariant_and_the_same_for_equal_numbers(double value, string expected) =>
        Assert.Equal(expected, Text(Key(value)));

    [Fact]
    public void Text_of_a_long_is_its_digits() => Assert.Equal("9007199254740993", Text(Key(9007199254740993L)));

    private static IEnumerable<long> Longs(Random random)
    {
        for (int bit = 0; bit < 64; bit++)
        {
            for (int delta = -3; delta <= 3; delta++)
            {
                yield return unchecked((1L << bit) + delta);
                yield return unchecked(-(1L << bit) + delta);
            }
        }

        for (int i = 0; i < 2000; i++)
            yield return random.NextInt64(long.MinValue, long.MaxValue) >> random.Next(64);
    }

    [Fact]
    public void A_text_leads_back_to_its_key_and_nothing_else_does()
    {
        var random = new Random(Seed.Next());
        foreach (byte[] key in Longs(random).Select(Key).Concat(Doubles(random).Select(Key)))
        {
            byte[] back = new byte[NumberKey.Bytes];
            Assert.True(NumberKey.TryParse(Encoding.UTF8.GetBytes(Text(key)), back), Text(key));
            Assert.Equal(key, back);
        }

        foreach (string text in (string[])
        [
            "", "-", "-0", "+1", "01", "1.0", ".5", "5.", "1e3", "1E+300", "NaN", "nan", "Infinity", " 1", "1 ", "1,000", "0x1",
            "9223372036854775808", "abc", new string('1', 40)
        ])
            Assert.False(NumberKey.TryParse(Encoding.UTF8.GetBytes(text), new byte[NumberKey.Bytes]), text);
    }

    [Fact]
    public void What_counts_as_plain_has_digits_and_a_point_alone()
    {
        var random = new Random(Seed.Next());
        double[] ends = [1e-4, 1e-5, 1e14, 1e15, 1e16, 9.9999e-5];
        foreach (byte[] key in Longs(random)
            .Select(Key)
            .Concat(
                Doubles(random)
                    .Concat(ends.SelectMany(end => (double[])[end, Math.BitDecrement(end), Math.BitIncrement(end), end + 0.3]))
                    .Select(Key)))
        {
            if (NumberKey.HasPlainText(key))
                Assert.True(Text(key).All(c => char.IsAsciiDigit(c) || c is '-' or '.'), Text(key));
        }

        foreach (double plain in (double[])[0, -1, 0.0001, 0.25, -12.5, 99_999_999_999_999.5, 1e15, 1e18])
            Assert.True(NumberKey.HasPlainText(Key(plain)), Text(Key(plain)));
        foreach (double other in (double[])[1e-5, 1e300, double.PositiveInfinity, 1e15 + 0.5, 9.3e18])
            Assert.False(NumberKey.HasPlainText(Key(other)), Text(Key(other)));
    }

    private static IEnumerable<double> Doubles(Random random)
    {
        yield return 0;
        yield return -0.0;
        yield return double.Epsilon;
        yield return -double.Epsilon;
        for (int bit = 0; bit < 64; bit++)
        {
            double power = Math.Pow(2, bit);
            foreach (double value in (double[])[power, Math.BitIncrement(power), Math.BitDecrement(power), power + 0.5])
            {
                yield return value;
                yield return -value;
            }
        }

        for (int i = 0; i < 2000; i++)
            yield return (random.NextDouble() - 0.5) * Math.Pow(2, random.Next(-60, 70));
    }

    /// <summary>The exact value times 2^1074, which is whole for every double.</summary>
    private static System.Numerics.BigInteger Scale(double value)
    {
        long bits = BitConverter.DoubleToInt64Bits(value);
        int exponent = (int)(bits >> 52 & 0x7FF);
        long mantissa = bits & 0xFFFFFFFFFFFFF;
        if (exponent == 0)
            exponent = 1;
        else
            mantissa |= 1L << 52;
        return (value < 0 ? -1 : 1) * (new System.Numerics.BigInteger(mantissa) << (exponent - 1));
    }

    private static System.Numerics.BigInteger Scale(long value) => new System.Numerics.BigInteger(value) << 1074;

    internal static byte[] Key(long value)
    {
        byte[] key = new byte[NumberKey.Bytes];
        NumberKey.Write(key, value);
        return key;
    }

    internal static byte[] Key(double value)
    {
        byte[] key = new byte[NumberKey.Bytes];
        NumberKey.Write(key, value);
        return key;
    }

    internal static string Text(byte[] key)
    {
        byte[] text = new byte[NumberKey.MaxTextBytes];
        return Encoding.UTF8.GetString(text, 0, NumberKey.Format(key, text));
    }
}
