using Treepie.Indexing.Analysis;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;

namespace Treepie.Indexing.Tests.Matching;

public sealed class KeptViewsTests
{
    private const int Words = 40;

    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("num")]);

    [Fact]
    public void A_searcher_takes_up_the_view_that_another_left_and_never_one_in_use()
    {
        using IndexFixture fixture = Filled();
        using var first = new IndexSearcher(fixture.Environment);
        var second = new IndexSearcher(fixture.Environment);
        Assert.NotSame(first.View, second.View);
        var left = second.View;
        second.Dispose();
        second.Dispose();
        using var third = new IndexSearcher(fixture.Environment);
        using var fourth = new IndexSearcher(fixture.Environment);
        Assert.Same(left, third.View);
        Assert.NotSame(left, fourth.View);
        Assert.NotSame(first.View, fourth.View);
    }

    [Fact]
    public void A_view_is_not_taken_up_after_a_commit_or_with_other_analyzers()
    {
        using IndexFixture fixture = Filled();
        var before = new IndexSearcher(fixture.Environment);
        var left = before.View;
        before.Dispose();
        using (var others = new IndexSearcher(
            fixture.Environment, AnalyzerSet.BuiltIn.With("mine", new KeywordAnalyzer(isFolded: true))))
            Assert.NotSame(left, others.View);

        fixture.Put("docs/new", (0, FieldValue.Of("word1")));
        fixture.Commit();
        using var after = new IndexSearcher(fixture.Environment);
        Assert.NotSame(left, after.View);
        Assert.Equal(fixture.Model.Count, after.EntryCount);
        fixture.Check(Best("word1"));
    }

    [Fact]
    public async Task Many_threads_ask_while_entries_are_committed_and_each_sees_one_state()
    {
        using IndexFixture fixture = Filled();
        StorageEnvironment environment = fixture.Environment;
        using var end = new CancellationTokenSource();
        Task[] readers = [.. Enumerable.Range(0, 4).Select(reader => Task.Run(
            () =>
            {
                for (int i = reader; !end.IsCancellationRequested; i++)
                {
                    using var searcher = new IndexSearcher(environment);
                    using SearchResults all = searcher.Search(new SearchRequest { Query = new ExistsQuery("num"), Take = 3 });
                    using SearchResults best = searcher.Search(Best($"word{i % Words}"));
                    Assert.Equal(searcher.EntryCount, all.TotalCount);
                    Assert.Equal(searcher.EntryCount / Words, best.TotalCount);
                    while (best.MoveNext())
                        Assert.EndsWith($"/{i % Words}", System.Text.Encoding.UTF8.GetString(best.Key), StringComparison.Ordinal);
                }
            },
            TestContext.Current.CancellationToken))];
        for (int round = 1; round <= 12; round++)
        {
            Fill(fixture, round);
            fixture.Commit();
        }

        await end.CancelAsync();
        await Task.WhenAll(readers);
    }

    [Fact]
    public void A_query_for_a_rare_word_makes_next_to_no_garbage()
    {
        using IndexFixture fixture = Filled();
        SearchRequest request = Best("word7");
        long before = 0;
        const int Warm = 3, Rounds = 10, MostBytes = 8_192;
        for (int round = 0; round < Warm + Rounds; round++)
        {
            if (round == Warm)
                before = GC.GetAllocatedBytesForCurrentThread();
            using var searcher = new IndexSearcher(fixture.Environment);
            using SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken);
            Assert.Equal(10, results.Count);
        }

        Assert.InRange((GC.GetAllocatedBytesForCurrentThread() - before) / Rounds, 1, MostBytes);
    }

    private static SearchRequest Best(string word) =>
        new()
        {
            Query = new FullTextQuery("text", word, All: false),
            Sort = [new SortKey("", SortKind.Score, Descending: true)],
            Take = 10
        };

    private static IndexFixture Filled()
    {
        var fixture = new IndexFixture(_schema);
        Fill(fixture, 0);
        fixture.Commit();
        return fixture;
    }

    private static void Fill(IndexFixture fixture, int round)
    {
        for (int i = 0; i < Words * 20; i++)
            fixture.Put(
                $"docs/{round}.{i}/{i % Words}", (0, FieldValue.Of($"word{i % Words} {new string('x', (i % 7) + 1)}")),
                (1, FieldValue.Of((long)i)));
    }
}
