using System.Globalization;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>What commits leave behind for the collector, whose work stops those who ask.</summary>
public sealed class GarbageTests
{
    private const int Entries = 3_000;

    [Fact]
    public void A_commit_that_replaces_entries_makes_little_garbage()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(
            store.Environment,
            new IndexSchema(
                [new IndexField("text", FieldAnalysis.FullText), new IndexField("group", FieldAnalysis.Keyword), new IndexField(
                    "number")]));
        IndexBatch batch = writer.BeginBatch();
        var random = new Random(1);
        for (int round = 0; round < 4; round++)
            Replace(writer, batch, random, round);

        long before = GC.GetAllocatedBytesForCurrentThread();
        Replace(writer, batch, random, 5);
        long made = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.True(made < 400 * Entries, $"{made / Entries} bytes of garbage for each entry");
    }

    private static void Replace(IndexWriter writer, IndexBatch batch, Random random, int round)
    {
        Span<byte> text = stackalloc byte[512], key = stackalloc byte[16];
        for (int i = 0; i < Entries; i++)
        {
            int length = 0;
            for (int word = 0; word < 20; word++)
                length += Word((int)(4_000 * random.NextDouble() * random.NextDouble()), text[length..]);
            Assert.True(i.TryFormat(key, out int keyBytes, provider: CultureInfo.InvariantCulture));
            batch.BeginEntry(key[..keyBytes]);
            batch.AddText(0, text[..length]);
            batch.AddText(1, text[..4]);
            batch.AddLong(2, random.Next(100_000));
            batch.EndEntry();
        }

        writer.Commit(batch, round + 1, CancellationToken.None);
    }

    private static int Word(int number, Span<byte> room)
    {
        room[0] = (byte)'w';
        Assert.True(number.TryFormat(room[1..], out int length, provider: CultureInfo.InvariantCulture));
        room[length + 1] = (byte)' ';
        return length + 2;
    }
}
