using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

public sealed class WindowImpactsTests
{
    private static readonly IndexSchema Schema = new([new IndexField("text", FieldAnalysis.FullText)]);

    [Fact]
    public void The_largest_impacts_of_a_long_list_follow_it_while_it_grows_shrinks_and_grows_again()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, Schema);
        IndexBatch batch = writer.BeginBatch();
        int next = 0, first = 0;
        bool wasLong = false, wasShortAgain = false;

        // Grows over the number from which a list has them, within a batch and across several; loses a window here and there, then nearly all.
        foreach ((int added, int removed) in new[] { (5_000, 0), (6_000, 100), (9_000, 0), (10, 9_000), (0, 6_000), (7_000, 10), (0, 11_000), (20_000, 0) })
        {
            for (int i = 0; i < removed; i++)
                batch.Delete(Key(first++));
            for (int i = 0; i < added; i++)
            {
                batch.BeginEntry(Key(next++));
                batch.AddText(0, Encoding.UTF8.GetBytes("w " + string.Join(' ', Enumerable.Range(0, random.Next(12)).Select(_ => random.Next(3) == 0 ? "w" : "x" + random.Next(50)))));
                batch.EndEntry();
            }

            writer.Commit(batch, next, TestContext.Current.CancellationToken);
            bool isLong = Check(environment, "w", next - first);
            wasShortAgain |= wasLong && !isLong;
            wasLong |= isLong;
        }

        Assert.True(wasLong && wasShortAgain);
        Assert.Empty(environment.Check(cancellationToken: TestContext.Current.CancellationToken).Problems);
    }

    private static byte[] Key(int number) => Encoding.UTF8.GetBytes("k" + number);

    private static bool Check(StorageEnvironment environment, string term, int count)
    {
        using var searcher = new IndexSearcher(environment);
        Assert.True(searcher.View.TryGetTerm(TreeNames.Terms(0), Encoding.UTF8.GetBytes(term), out TermPayload payload));
        Assert.Equal(count, payload.EntryCount);
        byte[] expected = new byte[searcher.View.WindowCount], kept = new byte[expected.Length];
        using var cursor = new PostingCursor(searcher.View.Postings(TreeNames.Terms(0))!, payload.ListId); // a long list lies there
        cursor.CopyImpacts(expected);
        bool isLong = count >= WindowImpacts.MinEntries;
        WindowImpacts.Copy(searcher.View.Tree(TreeNames.Impacts(TreeNames.Terms(0)))!, payload.ListId, kept); // there once a batch was written
        Assert.Equal(isLong ? expected : new byte[expected.Length], kept);
        return isLong;
    }
}
