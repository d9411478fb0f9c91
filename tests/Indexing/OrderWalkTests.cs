using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>The first hits of a word in the order of a number, by walking the numbers, against reading the number of every hit.</summary>
public sealed class OrderWalkTests
{
    private static readonly IndexSchema Schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("number")]);

    [Fact]
    public void A_walk_finds_the_entries_of_words_that_stand_in_all_windows_or_in_some()
    {
        const int Entries = 40_000;
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, Schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < Entries; i++)
        {
            // Words of every density; of some, whole windows have none, the first among them.
            int window = i >> 12;
            string text = string.Join(' ', new[] { 2, 10, 60, 100 }.Where(each => random.Next(each) == 0).Select(each => $"all{each} some{each}w{window % 3}"));
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            batch.AddText(0, Encoding.UTF8.GetBytes(text));
            batch.AddLong(1, random.Next(Entries / 2));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        string[] words = [.. new[] { 2, 10, 60, 100 }.SelectMany(each => new[] { $"all{each}", $"some{each}w0", $"some{each}w1", $"some{each}w2" })];
        foreach (string word in words)
        {
            foreach (int take in new[] { 1, 10, 150 })
            {
                var request = new SearchRequest { Query = new FullTextQuery("text", word, All: true), Sort = [new SortKey("number", SortKind.Long, random.Next(2) == 0)], Take = take };
                string expected = Ask(store.Environment, request with { OrderHint = OrderHint.Sort });
                Assert.Equal(expected, Ask(store.Environment, request with { OrderHint = OrderHint.Walk }));
                Assert.Equal(expected, Ask(store.Environment, request));
            }
        }
    }

    private static string Ask(StorageEnvironment environment, SearchRequest request)
    {
        using var searcher = new IndexSearcher(environment);
        using SearchResults results = searcher.Search(request);
        var text = new StringBuilder().Append(results.TotalCount);
        while (results.MoveNext())
            text.Append(' ').Append(results.EntryId);
        return text.ToString();
    }
}
