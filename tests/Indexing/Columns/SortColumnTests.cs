using System.Text;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Columns;

/// <summary>A column against a dictionary of what was put into it, with numbers that can be packed, that cannot, and texts between them.</summary>
public sealed class SortColumnTests
{
    private const int Entries = 2_000;

    [Fact]
    public void Values_are_read_as_they_were_written_whatever_form_their_chunk_takes()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var folder = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(folder.Path, new StorageOptions { Durability = Durability.Relaxed });
        var model = new SortedDictionary<long, byte[]>(); // a number as its key of ten bytes, a text with a byte 0xFF in front
        for (int round = 0; round < 6; round++)
        {
            environment.Write(transaction =>
            {
                var column = new SortColumnWriter(transaction.GetOrCreateTree("sort"));
                for (long id = random.Next(50); id < Entries; id += 1 + random.Next(1 << round))
                    Change(column, model, id, random);
                column.Flush();
                return true;
            }, TestContext.Current.CancellationToken);
            using ReadTransaction read = environment.BeginRead();
            AssertSame(read.FindTree("sort"), model, seed);
        }
    }

    private static void Change(SortColumnWriter column, SortedDictionary<long, byte[]> model, long id, Random random)
    {
        // By stretches of a few chunks: small numbers, large ones, all kinds, texts among them.
        byte[] key = new byte[NumberKey.Bytes];
        switch (random.Next(10) == 0 ? 9 : (int)(id / 300) % 5)
        {
            case 0: NumberKey.Write(key, random.Next(1_000_000)); break;
            case 1: NumberKey.Write(key, random.NextInt64(long.MinValue, long.MaxValue)); break;
            case 2: NumberKey.Write(key, (1L << 53) - random.Next(3)); break;
            case 3: NumberKey.Write(key, random.Next(4) == 0 ? random.NextDouble() : -random.Next(5)); break;
            case 4 when random.Next(3) > 0: NumberKey.Write(key, 7L); break;
            case 4:
                byte[] text = Encoding.ASCII.GetBytes(new string('x', random.Next(30)));
                column.SetText(id, text);
                model[id] = [0xFF, .. text];
                return;
            default:
                column.Remove(id);
                model.Remove(id);
                return;
        }

        column.SetNumber(id, key);
        model[id] = key;
    }

    private static void AssertSame(Tree? tree, SortedDictionary<long, byte[]> model, int seed)
    {
        using var column = new ChunkCursor(tree);
        Span<byte> room = stackalloc byte[NumberKey.Bytes];
        for (long id = 0; id < Entries + 100; id++)
        {
            var chunk = new SortChunk(column.Read(id >> SortChunk.EntryBits));
            int slot = (int)(id & (SortChunk.Entries - 1));
            byte[]? expected = model.GetValueOrDefault(id);
            SortTag tag = expected is null ? SortTag.None : expected[0] == 0xFF && expected.Length != NumberKey.Bytes || IsText(expected) ? SortTag.Text : SortTag.Number;
            Assert.True(tag == chunk.TagAt(slot), $"seed {seed}: entry {id}");
            if (tag == SortTag.Text)
            {
                Assert.Equal(expected!.Length - 1, chunk.TextLengthAt(slot)); // it has a tag
            }
            else if (tag == SortTag.Number)
            {
                Assert.True(chunk.NumberAt(slot, room).SequenceEqual(expected), $"seed {seed}: entry {id}");
                Assert.Equal(NumberKey.ToDouble(expected), chunk.DoubleAt(slot));
                Assert.Equal(NumberKey.ToSaturatedLong(expected), chunk.LongAt(slot));
                Assert.Equal(System.Buffers.Binary.BinaryPrimitives.ReadUInt64BigEndian(expected), chunk.HeadAt(slot));
            }
        }
    }

    private static bool IsText(byte[] value) => value[0] == 0xFF && value.AsSpan(1).IndexOfAnyExcept((byte)'x') < 0;
}
