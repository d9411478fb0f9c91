using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>An index that was tidied is smaller and answers as before.</summary>
public sealed class IndexTidyTests
{
    private static readonly IndexSchema _schema = new(
        [new IndexField("text", FieldAnalysis.FullText), new IndexField("number"), new IndexField("name")]);

    [Fact]
    public void A_tidied_index_is_smaller_and_has_the_same_entries()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        var random = new Random(Seed.Next());
        for (int round = 0; round < 24; round++)
            Commit(writer, random, round + 1);
        Assert.True(writer.IsUntidy);
        string before = Describe(store.Environment);
        long pages = Pages(store.Environment);
        store.Environment.Checkpoint(TestContext.Current.CancellationToken);
        long bytes = store.Environment.GetStatistics().DataFileBytes;

        int steps = 0;
        while (!writer.Tidy(() => ++steps is not (2 or 5), TestContext.Current.CancellationToken))
        {
        }

        Assert.False(writer.IsUntidy);
        Assert.Equal(before, Describe(store.Environment));
        Assert.InRange(Pages(store.Environment), 1, pages * 9 / 10);
        Assert.InRange(store.Environment.GetStatistics().DataFileBytes, 1, bytes * 9 / 10);
        Commit(writer, random, 99);
        Assert.Empty(store.Environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    private static void Commit(IndexWriter writer, Random random, long etag)
    {
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 400; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes($"entry/{random.Next(6_000)}"));
            batch.AddText(
                0,
                Encoding.UTF8.GetBytes(
                    string.Join(' ', Enumerable.Range(0, 30).Select(_ => $"w{(int)Math.Pow(random.NextDouble() * 30, 3)}"))));
            batch.AddLong(1, random.Next(1_000_000));
            batch.AddText(2, Encoding.UTF8.GetBytes($"name {random.Next(100_000)}"));
            batch.EndEntry();
        }

        writer.Commit(batch, etag, TestContext.Current.CancellationToken);
    }

    private static long Pages(StorageEnvironment environment)
    {
        using var searcher = new IndexSearcher(environment);
        return searcher.MeasureStructures(TestContext.Current.CancellationToken).Sum(structure => structure.SizeBytes);
    }

    private static string Describe(StorageEnvironment environment)
    {
        using var searcher = new IndexSearcher(environment);
        var text = new StringBuilder();
        foreach (string field in new[] { "text", "number", "name" })
            text.AppendJoin(' ', searcher.Terms(field, null, 100_000).Select(term => $"{term.Text}:{term.EntryCount}"))
                .AppendLine();
        using SearchResults results = searcher.Search(
            new SearchRequest
            {
                Query = new FullTextQuery("text", "w1 w2", All: false),
                Sort = [new SortKey("number", SortKind.Long)],
                Take = 10_000
            }, TestContext.Current.CancellationToken);
        while (results.MoveNext())
            // it was just found
            text.Append(Encoding.UTF8.GetString(results.Key))
                .Append(' ')
                .AppendJoin(',', searcher.Entry(results.Key)!.SelectMany(field => field.Terms))
                .AppendLine();
        return text.ToString();
    }
}
