using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Queries;

/// <summary>Similar entries against a scan: the terms with the greatest weight, counted word by word.</summary>
public sealed class MoreLikeThisQueryTests
{
    private static readonly IndexSchema _schema = new(
        [new IndexField("text", FieldAnalysis.FullText), new IndexField("more", FieldAnalysis.FullText), new IndexField("name")]);

    [Fact]
    public void Similar_entries_are_those_with_the_words_that_weigh_most()
    {
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(_schema);
        for (int i = 0; i < 100; i++)
            fixture.Put("docs/" + i, (0, FieldValue.Of(Text(random))), (1, FieldValue.Of(Text(random))), (2, FieldValue.Of("n")));
        fixture.Commit();
        int hits = 0;
        for (int i = 0; i < 60; i++)
        {
            var options = new MoreLikeThisOptions
            {
                Fields = random.Next(3) switch { 0 => [], 1 => ["text"], _ => ["more", "text"] },
                MinTermFrequency = random.Next(1, 3),
                MaxQueryTerms = random.Next(2) == 0 ? 25 : random.Next(1, 5),
                MinDocumentFrequency = random.Next(1, 8),
                MaxDocumentFrequency = random.Next(2) == 0 ? long.MaxValue : random.Next(10, 100),
                MaxDocumentFrequencyPercentage = random.Next(2) == 0 ? 100 : random.Next(1, 60),
                MinWordLength = random.Next(3) == 0 ? 3 : 0,
                MaxWordLength = random.Next(3) == 0 ? 3 : 0,
                StopWords = random.Next(3) == 0 ? ["W1", "w7"] : [],
                Boost = random.Next(2) == 0,
                BoostFactor = random.Next(1, 4),
            };
            NaiveEntry entry = fixture.Model.Entries.ElementAt(random.Next(fixture.Model.Count));
            NaiveEntry? self = entry;
            MoreLikeThisQuery query;
            switch (random.Next(3))
            {
                case 0:
                    query = new MoreLikeThisQuery(entry.Key, null, options);
                    break;
                case 1:
                    self = fixture.Model.Entries.OrderBy(other => other.Order).First();
                    query = new MoreLikeThisQuery(null, null, options) { First = new MatchAllQuery() };
                    break;
                default:
                    query = new MoreLikeThisQuery(
                        null,
                        name => [.. entry.Of(_schema.IndexOf(name)).Select(NaiveText.TextOf)],
                        options);
                    entry = entry with { Key = "" };
                    self = null;
                    break;
            }

            hits += Check(fixture, query, Choose(fixture.Model, self ?? entry, options), self?.Key);
        }

        Assert.True(hits > 500, $"only {hits} hits");
    }

    [Fact]
    public void An_entry_that_does_not_exist_is_similar_to_nothing()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("docs/1", (0, FieldValue.Of("a a")), (1, FieldValue.Of("a a")));
        fixture.Commit();
        var options = new MoreLikeThisOptions { MinDocumentFrequency = 1 };
        Assert.Empty(fixture.Keys(new SearchRequest { Query = new MoreLikeThisQuery("docs/2", null, options) }));
        Assert.Empty(
            fixture.Keys(
                new SearchRequest { Query = new MoreLikeThisQuery(null, null, options) { First = new MatchNoneQuery() } }));
        Assert.Equal(
            ["docs/1"], fixture.Keys(new SearchRequest { Query = new MoreLikeThisQuery(null, _ => ["A a"], options) }));
        Refused(options with { MaxQueryTerms = 0 }, "a number from 1 to 1,024");
        Refused(options with { MaxQueryTerms = 1_025 }, "a number from 1 to 1,024");
        Refused(options with { BoostFactor = float.NaN }, "a number of at least 0");
        Refused(options with { BoostFactor = -1 }, "a number of at least 0");

