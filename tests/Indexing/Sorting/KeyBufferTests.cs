using System.Globalization;
using System.Numerics;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Sorting;

/// <summary>Sort keys as bytes have the order of the values in them, and those of compound keys are a part of them.</summary>
public sealed class KeyBufferTests
{
    private static readonly string[] _pieces =
        ["a", "b", "\0", "\u0001", "/", "-", "/-", "z", "é", "~", "0", "00", "7", "12", "9", "10", "99999999999999999999"];

    [Fact]
    public void Keys_of_texts_order_as_the_texts_and_inverted_ones_the_other_way_round()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 20_000; round++)
        {
            byte[] x = Bytes(random), y = random.Next(4) == 0 ? [.. x, .. Bytes(random)] : Bytes(random);
            int expected = Math.Sign(x.AsSpan().SequenceCompareTo(y));
            string what = $"seed {seed}, round {round}";
            Assert.True(expected == Order(TextKey(x, flip: false), TextKey(y, flip: false)), what);
            Assert.True(-expected == Order(TextKey(x, flip: true), TextKey(y, flip: true)), what);

            // What follows decides only among equal texts.
            byte[] one = [.. TextKey(x, flip: false), 255], other = [.. TextKey(y, flip: false), 0];
            Assert.True((expected == 0 ? 1 : expected) == Order(one, other), what);
        }
    }

    [Fact]
    public void Runs_of_digits_order_as_numbers_of_any_length_and_those_below_zero_the_other_way_round()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        int negative = 0;
        for (int round = 0; round < 40_000; round++)
        {
            string x = Text(random), y = random.Next(3) == 0 ? Changed(x, random) : Text(random);
            (List<BigInteger> left, bool isLeftBelow) = Parts(x);
            (List<BigInteger> right, bool isRightBelow) = Parts(y);
            if (isLeftBelow != isRightBelow)
                continue;
            if (isLeftBelow && !left.SkipLast(1).SequenceEqual(right.SkipLast(1)))
                continue; // negative numbers are compared behind the same beginning only
            negative += isLeftBelow ? 1 : 0;
            int expected = Compare(left, right);
            Assert.True(
                expected == Order(AlphaNumericKey(x), AlphaNumericKey(y)), $"seed {seed}, round {round}: '{x}' and '{y}'");
        }

        Assert.True(negative > 20, $"only {negative} pairs were of numbers below zero");
    }

    [Fact]
    public void A_compound_key_begins_with_its_prefix_alone_and_orders_by_what_follows()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 20_000; round++)
        {
            (byte[] form, bool isNumber) = (Bytes(random), random.Next(2) == 0);
            (byte[] other, bool isOtherNumber) =
                random.Next(3) == 0 ? ([.. form, .. Bytes(random)], isNumber) : (Bytes(random), random.Next(2) == 0);
            var key = new KeyBuffer();
            Assert.True(CompoundKeyText.TryBegin(key, form, isNumber));
            byte[] mine = key.Written.ToArray();
            Assert.Equal(CompoundKeyText.Prefix(form, isNumber), mine);
            Assert.True(CompoundKeyText.TryBegin(key, other, isOtherNumber)); // begins again
            byte[] its = key.Written.ToArray();
            bool isSame = isNumber == isOtherNumber && form.AsSpan().SequenceEqual(other);
            Assert.True(isSame == its.AsSpan().StartsWith(mine), $"seed {seed}, round {round}");
            int expected = isNumber != isOtherNumber ? (isNumber ? -1 : 1) : Math.Sign(form.AsSpan().SequenceCompareTo(other));
            Assert.True(expected == Order(mine, its), $"seed {seed}, round {round}");
        }

        Assert.False(CompoundKeyText.TryBegin(new KeyBuffer(), new byte[CompoundKeyText.MaxEqualBytes + 1], isNumber: false));
        Assert.True(CompoundKeyText.TryBegin(new KeyBuffer(), new byte[CompoundKeyText.MaxEqualBytes], isNumber: false));
    }

    /// <summary>The sort value of a compound key is found in a term of its field and in the sort key of a hit alike.</summary>
    [Theory]
    [InlineData(CompoundOrder.Text, SortKind.Text)]
    [InlineData(CompoundOrder.Double, SortKind.Double)]
    [InlineData(CompoundOrder.Long, SortKind.Long)]
    public void The_order_of_a_term_is_that_in_a_sort_key(CompoundOrder order, SortKind kind)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        byte[]? last = null, lastTerm = null;
        for (int round = 0; round < 5_000; round++)
        {
            byte[] term = order == CompoundOrder.Text ? Bytes(random) : Number(random);
            byte[] stored = CompoundKeyText.OrderOfTerm(term, order);
            foreach (bool isDescending in (bool[])[false, true])
            {
                var key = new KeyBuffer();
                key.Append(KeyPart.ValueRank);
                int start = key.Length;
                if (order == CompoundOrder.Text)
                {
                    key.AppendText(term);
                    key.EndText();
                }
                else
                {
                    foreach (byte part in stored.AsSpan(1))
                        key.Append(part);
                }

                if (isDescending)
                    key.Flip(start);
                key.Append((ulong)random.NextInt64()); // the id of an entry
                Assert.Equal(stored, CompoundKeyText.OrderOf(key.Written, kind, isDescending));
            }

            if (last is not null && lastTerm is not null)
            {
                int expected = Math.Sign(lastTerm.AsSpan().SequenceCompareTo(term)), found = Order(last, stored);
                bool areWhole = CompoundKeyText.IsWhole(last) && CompoundKeyText.IsWhole(stored);
                bool isExact = order == CompoundOrder.Text && areWhole;
                Assert.True(isExact ? expected == found : found == 0 || expected == found, $"seed {seed}, round {round}");
            }

            (last, lastTerm) = (stored, term);
        }

        byte[] cut = [KeyPart.ValueRank, (byte)'a', (byte)'b'];
        Assert.Throws<IndexQueryException>(() => CompoundKeyText.OrderOf(cut, kind, isDescending: false));
        Assert.Equal([KeyPart.NullsFirstRank], CompoundKeyText.OrderOf([KeyPart.NullsLastRank, 1], kind, isDescending: true));
    }

    private static byte[] Number(Random random)
    {
        byte[] number = new byte[NumberKey.Bytes];
        if (random.Next(2) == 0)
            NumberKey.Write(number, random.Next(2) == 0 ? random.NextInt64(long.MinValue, long.MaxValue) : random.Next(-5, 5));
        else
            NumberKey.Write(number, (random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-5, 25)));
        return number;
    }

    private static byte[] Bytes(Random random)
    {
        byte[] bytes = new byte[random.Next(4) == 0 ? random.Next(50) : random.Next(5)];
        foreach (ref byte one in bytes.AsSpan())
            one = (byte)(random.Next(3) switch { 0 => 0, 1 => random.Next(3), _ => 253 + random.Next(3) });
        return bytes;
    }

    private static string Text(Random random) =>
        (random.Next(4) == 0 ? "items/-" : "")
            + string.Concat(Enumerable.Range(0, random.Next(5)).Select(_ => _pieces[random.Next(_pieces.Length)]));

    private static string Changed(string text, Random random)
    {
        int place = random.Next(text.Length + 1);
        return text[..place] + _pieces[random.Next(_pieces.Length)] + text[place..];
    }

    /// <summary>
    /// A text as numbers to compare one by one: those of its digits, between the characters below and above the digits.
    /// </summary>
    private static (List<BigInteger> Parts, bool IsBelowZero) Parts(string text)
    {
        const int Above = 1_000;
        var parts = new List<BigInteger>();
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        for (int i = 0; i < utf8.Length;)
        {
            if (!char.IsAsciiDigit((char)utf8[i]))
            {
                parts.Add(utf8[i] < '0' ? utf8[i] - Above : BigInteger.Pow(10, 200) + utf8[i]);
                i++;
                continue;
            }

            int end = i;
            while (end < utf8.Length && char.IsAsciiDigit((char)utf8[end]))
                end++;
            parts.Add(BigInteger.Parse(Encoding.ASCII.GetString(utf8[i..end]), CultureInfo.InvariantCulture));
            i = end;
        }

        int sign = text.LastIndexOf("/-", StringComparison.Ordinal);
        bool isBelow = sign >= 0 && sign + 2 < text.Length && text[(sign + 2)..].All(char.IsAsciiDigit);
        if (isBelow)
            parts[^1] = -parts[^1];
        return (parts, isBelow);
    }

    private static int Compare(List<BigInteger> x, List<BigInteger> y)
    {
        for (int i = 0; i < Math.Min(x.Count, y.Count); i++)
            if (x[i] != y[i])
                return x[i] < y[i] ? -1 : 1;
        return x.Count.CompareTo(y.Count);
    }

    private static byte[] TextKey(byte[] text, bool flip)
    {
        var key = new KeyBuffer();
        key.Append(1);
        key.AppendText(text);
        key.EndText();
        if (flip)
            key.Flip(1);
        return key.Written.ToArray();
    }

    private static byte[] AlphaNumericKey(string text)
    {
        var key = new KeyBuffer();
        key.AppendAlphaNumeric(Encoding.UTF8.GetBytes(text));
        key.EndText();
        return key.Written.ToArray();
    }

    private static int Order(byte[] x, byte[] y) => Math.Sign(x.AsSpan().SequenceCompareTo(y));
}
