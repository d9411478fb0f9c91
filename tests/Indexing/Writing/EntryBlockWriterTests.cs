using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Terms;
using Treepie.Indexing.Writing;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>Blocks of records against a dictionary, while entries are added, removed and extended.</summary>
public sealed class EntryBlockWriterTests
{
    private sealed record Parts(byte[] Key, byte[] Heads, byte[] Items);

    [Fact]
    public void Records_are_found_after_any_changes()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        var model = new SortedDictionary<long, Parts>();
        long nextId = 0;
        for (int round = 0; round < 12; round++)
        {
            store.Environment.Write(transaction =>
            {
                var entries = new EntryBlockWriter(transaction.GetOrCreateTree(TreeNames.Entries));
                foreach (long id in model.Keys.Where(_ => random.Next(3) == 0).ToArray())
                {
                    if (random.Next(3) == 0)
                    {
                        byte[] heads = Bytes(random, random.Next(3)),
                            items = Bytes(random, random.Next(200) == 0 ? 5_000 : random.Next(300));
                        entries.Extend(id, heads, items);
                        model[id] = model[id] with
                        {
                            Heads = [.. model[id].Heads, .. heads],
                            Items = [.. model[id].Items, .. items]
                        };
                        continue;
                    }

                    entries.Remove(id);
                    model.Remove(id);
                }

                entries.Flush();
                entries = new EntryBlockWriter(transaction.GetOrCreateTree(TreeNames.Entries));
                for (int i = random.Next(400); i > 0; i--)
                {
                    nextId += 1 + random.Next(100) switch
                    {
                        0 => random.Next(1_000_000),
                        1 => uint.MaxValue - 3L + random.Next(6), // the widest step within a block, and beyond it
                        _ => 0,
                    };
                    var parts = new Parts(
                        Key(random, nextId), [.. "\a\b\t"u8[..random.Next(2, 4)]],
                        Bytes(random, random.Next(300) == 0 ? 40_000 : random.Next(100)));
                    entries.Append(nextId, parts.Key, parts.Heads, parts.Items);
                    model.Add(nextId, parts);
                }

                entries.Flush();
                return true;
            }, TestContext.Current.CancellationToken);
            using ReadTransaction read = store.Environment.BeginRead();
            AssertSame(read.FindTree(TreeNames.Entries)!, model, $"seed {seed}"); // just written
            var reader = new EntryReader(read.FindTree);
            foreach ((long id, Parts parts) in model)
                Assert.True(
                    reader.TryGet(id, out EntryRecord found) && found.Key.SequenceEqual(parts.Key), $"seed {seed}: entry {id}");
            for (int i = 0; i < 100; i++)
            {
                long id = random.NextInt64(nextId + 10);
                Assert.True(model.ContainsKey(id) == reader.TryGet(id, out _), $"seed {seed}: entry {id}");
            }
        }

