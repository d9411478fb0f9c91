using System.Buffers;
using System.Globalization;
using System.Numerics;
using System.Text;
using Treepie.Indexes.States;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Grouping;

/// <summary>Sums are those of whole numbers, however their numbers are spelled and in whatever parts they are added.</summary>
public sealed class ExactSumTests
{
    private const int Scale = 2_300;

    [Fact]
    public void Sums_of_any_numbers_in_any_parts_are_exact()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 400; round++)
        {
            (string Text, BigInteger Value)[] numbers =
                [.. Enumerable.Range(0, random.Next(1, 30)).Select(_ => Number(random, round % 4))];
            BigInteger expected = numbers.Aggregate(BigInteger.Zero, static (sum, number) => sum + number.Value);

            var parts = new ExactSum[random.Next(1, 5)];
            for (int i = 0; i < parts.Length; i++)
                parts[i] = new ExactSum();
            foreach ((string text, _) in numbers)
                parts[random.Next(parts.Length)].Add(Encoding.ASCII.GetBytes(text));
            var whole = new ExactSum();
            foreach (ExactSum part in parts)
                whole.AddSum(Encoding.ASCII.GetBytes(TextOf(part)));

            var alone = new ExactSum();
            foreach ((string text, _) in numbers)
                alone.Add(Encoding.ASCII.GetBytes(text));
            Assert.True(Value(TextOf(whole)) == expected, $"seed {seed}: {string.Join(" + ", numbers.Select(n => n.Text))}");
            Assert.Equal(TextOf(alone), TextOf(whole)); // one spelling
        }
    }

    [Theory]
    [InlineData("1e1101")]
    [InlineData("1e-1102")]
    public void A_number_beyond_the_limits_is_refused_and_not_added(string number)
    {
        var sum = new ExactSum();
        sum.Add("1"u8);
        Assert.Throws<FormatException>(() => sum.Add(Encoding.ASCII.GetBytes(number)));
        Assert.Throws<FormatException>(() => sum.Add(Encoding.ASCII.GetBytes(new string('9', 1_101))));
        Assert.Equal("1", TextOf(sum));
    }

    [Fact]
    public void A_sum_has_more_digits_than_any_of_its_numbers()
    {
        var part = new ExactSum();
        part.Add("1e1099"u8);
        part.Add("-7e-1100"u8);
        var whole = new ExactSum();
        whole.AddSum(Encoding.ASCII.GetBytes(TextOf(part)));
        whole.Add("7e-1100"u8);
        Assert.Equal("1e1099", TextOf(whole));
    }

    /// <summary>A number in a spelling of JSON, and what it is, times 10^<see cref="Scale"/>.</summary>
    private static (string Text, BigInteger Value) Number(Random random, int kind)
    {
        int length = random.Next(1, kind == 3 ? 900 : kind == 2 ? 25 : 10);
        string digits = string.Concat(Enumerable.Range(0, length).Select(_ => (char)('0' + random.Next(10))));
        int exponent = kind == 0 ? -random.Next(3) : random.Next(kind == 3 ? -1_000 : -30, kind == 3 ? 1_000 : 30);
        string sign = random.Next(3) == 0 ? "-" : "";
        digits = digits.TrimStart('0') is { Length: > 0 } plain ? plain : "0";
        string text = exponent < 0 && -exponent < digits.Length && random.Next(2) == 0
            ? $"{sign}{digits[..^-exponent]}.{digits[^-exponent..]}"
            : random.Next(4) == 0 || exponent != 0
                ? string.Create(CultureInfo.InvariantCulture, $"{sign}{digits}{(random.Next(2) == 0 ? 'e' : 'E')}{exponent}")
                : sign + digits;
        return (text, BigInteger.Parse(sign + digits, CultureInfo.InvariantCulture) * BigInteger.Pow(10, Scale + exponent));
    }

    /// <summary>What a sum is, times 10^<see cref="Scale"/>.</summary>
    private static BigInteger Value(string text)
    {
        int e = text.IndexOf('e', StringComparison.Ordinal);
        int exponent = e < 0 ? 0 : int.Parse(text[(e + 1)..], CultureInfo.InvariantCulture);
        string digits = e < 0 ? text : text[..e];
        int point = digits.IndexOf('.', StringComparison.Ordinal);
        if (point >= 0)
            (digits, exponent) = (digits.Remove(point, 1), exponent - (digits.Length - 1 - point));
        return BigInteger.Parse(digits, CultureInfo.InvariantCulture) * BigInteger.Pow(10, Scale + exponent);
    }

    private static string TextOf(ExactSum sum)
    {
        var output = new ArrayBufferWriter<byte>();
        sum.WriteTo(output);
        return Encoding.ASCII.GetString(output.WrittenSpan);
    }
}
