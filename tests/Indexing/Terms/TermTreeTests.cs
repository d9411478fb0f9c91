using System.Text;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Terms;

/// <summary>Dictionaries in blocks against a sorted dictionary, while terms come, change and go.</summary>
public sealed class TermTreeTests
{
    private static readonly Comparer<byte[]> _order = Comparer<byte[]>.Create(static (x, y) => x.AsSpan().SequenceCompareTo(y));

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Terms_are_found_and_walked_both_ways_after_any_changes(int kind)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        var model = new SortedDictionary<byte[], byte[]>(_order);
        for (int round = 0; round < 10; round++)
        {
            store.Environment.Write(transaction =>
            {
                var writer = new TermTreeWriter(transaction.GetOrCreateTree("terms"));
                bool isOrdered = random.Next(4) > 0;
                Change(writer, model, kind, random, isOrdered, removes: round is 4 or 8);
                Assert.Equal(model.Count, writer.Count);
                writer.Flush();
                return true;
            }, TestContext.Current.CancellationToken);
            using ReadTransaction read = store.Environment.BeginRead();
            AssertSame(read.FindTree("terms")!, model, kind, random, $"seed {seed}, round {round}"); // just written
        }

        Assert.Empty(store.Environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void Numbers_that_lie_close_take_few_bytes()
    {
        using var store = new TemporaryStore();
        const int Count = 50_000;
        store.Environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("terms");
            for (int part = 0; part < 5; part++)
            {
                var writer = new TermTreeWriter(tree);
                byte[] key = new byte[NumberKey.Bytes];
                for (int i = part; i < Count; i += 5)
                {
                    NumberKey.Write(key, i * 7);
                    writer.Put(key, [1, 2, 3]);
                }

                writer.Flush();
            }

            return true;
        }, TestContext.Current.CancellationToken);
        using ReadTransaction read = store.Environment.BeginRead();
        TreeSize size = read.FindTree("terms")!.Measure(TestContext.Current.CancellationToken); // just written
        Assert.InRange(size.UsedBytes, Count * 6, Count * 8);
    }

    [Fact]
    public void A_damaged_block_is_an_error_and_nothing_else()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int i = 0; i < 3_000; i++)
        {
            var items = new List<TermItem>();
            var bytes = new ByteArena();
            foreach (int number in Enumerable.Range(0, random.Next(1, 80)).Select(_ => random.Next(1_000)).Distinct().Order())
            {
                byte[] term = Encoding.ASCII.GetBytes($"term{number:0000}{new string('e', random.Next(3))}");
                items.Add(new TermItem(bytes.Add(term), term.Length, bytes.Add(new byte[random.Next(20)]), 0));
            }

            byte[] block = new TermBlockEncoder().Encode(items, 0, int.MaxValue, bytes, out _).ToArray();
            for (int damages = random.Next(1, 4); damages > 0; damages--)
                block[random.Next(block.Length)] = (byte)random.Next(256);
            if (random.Next(3) == 0)
                block = block[..random.Next(block.Length)];
            try
            {
                var damaged = new TermBlock(block);
                damaged.LowerBound(Encoding.ASCII.GetBytes($"term{random.Next(1_000):0000}"), out _, out _, out _);
                int place = damaged.First;
                for (int term = 0; term < damaged.Count; term++)
                    place = damaged.Read(place, out _);
            }
            catch (CorruptionException)
            {
                // This is what it says when it notices.
            }
        }
    }

    private static void Change(
        TermTreeWriter writer, SortedDictionary<byte[], byte[]> model, int kind, Random random, bool isOrdered, bool removes)
    {
        byte[][] terms = [.. Enumerable.Range(0, random.Next(2_000)).Select(_ => Term(kind, random))];
        if (removes)
            terms = [.. terms, .. model.Keys.Where(_ => random.Next(20) > 0)];
        if (isOrdered)
            terms = [.. terms.Distinct().Order(_order)];
        foreach (byte[] term in terms)
        {
            Assert.Equal(model.TryGetValue(term, out byte[]? value), writer.TryGet(term, out ReadOnlySpan<byte> found));
            Assert.True(found.SequenceEqual(value));
            if (random.Next(10) == 0)
                continue;
            if (removes || random.Next(5) == 0)
            {
                Assert.Equal(model.Remove(term), writer.Delete(term));
                continue;
            }

            value = new byte[random.Next(100) == 0 ? random.Next(3_000) : random.Next(1, 20)];
            random.NextBytes(value);
            writer.Put(term, value);
            model[term] = value;
        }
    }

    private static byte[] Term(int kind, Random random)
    {
        switch (kind)
        {
            case 0:
                byte[] number = new byte[NumberKey.Bytes];
                NumberKey.Write(number, random.Next(30_000));
                return number;
            case 1: // any bytes, the empty term too
                byte[] any = new byte[random.Next(4)];
                random.NextBytes(any);
                return any;
            case 2:
                return Encoding.ASCII.GetBytes($"orders/{random.Next(20_000)}-A");
            default: // long ones that differ late
                return Encoding.ASCII.GetBytes(new string((char)('a' + random.Next(2)), random.Next(513)));
        }
    }

    private static void AssertSame(Tree tree, SortedDictionary<byte[], byte[]> model, int kind, Random random, string what)
    {
        var terms = new TermTree(tree);
        Assert.Equal(model.Count, terms.Count);
        byte[][] keys = [.. model.Keys];
        using TermCursor cursor = terms.OpenCursor();
        int at = 0;
        for (bool valid = cursor.MoveFirst(); valid; valid = cursor.MoveNext(), at++)
            Assert.True(cursor.Key.SequenceEqual(keys[at]) && cursor.Value.SequenceEqual(model[keys[at]]), what);
        Assert.Equal(keys.Length, at);
        for (bool valid = cursor.MoveLast(); valid; valid = cursor.MovePrevious())
            Assert.True(cursor.Key.SequenceEqual(keys[--at]) && cursor.Value.SequenceEqual(model[keys[at]]), what);
        Assert.Equal(0, at);
        for (int i = 0; i < 300; i++)
        {
            byte[] asked = i < 100 && keys.Length > 0 ? keys[random.Next(keys.Length)] : Term(kind, random);
            if (random.Next(4) == 0)
                asked = [.. asked, (byte)random.Next(256)];
            Assert.True(
                model.TryGetValue(asked, out byte[]? value) == terms.TryGet(asked, out ReadOnlySpan<byte> found)
                    && found.SequenceEqual(value),
                what);
            int place = Array.BinarySearch(keys, asked, _order);
            place = place < 0 ? ~place : place;
            bool isThere = cursor.Seek(asked);
            Assert.True(isThere == place < keys.Length, what);
            for (int step = 0; isThere; step++, place++)
            {
                Assert.True(cursor.Key.SequenceEqual(keys[place]) && cursor.Value.SequenceEqual(model[keys[place]]), what);
                isThere = step < 20 && cursor.MoveNext();
            }
        }
    }
}
