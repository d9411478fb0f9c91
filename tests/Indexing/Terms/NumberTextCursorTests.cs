using System.Globalization;
using System.Text;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;
using static Treepie.Indexing.Tests.Terms.NumberKeyTests;

namespace Treepie.Indexing.Tests.Terms;

/// <summary>Texts of numbers that are not kept, against a sorted list of them.</summary>
public sealed class NumberTextCursorTests
{
    [Fact]
    public void Texts_come_in_their_order_both_ways_and_from_anywhere()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 60; round++)
        {
            byte[][] keys =
                [.. Enumerable.Range(0, random.Next(60)).Select(_ => Plain(random, round % 4)).DistinctBy(Convert.ToHexString)];
            string[] texts = [.. keys.Select(Text).Order(StringComparer.Ordinal)];
            using TemporaryStore store = Fill(keys);
            using ReadTransaction read = store.Environment.BeginRead();
            var tree = new TermTree(read.FindTree("numbers")!); // just written
            using var forwards = new NumberTextCursor(tree, back: false);
            using var backwards = new NumberTextCursor(tree, back: true);
            Assert.Equal(texts, All(forwards, forwards.MoveFirst()));
            Assert.Equal(texts.Reverse(), All(backwards, backwards.MoveFirst()));
            for (int i = 0; i < 60; i++)
            {
                string target = Target(random, texts);
                byte[] bytes = Encoding.UTF8.GetBytes(target);
                Assert.Equal(texts.Where(text => string.CompareOrdinal(text, target) >= 0), All(forwards, forwards.Seek(bytes)));
                Assert.Equal(
                    texts.Reverse().Where(text => string.CompareOrdinal(text, target) <= 0),
                    All(backwards, backwards.Seek(bytes)));
            }
        }
    }

    [Fact]
    public void The_texts_of_numbers_between_two_of_one_length_come_alone()
    {
        var random = new Random(Seed.Next());
        int opened = 0;
        for (int round = 0; round < 60; round++)
        {
            byte[][] keys =
                [.. Enumerable.Range(0, random.Next(80)).Select(_ => Plain(random, round % 4)).DistinctBy(Convert.ToHexString)];
            using TemporaryStore store = Fill(keys);
            using ReadTransaction read = store.Environment.BeginRead();
            var tree = new TermTree(read.FindTree("numbers")!); // just written
            for (int i = 0; i < 60; i++)
            {
                byte[] from = Plain(random, round % 4), to = Plain(random, round % 4);
                bool back = random.Next(2) == 0;
                bool isRange = from.AsSpan().SequenceCompareTo(to) < 0;
                using NumberTextCursor? cursor = NumberTextCursor.TryOpen(tree, from, to, back);
                if (cursor is null)
                {
                    Assert.False(isRange && Length(from) == Length(to), $"{Text(from)} to {Text(to)}");
                    continue;
                }

                Assert.True(isRange);
                opened++;
                IEnumerable<string> inside = keys
                    .Where(key => key.AsSpan().SequenceCompareTo(from) >= 0 && key.AsSpan().SequenceCompareTo(to) < 0)
                    .Select(Text).Order(StringComparer.Ordinal);
                string[] texts = [.. back ? inside.Reverse() : inside];
                Assert.Equal(texts, All(cursor, cursor.MoveFirst()));
                string target = Target(random, [.. keys.Select(Text)]);
                Assert.Equal(
                    texts.Where(text => back ? string.CompareOrdinal(text, target) <= 0 : string.CompareOrdinal(text, target) >= 0),
                    All(cursor, cursor.Seek(Encoding.UTF8.GetBytes(target))));
            }
        }

        Assert.True(opened > 100, $"{opened} were of one length");
    }

    [Fact]
    public void A_number_stands_beside_its_text()
    {
        using TemporaryStore store = Fill([Key(9), Key(10), Key(-1.5)]);
        using ReadTransaction read = store.Environment.BeginRead();
        using var cursor = new NumberTextCursor(new TermTree(read.FindTree("numbers")!), back: false); // just written
        Assert.True(cursor.Seek("10"u8));
        Assert.Equal(Key(10), cursor.Value.ToArray());
        Assert.True(cursor.MoveNext());
        Assert.Equal(Key(9), cursor.Value.ToArray());
        Assert.False(cursor.MoveNext());
    }

    /// <summary>
    /// Whole numbers of all lengths, few ones that are near to each other, the ends of what there is, and fractions.
    /// </summary>
    private static byte[] Plain(Random random, int kind)
    {
        long[] ends =
        [
            0, 1, -1, 9, 10, -9, -10, 99, 100, -99, -100, long.MaxValue, long.MinValue, long.MaxValue - 1, long.MinValue + 1,
            1_000_000_000_000_000_000, -1_000_000_000_000_000_000, 999_999_999_999_999_999, -9_999_999_999_999_999,
            -10_000_000_000_000_000, 10_000_000_000_000_001
        ];
        return (kind == 0 ? random.Next(4) : kind) switch
        {
            0 => Key(ends[random.Next(ends.Length)]),
            1 => Key((long)(random.NextDouble() * Math.Pow(10, random.Next(19))) * (random.Next(2) == 0 ? 1 : -1)),
            2 => Key(random.Next(-120, 120) / 4.0),
            _ => Key(
                Math.Clamp(random.NextDouble() * Math.Pow(10, random.Next(-3, 14)), 1e-4, 9e13) * (random.Next(2) == 0 ? 1 : -1)),
        };
    }

    /// <summary>Sign and digits before the point: −0.5 has another sign than 0.5.</summary>
    private static (bool IsNegative, int Digits) Length(byte[] key)
    {
        string text = Text(key);
        bool isNegative = text[0] == '-';
        int point = text.IndexOf('.', StringComparison.Ordinal);
        return (isNegative, (point < 0 ? text.Length : point) - (isNegative ? 1 : 0));
    }

    private static string Target(Random random, string[] texts)
    {
        const string Characters = "0123456789.-+/e a";
        string target = texts.Length == 0 || random.Next(3) == 0
            ? random.Next(-1_000, 1_000).ToString(CultureInfo.InvariantCulture)
            : texts[random.Next(texts.Length)];
        target = target[..random.Next(target.Length + 1)];
        return random.Next(3) == 0
            ? target
            : target + string.Concat(Enumerable.Range(0, random.Next(4)).Select(_ => Characters[random.Next(Characters.Length)]));
    }

    private static List<string> All(NumberTextCursor cursor, bool isThere)
    {
        var texts = new List<string>();
        for (; isThere; isThere = cursor.MoveNext())
            texts.Add(Encoding.UTF8.GetString(cursor.Key));
        return texts;
    }

    private static TemporaryStore Fill(byte[][] keys)
    {
        var store = new TemporaryStore();
        store.Environment.Write(transaction =>
        {
            var writer = new TermTreeWriter(transaction.GetOrCreateTree("numbers"));
            foreach (byte[] key in keys.OrderBy(Convert.ToHexString, StringComparer.Ordinal))
                writer.Put(key, key);
            writer.Flush();
            return true;
        });
        return store;
    }
}
