using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

public sealed class ReleasedPagesTests
{
    /// <summary>
    /// Released pages of an encrypted store are decrypted again somewhere: whoever kept where their bytes lay would explain
    /// something else.
    /// </summary>
    [Fact]
    public void Scores_are_explained_the_same_while_pages_are_released_in_between()
    {
        using var directory = new TemporaryDirectory();
        using var key = EncryptionKey.Generate();
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path,
            new StorageOptions { Durability = Durability.Relaxed, EncryptionKey = key, DecryptedBudgetBytes = 1 << 20 });
        var writer = new IndexWriter(
            environment, new IndexSchema([new IndexField("text", FieldAnalysis.FullText), new IndexField("num")]));
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 20_000; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes($"docs/{i}"));
            batch.AddText(0, Encoding.UTF8.GetBytes($"common word{i % 50} other{i % 7} {new string('y', (i % 5) + 1)}"));
            batch.AddLong(1, i);
            batch.EndEntry();
        }

        CancellationToken cancel = TestContext.Current.CancellationToken;
        writer.Commit(batch, 1, cancel);
        environment.Checkpoint(cancel);
        var query = new FullTextQuery("text", "common word3", All: true);
        using var searcher = new IndexSearcher(environment);
        using SearchResults hits = searcher.Search(new SearchRequest { Query = query, Take = 300 }, cancel);
        using ScoreExplainer held = searcher.OpenExplainer(query, cancel), released = searcher.OpenExplainer(query, cancel);
        var expected = new List<string>();
        while (hits.MoveNext())
            expected.Add(Text(held.Explain(hits.EntryId)));

        Assert.NotEmpty(expected);
        using SearchResults again = searcher.Search(new SearchRequest { Query = query, Take = 300 }, cancel);
        for (int i = 0; again.MoveNext(); i++)
        {
            Assert.Equal(expected[i], Text(released.Explain(again.EntryId)));
            searcher.ReleasePages();
            if (i % 50 != 0)
                continue;

            // Others come into memory meanwhile.
            using var other = new IndexSearcher(environment);
            Assert.Equal(
                20_000,
                other.Search(
                    new SearchRequest
                    {
                        Query = new RangeQuery("num", FieldValue.Of(-1L), true, null, true),
                        Sort = [new SortKey("num", SortKind.Long)],
                        Take = 20_000
                    },
                    cancel).TotalCount);
        }
    }

    private static string Text(ScoreExplanation explanation) =>
        $"{explanation.Score} {explanation.What} ({string.Join(", ", explanation.Parts.Select(Text))})";
}
