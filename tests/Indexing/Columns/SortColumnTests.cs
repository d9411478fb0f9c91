using System.Text;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Columns;

/// <summary>
/// A column against a dictionary of what was put into it, with numbers that can be packed, that cannot, and texts between them.
/// </summary>
public sealed class SortColumnTests
{
    private const int Entries = 2_500;

    [Fact]
    public void Values_are_read_as_they_were_written_whatever_form_their_chunk_takes()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        var model = new SortedDictionary<long, byte[]>(); // a number as its key of ten bytes, a text with a byte 0xFF in front
        for (int round = 0; round < 6; round++)
        {
            Write(store.Environment, column =>
            {
                for (long id = random.Next(50); id < Entries; id += 1 + random.Next(1 << round))
                    Change(column, model, id, random);
            });
            using ReadTransaction read = store.Environment.BeginRead();
            AssertSame(read, model, seed);
        }
    }

    /// <summary>
    /// Few texts of neighbouring entries make a block; more of them, longer ones, a number among them or ones far from each other
    /// take it apart, whichever batch they come with.
    /// </summary>
    [Fact]
    public void Texts_are_read_as_they_were_written_in_blocks_and_out_of_them()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        int inBlocks = 0, inChunks = 0;
        for (int set = 0; set < 5; set++)
        {
            using var store = new TemporaryStore();
            var model = new SortedDictionary<long, byte[]>();
            for (int round = 0; round < 6; round++)
            {
                int different = 1 << random.Next(round == 0 ? 4 : 8),
                    step = 1 << random.Next(set % 3 == 0 ? 9 : 3),
                    longest = random.Next(3) == 0 ? 60 : 6,
                    numbers = round > 0 && random.Next(4) == 0 ? 500 : int.MaxValue;
                Write(store.Environment, column =>
                {
                    long first = random.Next(4) * 1_500;
                    for (long id = first; id < first + 3_000; id += random.Next(1, step + 1))
                    {
                        int which = random.Next(different);
                        if (random.Next(numbers) == 0)
                        {
                            byte[] key = new byte[NumberKey.Bytes];
                            NumberKey.Write(key, which);
                            column.SetNumber(id, key);
                            model[id] = key;
                        }
                        else if (random.Next(4) == 0 || (round == 5 && set % 4 == 0))
                        {
                            column.Remove(id);
                            model.Remove(id);
                        }
                        else
                        {
                            byte[] text = Encoding.ASCII.GetBytes(
                                new string((char)('a' + (which % 26)), which % longest) + which);
                            if (which == 0)
                                text = [];
                            column.SetText(id, text);
                            model[id] = [0xFF, .. text];
                        }
                    }
                });
                using ReadTransaction read = store.Environment.BeginRead();
                AssertSame(read, model, seed);
                AssertBlocks(read, ref inBlocks, ref inChunks);
            }
        }

        Assert.True(inBlocks > 0 && inChunks > 0, $"seed {seed}: {inBlocks} blocks and {inChunks} chunks");
    }

    /// <summary>
    /// Whole numbers of a window make a block; a text or a fraction among them, or few left of them, take it apart, whichever
    /// batch they come with.
    /// </summary>
    [Fact]
    public void Numbers_are_read_as_they_were_written_in_blocks_and_out_of_them()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        int inBlocks = 0, inChunks = 0;
        for (int set = 0; set < 6; set++)
        {
            using var store = new TemporaryStore();
            var model = new SortedDictionary<long, byte[]>();
            for (int round = 0; round < 5; round++)
            {
                int bits = random.Next(54),
                    step = 1 << random.Next(set % 3 == 0 ? 7 : 2),
                    others = round > 0 && random.Next(3) == 0 ? 1_500 : int.MaxValue,
                    removed = random.Next(5) == 0 ? 1 : 20;
                Write(store.Environment, column =>
                {
                    byte[] key = new byte[NumberKey.Bytes];
                    for (long id = random.Next(9_000), last = id + random.Next(5_000); id < last; id += random.Next(1, step + 1))
                    {
                        if (random.Next(removed) == 0)
                        {
                            column.Remove(id);
                            model.Remove(id);
                        }
                        else if (random.Next(others) == 0 && random.Next(2) == 0)
                        {
                            column.SetText(id, "text"u8);
                            model[id] = [0xFF, .. "text"u8];
                        }
                        else
                        {
                            if (random.Next(others) == 0)
                                NumberKey.Write(key, 0.5);
                            else
                                NumberKey.Write(key, random.NextInt64(1L << bits) - (1L << (bits / 2)));
                            column.SetNumber(id, key);
                            model[id] = [.. key];
                        }
                    }
                });
                using ReadTransaction read = store.Environment.BeginRead();
                AssertSame(read, model, seed);
                using ChunkCursor chunks = new(read.FindTree("sort")), numbers = new(read.FindTree("numbers"));
                for (long chunk = 0; chunk < 4 * NumberBlock.Chunks; chunk++)
                {
                    bool isBlock = !numbers.Read(chunk / NumberBlock.Chunks).IsEmpty, isChunk = !chunks.Read(chunk).IsEmpty;
                    Assert.False(isBlock && isChunk, $"seed {seed}: chunk {chunk} is there twice");
                    (inBlocks, inChunks) = (inBlocks + (isBlock ? 1 : 0), inChunks + (isChunk ? 1 : 0));
                }
            }
        }

        Assert.True(inBlocks > 0 && inChunks > 0, $"seed {seed}: {inBlocks} in blocks and {inChunks} chunks");
    }

    [Fact]
    public void A_block_of_numbers_goes_with_its_last_value_and_is_not_made_of_few_far_from_each_other()
    {
        using var store = new TemporaryStore();
        byte[] key = new byte[NumberKey.Bytes];
        NumberKey.Write(key, 7L);
        Write(store.Environment, column =>
        {
            for (int i = 0; i < NumberBlock.Entries; i++)
                column.SetNumber(i, key);
        });
        Assert.Equal((1, 0), Count());
        Write(store.Environment, column =>
        {
            for (int i = 0; i < NumberBlock.Entries; i++)
                column.Remove(i);
        });
        Assert.Equal((0, 0), Count());
        Write(store.Environment, column => column.SetNumber(200, key));
        Assert.Equal((0, 1), Count());
        Write(store.Environment, column => column.SetNumber(4_095, key));
        Assert.Equal((0, 2), Count());
        Write(store.Environment, column => column.Remove(200));
        Write(store.Environment, column => column.Remove(4_095));
        Write(store.Environment, column => column.SetNumber(20, key));
        Assert.Equal((1, 0), Count());

        (long Blocks, long Chunks) Count()
        {
            using ReadTransaction read = store.Environment.BeginRead();
            return (read.FindTree("numbers")!.Count, read.FindTree("sort")!.Count); // both were made
        }
    }

    [Fact]
    public void A_block_has_its_texts_in_order_each_once_and_goes_with_its_last_value()
    {
        using var store = new TemporaryStore();
        Write(store.Environment, column =>
        {
            for (int i = 0; i < 3_000; i++)
                column.SetText(
                    i, Encoding.ASCII.GetBytes(((i * 7) % 5).ToString(System.Globalization.CultureInfo.InvariantCulture)));
        });
        Assert.Equal(["0", "1", "2", "3", "4"], Texts(0));
        Assert.Equal(["0", "1", "2", "3", "4"], Texts(1));
        Write(store.Environment, column =>
        {
            for (int i = 0; i < TextBlock.Entries; i++)
            {
                if (i % 5 == 0)
                    column.Remove(i); // those with 0
            }

            column.SetText(1, "35"u8);
        });
        Assert.Equal(["1", "2", "3", "35", "4"], Texts(0));
        Write(store.Environment, column =>
        {
            for (int i = 0; i < 3_000; i++)
                column.Remove(i);
        });
        using ReadTransaction read = store.Environment.BeginRead();
        Assert.Equal((0, 0), (read.FindTree("texts")!.Count, read.FindTree("sort")!.Count)); // both were made

        string[] Texts(long block)
        {
            using ReadTransaction read = store.Environment.BeginRead();
            using ChunkCursor chunks = new(read.FindTree("sort")), blocks = new(read.FindTree("texts"));
            Assert.True(new SortColumn(chunks, blocks, null).TryReadBlock(block, out TextBlock found));
            var texts = new List<string>();
            for (int place = 1; place <= found.Count; place++)
                texts.Add(Encoding.ASCII.GetString(found.TextAt(place)));
            return [.. texts];
        }
    }

    [Fact]
    public void Packed_numbers_between_two_others_are_found_also_where_an_end_is_far_away()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        long[] numbers = new long[20 * SortChunk.Entries];
        for (int i = 0; i < numbers.Length; i++)
            numbers[i] = random.Next(1 << (1 + (i / SortChunk.Entries)));
        Write(store.Environment, column =>
        {
            Span<byte> key = stackalloc byte[NumberKey.Bytes];
            for (int i = 0; i < numbers.Length; i++)
            {
                NumberKey.Write(key, numbers[i]);
                column.SetNumber(i, key);
            }

            column.SetText(NumberBlock.Entries - 1, "no number, so that they are chunks"u8);
        });
        using ReadTransaction read = store.Environment.BeginRead();
        using var cursor = new ChunkCursor(read.FindTree("sort"));
        for (int round = 0; round < 2_000; round++)
        {
            int number = random.Next(20);
            var chunk = new SortChunk(cursor.Read(number));
            Assert.True(chunk.IsPacked);
            long low = round % 3 == 0 ? -SortChunk.MaxPacked : random.Next(1 << (1 + number)),
                high = round % 5 == 0 ? SortChunk.MaxPacked : low + random.Next(1 << number);
            ulong asked = (ulong)random.NextInt64() | (round % 2 == 0 ? ulong.MaxValue : 0), expected = 0;
            for (int slot = 0; slot < SortChunk.Entries; slot++)
                expected |= (numbers[(number * SortChunk.Entries) + slot] >= low
                    && numbers[(number * SortChunk.Entries) + slot] <= high ? 1UL : 0) << slot;
            Assert.Equal(expected & asked, chunk.PackedBetween(low, high, asked));
        }
    }

    private static void Write(StorageEnvironment environment, Action<SortColumnWriter> change) => environment.Write(transaction =>
    {
        var column = new SortColumnWriter();
        column.Begin(transaction, "sort", "texts", "numbers");
        change(column);
        column.Flush();
        return true;
    }, TestContext.Current.CancellationToken);

    private static void Change(SortColumnWriter column, SortedDictionary<long, byte[]> model, long id, Random random)
    {
        // By stretches of a few chunks: small numbers, large ones, all kinds, texts among them.
        byte[] key = new byte[NumberKey.Bytes];
        switch (random.Next(10) == 0 ? 9 : (int)(id / 300) % 7)
        {
            case 0: NumberKey.Write(key, random.Next(1_000_000)); break;
            case 1: NumberKey.Write(key, random.NextInt64(long.MinValue, long.MaxValue)); break;
            case 2: NumberKey.Write(key, (1L << 53) - random.Next(3)); break;
            case 3: NumberKey.Write(key, random.Next(4) == 0 ? random.NextDouble() : -random.Next(5)); break;
            case 4 when random.Next(3) > 0: NumberKey.Write(key, 7L); break;
            case 4:
                SetText(new string('x', random.Next(30)));
                return;
            case 5: // few different ones, the empty one among them
                SetText(new string((char)('a' + random.Next(3)), random.Next(3) * 7));
                return;
            case 6: // many, that are longer together than a byte says
                SetText(new string((char)('a' + random.Next(26)), random.Next(4) == 0 ? 1_024 : random.Next(20)));
                return;
            default:
                column.Remove(id);
                model.Remove(id);
                return;
        }

        column.SetNumber(id, key);
        model[id] = key;

        void SetText(string value)
        {
            byte[] text = Encoding.ASCII.GetBytes(value);
            column.SetText(id, text);
            model[id] = [0xFF, .. text];
        }
    }

    /// <summary>
    /// Every entry is in a block or in a chunk, not in both; the texts of a block are in order, and each is the value of an
    /// entry.
    /// </summary>
    private static void AssertBlocks(ReadTransaction read, ref int inBlocks, ref int inChunks)
    {
        using ChunkCursor chunks = new(read.FindTree("sort")), blocks = new(read.FindTree("texts"));
        var column = new SortColumn(chunks, blocks, null);
        for (long block = 0; block < 5; block++)
        {
            bool isBlock = column.TryReadBlock(block, out TextBlock texts);
            for (int i = 0; i < TextBlock.Chunks; i++)
            {
                bool isThere = !chunks.Read((block * TextBlock.Chunks) + i).IsEmpty;
                Assert.False(isBlock && isThere);
                inChunks += isThere ? 1 : 0;
            }

            if (!isBlock)
                continue;
            inBlocks++;
            bool[] used = new bool[texts.Count + 1];
            for (int entry = 0; entry < TextBlock.Entries; entry++)
                used[texts.PlaceOf(entry)] = true;
            Assert.DoesNotContain(false, used[1..]);
            for (int place = 2; place <= texts.Count; place++)
                Assert.True(texts.TextAt(place - 1).SequenceCompareTo(texts.TextAt(place)) < 0);
        }
    }

    private static void AssertSame(ReadTransaction read, SortedDictionary<long, byte[]> model, int seed)
    {
        using ChunkCursor chunks = new(read.FindTree("sort")),
            blocks = new(read.FindTree("texts")),
            numbers = new(read.FindTree("numbers"));
        var column = new SortColumn(chunks, blocks, numbers);
        Span<byte> room = stackalloc byte[NumberKey.Bytes];
        for (long id = 0; id <= Math.Max(Entries, model.Keys.LastOrDefault()) + 100; id++)
        {
            SortChunk chunk = column.Read(id >> SortChunk.EntryBits);
            int slot = (int)(id & (SortChunk.Entries - 1));
            byte[]? expected = model.GetValueOrDefault(id);
            SortTag tag = expected is null ? SortTag.None : expected[0] == 0xFF ? SortTag.Text : SortTag.Number;
            Assert.True(tag == chunk.TagAt(slot), $"seed {seed}: entry {id}");
            if (tag == SortTag.Text)
            {
                byte[] text = expected![1..]; // it has a tag
                Assert.Equal(text.Length, chunk.TextLengthAt(slot));
                Assert.True(chunk.TryTextHead(slot, out ulong head, out int length));
                Assert.Equal((chunk.HeadAt(slot), text.Length), (head, length));
                Assert.True(
                    text.AsSpan().SequenceEqual([.. chunk.TextHeadAt(slot), .. chunk.TextRestAt(slot)]),
                    $"seed {seed}: entry {id}");
                Assert.Equal(
                    System.Buffers.Binary.BinaryPrimitives.ReadUInt64BigEndian(
                        [.. text.Take(8), .. new byte[8 - Math.Min(8, text.Length)]]),
                    chunk.HeadAt(slot));
            }
            else if (tag == SortTag.Number)
            {
                Assert.True(chunk.NumberAt(slot, room).SequenceEqual(expected), $"seed {seed}: entry {id}");
                Assert.Equal(NumberKey.ToDouble(expected), chunk.DoubleAt(slot));
                Assert.Equal(NumberKey.ToSaturatedLong(expected), chunk.LongAt(slot));
                Assert.Equal(System.Buffers.Binary.BinaryPrimitives.ReadUInt64BigEndian(expected), chunk.HeadAt(slot));
                Assert.False(chunk.TryTextHead(slot, out _, out _));
            }
        }
    }
}
