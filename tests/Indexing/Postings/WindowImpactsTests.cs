using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

public sealed class WindowImpactsTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText)]);

    [Fact]
    public void The_largest_impacts_of_a_long_list_follow_it_while_it_grows_shrinks_and_grows_again()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        int next = 0, first = 0;
        bool wasLong = false, wasShortAgain = false;

        // Grows over the number from which a list has them, within a batch and across several; loses a window here and there,
        // then nearly all.
        foreach ((
            int added,
            int removed) in new[]
            {
                (5_000, 0), (6_000, 100), (9_000, 0), (10, 9_000), (0, 6_000), (7_000, 10), (0, 11_000), (20_000, 0)
            })
        {
            for (int i = 0; i < removed; i++)
                batch.Delete(Key(first++));
            for (int i = 0; i < added; i++)
            {
                batch.BeginEntry(Key(next++));
                batch.AddText(
                    0,
                    Encoding.UTF8.GetBytes(
                        "w "
                            + string.Join(
                                ' ',
                                Enumerable.Range(0, random.Next(12))
                                    .Select(_ => random.Next(3) == 0 ? "w" : "x" + random.Next(50)))));
                batch.EndEntry();
            }

            writer.Commit(batch, next, TestContext.Current.CancellationToken);
            bool isLong = Check(store.Environment, "w", next - first);
            wasShortAgain |= wasLong && !isLong;
            wasLong |= isLong;
        }

        Assert.True(wasLong && wasShortAgain);
        Assert.Empty(store.Environment.Check(cancellationToken: TestContext.Current.CancellationToken).Problems);
    }

    /// <summary>
    /// A window of few entries has one impact for all of them. When it comes to have many, each block has that of its own
    /// entries, of those that were there before, too.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Blocks_of_a_window_that_comes_to_have_many_entries_have_impacts_of_their_own(bool removes)
    {
        const int Before = 100, After = 400, Best = 70;
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        Add(0, Before);
        if (removes)
            batch.Delete(Key(Best + 1));
        Add(Before, After);
        using var searcher = new IndexSearcher(store.Environment);
        Assert.True(searcher.View.TryGetTerm(TreeNames.Terms(0), "w"u8, out TermPayload payload));
        // a long list lies there
        using var cursor = new PostingCursor(searcher.View.Postings(TreeNames.Terms(0))!, payload.ListId);
        Assert.True(cursor.TryGet(0, out PostingWindow window));
        byte[] impacts = window.Impacts[..(After >> PostingWindow.BlockBits)].ToArray();
        byte best = impacts[Best >> PostingWindow.BlockBits];
        Assert.Equal(window.LargestImpact, best);
        Assert.All(
            impacts.Where((_, block) => block != Best >> PostingWindow.BlockBits),
            impact => Assert.True(impact < best, $"{string.Join(' ', impacts)}"));

        void Add(int from, int to)
        {
            for (int i = from; i < to; i++)
            {
                batch.BeginEntry(Key(i));
                batch.AddText(0, Encoding.UTF8.GetBytes(i == Best ? "w" : "w " + string.Join(' ', Enumerable.Repeat("x", 200))));
                batch.EndEntry();
            }

            writer.Commit(batch, to, TestContext.Current.CancellationToken);
        }
    }

    private static byte[] Key(int number) => Encoding.UTF8.GetBytes("k" + number);

    private static bool Check(StorageEnvironment environment, string term, int count)
    {
        using var searcher = new IndexSearcher(environment);
        Assert.True(searcher.View.TryGetTerm(TreeNames.Terms(0), Encoding.UTF8.GetBytes(term), out TermPayload payload));
        Assert.Equal(count, payload.EntryCount);
        byte[] expected = new byte[searcher.View.WindowCount], kept = new byte[expected.Length];
        // a long list lies there
        using var cursor = new PostingCursor(searcher.View.Postings(TreeNames.Terms(0))!, payload.ListId);
        cursor.CopyImpacts(expected);
        bool isLong = count >= WindowImpacts.MinEntries;
        // there once a batch was written
        WindowImpacts.Copy(searcher.View.Tree(TreeNames.Impacts(TreeNames.Terms(0)))!, payload.ListId, kept);
        Assert.Equal(isLong ? expected : new byte[expected.Length], kept);
        return isLong;
    }
}
