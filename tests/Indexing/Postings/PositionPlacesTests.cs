using System.Buffers.Binary;
using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

public sealed class PositionPlacesTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText)]);

    [Fact]
    public void Blocks_are_those_of_the_tree_however_many_are_asked_for_in_whatever_order_while_pages_move()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var blocks = new List<(long List, long Segment, int Rank, byte[] Value)>();
        store.Environment.Write(transaction =>
        {
            // More than are remembered: lists of many windows, most of them of a block or two.
            Tree tree = transaction.GetOrCreateTree("places");
            byte[] key = new byte[PositionKey.Bytes];
            for (long list = random.Next(1_000); blocks.Count < PositionPlaces.MaxPlaces * 5 / 4; list += 1 + random.Next(50))
            {
                for (long segment = random.Next(10), end = segment + random.Next(2_000);
                     segment < end;
                     segment += random.Next(8) == 0 ? random.Next(1, 100) : 1)
                {
                    for (int rank = 0, more = random.Next(4);
                         rank == 0 || (more-- > 0 && rank < PostingWindow.Size);
                         rank += random.Next(1, 2_000))
                    {
                        byte[] value = new byte[random.Next(3_000) == 0 ? random.Next(2_000, 20_000) : random.Next(2, 40)];
                        random.NextBytes(value);
                        PositionKey.Write(key, list, segment, rank);
                        tree.Put(key, value);
                        blocks.Add((list, segment, rank, value));
                    }
                }
            }

            return 0;
        }, TestContext.Current.CancellationToken);

        using ReadTransaction read = store.Environment.BeginRead();
        var places = new PositionPlaces(read.FindTree("places")!); // just made
        foreach (int first in new[] { 0, 0, blocks.Count / 2 })
        {
            long before = read.PageVisits;
            foreach ((long list, long segment, int rank, byte[] value) in blocks[first..])
                Check(places, list, segment, rank, value);
            Assert.True(read.PageVisits >= before);
            store.Environment.Checkpoint(TestContext.Current.CancellationToken);
        }

        HashSet<(long, long, int)> there = [.. blocks.Select(static block => (block.List, block.Segment, block.Rank))];
        for (int i = 0; i < 100_000; i++)
        {
            (long list, long segment, int rank, byte[] value) = blocks[random.Next(random.Next(2) == 0 ? 500 : blocks.Count)];
            Check(places, list, segment, rank, value);
            if (i % 100 == 0 && !there.Contains((list, segment, rank + 1)))
                Assert.Throws<CorruptionException>(() => places.Read(list, segment, rank + 1, out _));
        }
    }

    [Theory]
    [InlineData(true, 0)]
    [InlineData(false, 0)]
    [InlineData(true, 1)]
    [InlineData(true, -1)]
    public void Phrases_whose_positions_are_damaged_end_with_an_error(bool keepsBlock, int added)
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 6_000; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("k" + i));
            batch.AddText(
                0, Encoding.UTF8.GetBytes(string.Join(' ', Enumerable.Range(0, 4).Select(_ => random.Next(2) == 0 ? "a" : "b"))));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        var request = new SearchRequest
        {
            Query = new PhraseQuery("text", "a b"),
            Sort = [new SortKey("", SortKind.Score, Descending: true)],
            Take = 10
        };
        using (var searcher = new IndexSearcher(store.Environment))
        using (SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken))
            Assert.True(results.TotalCount > 1_000);

        // The second block of a list: it says too little, or too much, or that it has nothing, or is not there.
        store.Environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree(TreeNames.Positions(TreeNames.Terms(0)));
            using Cursor cursor = tree.OpenCursor();
            Assert.True(cursor.MoveFirst() && cursor.MoveNext());
            byte[] key = cursor.Key.ToArray(), value = cursor.Value.ToArray();
            Assert.NotEqual(0, PositionKey.Rank(key));
            BinaryPrimitives.WriteUInt16LittleEndian(
                value, (ushort)(added == 0 ? 0 : BinaryPrimitives.ReadUInt16LittleEndian(value) + added));
            if (keepsBlock)
                tree.Put(key, value);
            else
                tree.Delete(key);
            return 0;
        }, TestContext.Current.CancellationToken);
        using var damaged = new IndexSearcher(store.Environment);
        Assert.Throws<CorruptionException>(() => damaged.Search(request, TestContext.Current.CancellationToken));
    }

    private static void Check(PositionPlaces places, long list, long segment, int rank, byte[] value)
    {
        Assert.True(places.Read(list, segment, rank, out int postings).SequenceEqual(value));
        Assert.Equal(BinaryPrimitives.ReadUInt16LittleEndian(value), postings);
    }
}
