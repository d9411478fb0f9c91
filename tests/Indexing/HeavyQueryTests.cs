using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>Queries that are small to write down and were much work: groups within groups, and phrases of words that one entry has a hundred thousand times.</summary>
public sealed class HeavyQueryTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(1);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Groups_within_groups_double_no_work(bool isScored)
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = IndexOf(directory, "red fox", "dog");
        var red = new FullTextQuery("text", "red", All: false);
        IndexQuery query = new FullTextQuery("text", "fox", All: false);
        for (int depth = 0; depth < 60; depth++)
            query = isScored ? new BoostQuery(new AndQuery([new OrQuery([red, query]), new FullTextQuery("text", "fox dog", All: false)]), 1.01f) : new AndQuery([new MatchAllQuery(), new NotQuery(query)]);
        var request = new SearchRequest { Query = query, Sort = isScored ? [new SortKey("", SortKind.Score, Descending: true)] : [], Take = 10 };
        SearchResults results = await Task.Run(() => Search(environment, request, options: null), TestContext.Current.CancellationToken).WaitAsync(s_patience, TestContext.Current.CancellationToken);
        Assert.Equal(1, results.TotalCount);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1_000)]
    public void A_phrase_in_one_long_text_is_stopped_by_its_budget_and_takes_no_memory_for_its_words(int slop)
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = IndexOf(directory, string.Concat(Enumerable.Repeat("word ", 100_000)));
        var request = new SearchRequest { Query = new PhraseQuery("text", string.Concat(Enumerable.Repeat("word ", 60)), slop), Sort = [], Take = 10 };
        Assert.Equal(1, Search(environment, request, options: null).TotalCount);
        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Equal(1, Search(environment, request, options: null).TotalCount);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 4 << 20); // positions once, not for each word
        var budget = new QueryOptions { Budget = new QueryBudget(Time: TimeSpan.FromMilliseconds(40)), TimeProvider = new ClockOfLooks() };
        Assert.Throws<QueryBudgetExceededException>(() => Search(environment, request, budget));
    }

    private static SearchResults Search(StorageEnvironment environment, SearchRequest request, QueryOptions? options)
    {
        using var searcher = new IndexSearcher(environment);
        return searcher.Search(request, options, TestContext.Current.CancellationToken);
    }

    private static StorageEnvironment IndexOf(TemporaryDirectory directory, params string[] texts)
    {
        StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        var writer = new IndexWriter(environment, new IndexSchema([new IndexField("text", FieldAnalysis.FullText)]));
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < texts.Length; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("docs/" + i));
            batch.AddText(0, Encoding.UTF8.GetBytes(texts[i]));
            batch.EndEntry();
        }

        writer.Commit(batch, texts.Length, TestContext.Current.CancellationToken);
        return environment;
    }

    /// <summary>A millisecond goes by whenever somebody looks.</summary>
    private sealed class ClockOfLooks : TimeProvider
    {
        private long _looks;

        public override long TimestampFrequency => 1_000;

        public override long GetTimestamp() => ++_looks;
    }
}
