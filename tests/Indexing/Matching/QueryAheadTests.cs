using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// A question that finds nothing in memory, and one on an index that is read through already, have the same answer and the same
/// counters.
/// </summary>
public sealed class QueryAheadTests
{
    private static readonly IndexSchema _schema = new(
        [new IndexField("text", FieldAnalysis.FullText), new IndexField("number"), new IndexField(
            "group", FieldAnalysis.Keyword)]);

    [Fact]
    public void First_questions_are_answered_and_counted_as_later_ones()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 30_000; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes($"{i}"));
            batch.AddText(
                0,
                Encoding.UTF8.GetBytes(
                    string.Join(' ', Enumerable.Range(0, 8).Select(_ => "w" + (int)Math.Pow(10_000, random.NextDouble())))));
            batch.AddLong(1, random.Next(1_000_000));
            batch.AddText(2, Encoding.UTF8.GetBytes("g" + random.Next(5)));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);

        SortKey[] byNumber = [new SortKey("number", SortKind.Long)],
            byScore = [new SortKey("", SortKind.Score, Descending: true)];
        var range = new RangeQuery("number", FieldValue.Of(200_000L), true, FieldValue.Of(500_000L), false);
        SearchRequest[] requests =
        [
            new() { Query = new FullTextQuery("text", "w77", All: false), Sort = byScore, Take = 10 },
            new() { Query = new FullTextQuery("text", "w1 w2", All: true), Sort = byScore, Take = 10, CountsHits = false },
            new() { Query = new FullTextQuery("text", "w1 w3 w400 w9000", All: false), Sort = byScore, Take = 10 },
            new() { Query = new PhraseQuery("text", "w1 w2"), Sort = byScore, Take = 10 },
            new() { Query = range, Sort = byNumber, Take = 10 },
            new()
            {
                Query = new AndQuery(
                    [new BoostQuery(new FullTextQuery("text", "w5", All: false), 2), new TermQuery(
                        "group", FieldValue.Of("g1")), range]),
                Sort = byNumber,
                Take = 10
            },
            new() { Query = new OrQuery([new TextQuery("group", "g2"), new NotQuery(range)]), Take = 0 },
        ];
        IndexSchema[] thought =
        [
            _schema, new([new IndexField("first", FieldAnalysis.FullText), .. _schema.Fields]),
            new([new IndexField("text"), new IndexField("number", FieldAnalysis.FullText)])
        ];
        foreach (SearchRequest request in requests)
        {
            string? first = null;
            foreach (IndexSchema? known in (IndexSchema?[])[null, .. thought])
            {
                store.Reopen();
                for (int i = 0; i < 20; i++)
                {
                    string answer = Ask(store.Environment, request, known);
                    Assert.True(
                        answer == (first ??= answer), $"seed {seed}, {request.Query}, question {i}: {answer}, not {first}");
                }
            }
        }
    }

    private static string Ask(StorageEnvironment environment, SearchRequest request, IndexSchema? known)
    {
        using var searcher = new IndexSearcher(environment, known: known);
        using SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken);
        var ids = new List<long>();
        while (results.MoveNext())
            ids.Add(results.EntryId);
        return $"{string.Join(' ', ids)} of {results.TotalCount}, {results.Counters}";
    }
}