        void Refused(MoreLikeThisOptions bad, string message)
        {
            IndexQueryException error = Assert.Throws<IndexQueryException>(
                () => fixture.Keys(new SearchRequest { Query = new MoreLikeThisQuery("docs/1", null, bad) }));
            Assert.Contains(message, error.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void An_index_without_words_has_nothing_similar()
    {
        using var fixture = new IndexFixture(new IndexSchema([new IndexField("name")]));
        fixture.Put("docs/1", (0, FieldValue.Of("a")));
        fixture.Commit();
        IndexQueryException error = Assert.Throws<IndexQueryException>(
            () => fixture.Keys(new SearchRequest { Query = new MoreLikeThisQuery("docs/1", null, new MoreLikeThisOptions()) }));
        Assert.Contains("no full-text field", error.Message, StringComparison.Ordinal);
        var options = new MoreLikeThisOptions { Fields = ["name"], MinDocumentFrequency = 1, MinTermFrequency = 1 };
        fixture.Put("docs/2", (0, FieldValue.Of("A")));
        fixture.Commit();
        Assert.Equal(["docs/2"], fixture.Keys(new SearchRequest { Query = new MoreLikeThisQuery("docs/1", null, options) }));
    }

    /// <summary>Compares with a search for the words, each with its weight, and returns the number of hits.</summary>
    private static int Check(
        IndexFixture fixture, MoreLikeThisQuery query, List<(int Field, string Word, double Weight)> chosen, string? self)
    {
        double best = chosen.Count == 0 ? 0 : chosen[0].Weight;
        var words = new OrQuery(
        [
            .. chosen.Select(
                word => query.Options.Boost && best > 0
                    ? (IndexQuery)new BoostQuery(
                        new FullTextQuery(_schema.Fields[word.Field].Name, word.Word, All: false),
                        (float)(query.Options.BoostFactor * word.Weight / best))
                    : new FullTextQuery(_schema.Fields[word.Field].Name, word.Word, All: false)),
        ]);
        SortKey[] sort = [new SortKey("", SortKind.Score, Descending: true)];
        Dictionary<string, double> expected = fixture.Model.Search(new SearchRequest { Query = words, Sort = sort })
            .Where(hit => hit.Key != self)
            .ToDictionary(hit => hit.Key, hit => hit.Score);
        using var searcher = new IndexSearcher(fixture.Environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Sort = sort }, TestContext.Current.CancellationToken);
        string what = $"like {self ?? "texts"}: {query.Options}, {string.Join(' ', chosen.Select(word => word.Word))}";
        Assert.True(expected.Count == results.TotalCount, $"{what}: {results.TotalCount} hits, not {expected.Count}");
        while (results.MoveNext())
        {
            double score = expected[Encoding.UTF8.GetString(results.Key)];
            Assert.True(Math.Abs(score - results.Score) <= 1e-5 * Math.Max(1, score), $"{what}: {results.Score} {score}");
        }

        return expected.Count;
    }

    private static List<(int Field, string Word, double Weight)> Choose(
        NaiveIndex model, NaiveEntry entry, MoreLikeThisOptions options)
    {
        var found = new List<(int Field, string Word, double Weight)>();
        int[] fields = options.Fields.Count == 0 ? [0, 1] : [.. options.Fields.Select(_schema.IndexOf)];
        foreach (int field in fields)
        {
            foreach (IGrouping<string, string> word in model.TermsOf(entry, field).GroupBy(word => word))
            {
                int having = model.Entries.Count(other => model.TermsOf(other, field).Contains(word.Key));
                if (word.Count() >= options.MinTermFrequency
                    && word.Key.Length >= options.MinWordLength
                    && (options.MaxWordLength == 0 || word.Key.Length <= options.MaxWordLength)
                    && !options.StopWords.Contains(word.Key, StringComparer.OrdinalIgnoreCase)
                    && having > 0
                    && having >= options.MinDocumentFrequency
                    && having <= options.MaxDocumentFrequency
                    && having * 100 <= model.Count * options.MaxDocumentFrequencyPercentage)
                    found.Add((field, word.Key, word.Count() * Bm25.Idf(model.Count, having)));
            }
        }

        return
        [
            .. found.OrderByDescending(word => word.Weight)
                .ThenBy(word => word.Field)
                .ThenBy(word => word.Word, StringComparer.Ordinal)
                .Take(options.MaxQueryTerms),
        ];
    }

    private static string Text(Random random) => string.Join(
        ' ', Enumerable.Range(0, random.Next(2, 30)).Select(_ => "w" + (int)(40 * random.NextDouble() * random.NextDouble())));
}
