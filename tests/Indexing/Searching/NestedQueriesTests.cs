using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Searching;

/// <summary>
/// Queries that are nested up to a limit give what the flat ones give; beyond it they are refused with the limit in the message,
/// and the searcher goes on working.
/// </summary>
public sealed class NestedQueriesTests : IDisposable
{
    private const int Entries = 300;
    private readonly TemporaryStore _store = new();

    public NestedQueriesTests()
    {
        var writer = new IndexWriter(
            _store.Environment, new IndexSchema([new IndexField("n"), new IndexField("text", FieldAnalysis.FullText)]));
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < Entries; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes($"e/{i}"));
            batch.AddLong(0, i);
            batch.AddText(1, Encoding.UTF8.GetBytes(string.Join(' ', Enumerable.Range(0, (i % 80) + 1).Select(n => $"w{n}"))));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
    }

    [Theory]
    [InlineData(250, true)]
    [InlineData(300, false)]
    public void Conditions_are_nested_up_to_a_limit(int depth, bool isAccepted)
    {
        IndexQuery query = new RangeQuery("n", FieldValue.Of(10L), true, FieldValue.Of(20L), false);
        for (int level = 0; level < depth; level++)
            query = level % 2 == 0
                ? new AndQuery([query, new ExistsQuery("n")])
                : new OrQuery([query, new TermQuery("n", FieldValue.Of(1_000L))]);
        CheckLimit(() => Assert.Equal([.. Enumerable.Range(10, 10)], Ids(query)), isAccepted, "256 levels");
    }

    [Theory]
    [InlineData(60, true)]
    [InlineData(70, false)]
    public void Groups_of_expressions_are_nested_up_to_a_limit(int depth, bool isAccepted)
    {
        string pattern = new string('(', depth) + "17" + new string(')', depth);
        CheckLimit(() => Assert.Equal([17], Ids(new RegexQuery("n", pattern, IsWhole: true))), isAccepted, "64 groups");
    }

    /// <summary>Above some number of words the best hits are found in another way, which no answer shows.</summary>
    [Theory]
    [InlineData(31)]
    [InlineData(32)]
    [InlineData(33)]
    [InlineData(64)]
    public void Any_number_of_words_is_searched(int words)
    {
        string text = string.Join(' ', Enumerable.Range(0, words).Select(static n => $"w{n}"));
        SortKey[] byScore = [new SortKey("", SortKind.Score, Descending: true)];
        int[] all = [.. Enumerable.Range(0, Entries).Where(i => i % 80 >= words - 1)];
        Assert.Equal(all, Ids(new FullTextQuery("text", text, All: true), byScore).Order());
        Assert.Equal(Entries, Ids(new FullTextQuery("text", text, All: false), byScore).Length);
    }

    public void Dispose() => _store.Dispose();

    private void CheckLimit(Action ask, bool isAccepted, string limit)
    {
        if (isAccepted)
            ask();
        else
            Assert.Contains(limit, Assert.Throws<IndexQueryException>(ask).Message, StringComparison.Ordinal);
        Assert.Equal([7], Ids(new TermQuery("n", FieldValue.Of(7L))));
    }

    private int[] Ids(IndexQuery query, SortKey[]? sort = null)
    {
        using var searcher = new IndexSearcher(_store.Environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Sort = sort ?? [] }, cancellationToken: TestContext.Current.CancellationToken);
        var ids = new List<int>();
        while (results.MoveNext())
            ids.Add((int)results.EntryId);
        return [.. ids];
    }
}
