using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests;

/// <summary>
/// Queries that are small to write down and were much work: groups within groups, and phrases of words that one entry has a
/// hundred thousand times.
/// </summary>
public sealed class HeavyQueryTests
{
    private static readonly TimeSpan _patience = TimeSpan.FromMinutes(1);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Groups_within_groups_double_no_work(bool isScored)
    {
        using TemporaryStore store = IndexOf("red fox", "dog");
        var red = new FullTextQuery("text", "red", All: false);
        IndexQuery query = new FullTextQuery("text", "fox", All: false);
        for (int depth = 0; depth < 60; depth++)
            query = isScored
                ? new BoostQuery(
                    new AndQuery([new OrQuery([red, query]), new FullTextQuery("text", "fox dog", All: false)]), 1.01f)
                : new AndQuery([new MatchAllQuery(), new NotQuery(query)]);
        var request = new SearchRequest
        {
            Query = query,
            Sort = isScored ? [new SortKey("", SortKind.Score, Descending: true)] : [],
            Take = 10
        };
        SearchResults results = await Task.Run(() => Search(store, request, options: null), TestContext.Current.CancellationToken)
            .WaitAsync(_patience, TestContext.Current.CancellationToken);
        Assert.Equal(1, results.TotalCount);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1_000)]
    public void A_phrase_in_one_long_text_is_stopped_by_its_budget_and_takes_no_memory_for_its_words(int slop)
    {
        using TemporaryStore store = IndexOf(string.Concat(Enumerable.Repeat("word ", 100_000)));
        var request = new SearchRequest
        {
            Query = new PhraseQuery("text", string.Concat(Enumerable.Repeat("word ", 60)), slop),
            Sort = [],
            Take = 10
        };
        Assert.Equal(1, Search(store, request, options: null).TotalCount);
        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Equal(1, Search(store, request, options: null).TotalCount);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 4 << 20); // positions once, not for each word
        var budget = new QueryOptions
        {
            Budget = new QueryBudget(Time: TimeSpan.FromMilliseconds(40)),
            TimeProvider = new ClockOfLooks()
        };
        Assert.Throws<QueryBudgetExceededException>(() => Search(store, request, budget));
    }

    private static SearchResults Search(TemporaryStore store, SearchRequest request, QueryOptions? options)
    {
        using var searcher = new IndexSearcher(store.Environment);
        return searcher.Search(request, options, TestContext.Current.CancellationToken);
    }

    private static TemporaryStore IndexOf(params string[] texts)
    {
        var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, new IndexSchema([new IndexField("text", FieldAnalysis.FullText)]));
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < texts.Length; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("docs/" + i));
            batch.AddText(0, Encoding.UTF8.GetBytes(texts[i]));
            batch.EndEntry();
        }

        writer.Commit(batch, texts.Length, TestContext.Current.CancellationToken);
        return store;
    }

    /// <summary>A millisecond goes by whenever somebody looks.</summary>
    private sealed class ClockOfLooks : TimeProvider
    {
        private long _looks;

        public override long TimestampFrequency => 1_000;

        public override long GetTimestamp() => ++_looks;
    }
}
