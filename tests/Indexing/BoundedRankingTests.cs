using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// The best hits by bounds against those by scoring every hit: the same entries, the same scores, the same totals.
/// </summary>
public sealed class BoundedRankingTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("number")]);

    [Fact]
    public void The_best_by_bounds_are_the_best_of_all_while_entries_come_go_and_grow_longer()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int round = 0; round < 6; round++)
        {
            // Averages rise, then fall below the one that impacts are reckoned with.
            int longest = new[] { 8, 30, 60, 4, 2, 80 }[round];
            for (int i = 0; i < (round == 0 ? 12_000 : 2_500); i++)
            {
                byte[] key = Encoding.UTF8.GetBytes("e/" + random.Next(15_000));
                if (round > 0 && random.Next(3) == 0)
                {
                    batch.Delete(key);
                    continue;
                }

                batch.BeginEntry(key);
                batch.AddText(
                    0,
                    Encoding.UTF8.GetBytes(
                        string.Join(' ', Enumerable.Range(0, random.Next(longest)).Select(_ => Word(random)))));
                batch.AddLong(1, random.Next(10));
                batch.EndEntry();
            }

            writer.Commit(batch, round + 1, TestContext.Current.CancellationToken);
            for (int i = 0; i < 25; i++)
                Compare(
                    environment, Query(random, 2), random.Next(3) switch { 0 => 1, 1 => 10, _ => random.Next(1, 500) },
                    random.Next(4) == 0 ? random.Next(30) : 0);
        }
    }

    private static void Compare(StorageEnvironment environment, IndexQuery query, int take, int skip)
    {
        var request = new SearchRequest
        {
            Query = query,
            Sort = [new SortKey("", SortKind.Score, Descending: true)],
            Take = take,
            Skip = skip
        };
        string expected = Ask(environment, request with { OrderHint = OrderHint.Sort });
        Assert.Equal(expected, Ask(environment, request));
        Assert.Equal(WithoutTotal(expected), WithoutTotal(Ask(environment, request with { CountsHits = false })));
    }

    private static string WithoutTotal(string answer) => answer[(answer + ' ').IndexOf(' ', StringComparison.Ordinal)..];

    private static string Ask(StorageEnvironment environment, SearchRequest request)
    {
        using var searcher = new IndexSearcher(environment);
        using SearchResults results = searcher.Search(request);
        var text = new StringBuilder().Append(results.TotalCount);
        while (results.MoveNext())
            text.Append(' ').Append(results.EntryId).Append(':').Append(results.Score);
        return text.ToString();
    }

    private static IndexQuery Query(Random random, int depth)
    {
        string words = string.Join(' ', Enumerable.Range(0, random.Next(1, 6)).Select(_ => Word(random)));
        if (depth == 0 || random.Next(2) == 0)
        {
            return random.Next(8) switch
            {
                0 => new TermQuery("number", FieldValue.Of((long)random.Next(12))),
                1 => new PhraseQuery("text", $"{Word(random)} {Word(random)}", random.Next(3)),
                2 => new RangeQuery("number", FieldValue.Of((long)random.Next(5)), true, null, false),
                3 => new FullTextQuery("text", "w1*", All: false),
                _ => new FullTextQuery("text", words, All: random.Next(3) == 0),
            };
        }

        IndexQuery[] clauses = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => Query(random, depth - 1))];
        return random.Next(5) switch
        {
            0 or 1 => new AndQuery(clauses),
            2 => new NotQuery(clauses[0]),
            3 when depth == 1 && random.Next(2) == 0 =>
                new BoostQuery(clauses[0], random.Next(2) == 0 ? BoostLimits.LeastOfQuery * 4 : BoostLimits.MostOfQuery / 4),
            3 => new BoostQuery(clauses[0], random.Next(4) / 2f),
            _ => new OrQuery(clauses),
        };
    }

    private static string Word(Random random) => "w" + (int)Math.Floor(Math.Pow(random.NextDouble(), 4) * 2_000);
}