        Assert.Empty(store.Environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void Numbers_of_words_take_as_many_bits_as_they_need_and_are_read_exactly()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 2_000; round++)
        {
            long most = 1L << random.Next(1, 48);
            long[] numbers = [
                .. Enumerable.Range(0, random.Next(1, 60))
                    .Select(_ => random.Next(3) == 0 ? random.NextInt64(Math.Min(most, 100)) : random.NextInt64(most))
                    .Distinct()
                    .Order()];
            if (random.Next(10) == 0)
                numbers = [.. numbers, WordNumbers.Limit - 1];
            byte[] room = Bytes(random, WordNumbers.MaxBytes(numbers.Length) + 8);
            int length = WordNumbers.Write(numbers, room);
            Assert.True(
                length <= WordNumbers.MaxBytes(numbers.Length), $"seed {seed}: {numbers.Length} numbers take {length} bytes");
            var reader = new BitReader(room.AsSpan(0, random.Next(2) == 0 ? length : room.Length));
            long last = -1;
            foreach (long number in numbers)
                Assert.True(
                    number == (last = WordNumbers.ReadNext(ref reader, last)), $"seed {seed}: {number} is read as {last}");
            Assert.Equal(length, reader.Bytes);
        }
    }

    [Fact]
    public void Damaged_blocks_and_numbers_are_an_error_and_nothing_else()
    {
        var random = new Random(Seed.Next());
        Span<byte> room = stackalloc byte[IndexBatch.MaxKeyBytes];
        for (int round = 0; round < 5_000; round++)
        {
            byte[] bytes = Bytes(random, random.Next(60));
            try
            {
                var block = new EntryBlock(bytes, 0, room);
                while (block.MoveNext())
                {
                }

                block = new EntryBlock(bytes, 0, room);
                block.MoveTo(long.MaxValue);

                var reader = new BitReader(bytes);
                for (long last = -1; ;)
                    last = WordNumbers.ReadNext(ref reader, last);
            }
            catch (CorruptionException)
            {
                // This is what it says when it notices; numbers end with it in any case.
            }
        }
    }

    [Fact]
    public void A_number_takes_few_bytes_and_is_read_exactly()
    {
        Span<byte> key = stackalloc byte[NumberKey.Bytes],
            read = stackalloc byte[NumberKey.Bytes],
            compact = stackalloc byte[CompactNumber.MaxBytes];
        foreach (long whole in new[]
        {
            0, 1, -1, 31, -32, 1_000_000, (1L << 61) - 1, -(1L << 61) + 1, 1L << 61, -(1L << 61), long.MaxValue, long.MinValue
        })
        {
            NumberKey.Write(key, whole);
            AssertSame(key, read, compact);
        }

        foreach (double fraction in new[] { 0.1, -0.5, 1e300, double.NegativeInfinity, double.Epsilon, 4.0, 1e18 })
        {
            NumberKey.Write(key, fraction);
            AssertSame(key, read, compact);
        }
    }

    private static void AssertSame(ReadOnlySpan<byte> key, Span<byte> read, Span<byte> compact)
    {
        int length = CompactNumber.Write(compact, key);
        ReadOnlySpan<byte> rest = compact[..length];
        Assert.Equal(length, CompactNumber.BytesOf(rest));
        CompactNumber.Read(ref rest, read);
        Assert.Equal(0, rest.Length);
        Assert.True(key.SequenceEqual(read));
    }

    private static byte[] Key(Random random, long id) => random.Next(10) switch
    {
        0 => Bytes(random, random.Next(1, IndexBatch.MaxKeyBytes + 1)),
        < 7 => System.Text.Encoding.ASCII.GetBytes($"verses/{id:00000000}-A"),
        _ => System.Text.Encoding.ASCII.GetBytes($"verses/{random.Next()}"),
    };

    private static void AssertSame(Tree tree, SortedDictionary<long, Parts> model, string what)
    {
        Span<byte> room = stackalloc byte[IndexBatch.MaxKeyBytes], otherRoom = stackalloc byte[IndexBatch.MaxKeyBytes];
        using Cursor cursor = tree.OpenCursor();
        using IEnumerator<KeyValuePair<long, Parts>> expected = model.GetEnumerator();
        for (bool valid = cursor.MoveFirst(); valid; valid = cursor.MoveNext())
        {
            var block = new EntryBlock(cursor.Value, EntryKey.Read(cursor.Key), room);
            while (block.MoveNext())
            {
                Assert.True(expected.MoveNext(), what);
                (long id, Parts parts) = expected.Current;
                Assert.True(
                    id == block.Id
                        && block.Key.SequenceEqual(parts.Key)
                        && block.Heads.SequenceEqual(parts.Heads)
                        && block.Items.SequenceEqual(parts.Items),
                    $"{what}: entry {id}");
                var straight = new EntryBlock(cursor.Value, EntryKey.Read(cursor.Key), otherRoom);
                Assert.True(
                    straight.MoveTo(id)
                        && straight.Key.SequenceEqual(parts.Key)
                        && straight.Heads.SequenceEqual(parts.Heads)
                        && straight.Items.SequenceEqual(parts.Items),
                    $"{what}: straight to entry {id}");
                Assert.True(
                    !straight.MoveTo(id + 1) || model.ContainsKey(id + 1), $"{what}: what is not there, behind entry {id}");
            }
        }

        Assert.False(expected.MoveNext(), what);
    }

    private static byte[] Bytes(Random random, int length)
    {
        byte[] bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }
}
