using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using CultureInfo = System.Globalization.CultureInfo;

namespace Treepie.Indexing.Tests;

/// <summary>A query has one text, and no other query has it: positions are recognized by it.</summary>
public sealed class QueryTextTests
{
    private static readonly IndexSchema _schema = new(
    [
        new IndexField("text", FieldAnalysis.FullText),
        new IndexField("name"),
        new IndexField("at", FieldAnalysis.Spatial),
        new IndexField("v", FieldAnalysis.Vector, Vector: new VectorFieldOptions(2)),
    ]);

    /// <summary>Queries of all types, each different from the others in as little as possible.</summary>
    private static IEnumerable<IndexQuery> Queries()
    {
        TermQuery one = new("name", FieldValue.Of(1)), two = new("name", FieldValue.Of(2));
        yield return new MatchAllQuery();
        yield return new MatchNoneQuery();
        foreach (FieldValue value in new[]
        {
            FieldValue.Of(1), FieldValue.Of(2), FieldValue.Of(1.0), FieldValue.Of(1.5), FieldValue.Of(-1.5), FieldValue.Of(true),
            FieldValue.Of(false), FieldValue.Of("1"), FieldValue.Of(""), FieldValue.Null,
        })
        {
            yield return new TermQuery("name", value);
            yield return new RangeQuery("name", value, true, null, true);
            yield return new RangeQuery("name", null, true, value, true);
        }

        yield return new TermQuery("text", FieldValue.Of(1));
        yield return new RangeQuery("name", null, true, null, true);
        yield return new RangeQuery("name", FieldValue.Of(1), false, null, true);
        yield return new RangeQuery("name", FieldValue.Of(1), false, null, false);
        foreach (FieldValue[] values in new FieldValue[][]
        {
            [], [FieldValue.Of("a b")], [FieldValue.Of("a"), FieldValue.Of("b")], [FieldValue.Of("b"), FieldValue.Of("a")],
            [FieldValue.Of(1)],
        })
        {
            yield return new InQuery("name", values);
            yield return new AllInQuery("name", values);
        }

        foreach (string text in new[] { "a", "b" })
        {
            yield return new PrefixQuery("name", text);
            yield return new SuffixQuery("name", text);
            yield return new ContainsQuery("name", text);
            yield return new WildcardQuery("name", text);
            yield return new RegexQuery("name", text);
            yield return new RegexQuery("name", text, IsWhole: true);
            yield return new ExistsQuery(text);
            yield return new FullTextQuery("text", text, All: false);
            yield return new FullTextQuery("text", text, All: true);
            yield return new PhraseQuery("text", text);
            yield return new PhraseQuery("text", text, Slop: 1);
            yield return new PhraseQuery("text", text, Slop: 1, Ordered: true);
            yield return new TextQuery("text", text);
            yield return new TextQuery("text", text, Slop: 1);
            yield return new FuzzyQuery("text", text);
            yield return new FuzzyQuery("text", text, 0.25f);
            yield return new FuzzyQuery("text", text, Prefix: 1);
            yield return new KeyQuery([text]);
            yield return new KeyQuery([text], IsPrefix: true);
            yield return new KeyQuery([text, "c"]);
            yield return new KeyPatternQuery(text, IsRegex: false);
            yield return new KeyPatternQuery(text, IsRegex: true);
            yield return new KeyRangeQuery(text, false, null, false);
            yield return new KeyRangeQuery(text, true, null, false);
            yield return new KeyRangeQuery(null, false, text, false);
            yield return new KeyRangeQuery(null, false, text, true);
            yield return new KeyRangeQuery(text, true, "zz", true);
        }

        yield return new KeyQuery(["a c"]);
        yield return new EntriesQuery([1, 2, 3]);
        yield return new EntriesQuery([12, 3]);
        foreach (Geometry shape in new[]
        {
            Geometry.Point(new GeoPoint(1, 2)), Geometry.Point(new GeoPoint(1, 2.5)), Geometry.Around(new GeoPoint(1, 2), 3),
            Geometry.Around(new GeoPoint(1, 2), 4), Geometry.Parse("POLYGON ((0 0, 4 0, 4 4, 0 0))"),
            Geometry.Parse("POLYGON ((0 0, 4 0, 4 5, 0 0))"), Geometry.Parse("LINESTRING (0 0, 4 0)"),
        })
            yield return new SpatialQuery("at", SpatialRelation.Within, shape);
        yield return new SpatialQuery("at", SpatialRelation.Disjoint, Geometry.Point(new GeoPoint(1, 2)));
        foreach (float[] vector in new float[][] { [1, 2], [1, 2.5f], [1] })
        {
            yield return new VectorQuery("v", vector, 10);
            yield return new VectorQuery("v", vector, 11);
            yield return new VectorQuery("v", vector, 10, 0.5f);
            yield return new VectorQuery("v", vector, 10, IsExact: true);
            yield return new VectorQuery("v", vector, 10) { Others = [[1, 2]] };
            yield return new VectorQuery("v", vector, 10) { Others = [[1, 3]] };
            yield return new VectorQuery("v", vector, 10) { OfEntry = "docs/1" };
        }

        yield return new AndQuery([one, two]);
        yield return new AndQuery([two, one]);
        yield return new AndQuery([new AndQuery([one]), two]);
        yield return new IntersectQuery([one, two]);
        yield return new IntersectQuery([one]);
        yield return new OrQuery([one, two]);
        yield return new OrQuery([one]);
        yield return new NotQuery(one);
        yield return new NotQuery(two);
        yield return new BoostQuery(one, 1.5f);
        yield return new BoostQuery(one, 2);
        yield return new BoostQuery(two, 2);
        yield return new FusionQuery([new FusionClause(one), new FusionClause(two)], FusionMethod.ReciprocalRank);
        yield return new FusionQuery([new FusionClause(one), new FusionClause(two, 2)], FusionMethod.ReciprocalRank);
        yield return new FusionQuery([new FusionClause(one), new FusionClause(one)], FusionMethod.ReciprocalRank);
        yield return new FusionQuery([new FusionClause(one), new FusionClause(two)], FusionMethod.Weighted);
        yield return new FusionQuery([new FusionClause(one), new FusionClause(two)], FusionMethod.Weighted, 5);
        foreach (MoreLikeThisQuery like in Likes())
            yield return like;
    }

    private static IEnumerable<MoreLikeThisQuery> Likes()
    {
        var options = new MoreLikeThisOptions();
        yield return new MoreLikeThisQuery("docs/1", null, options);
        yield return new MoreLikeThisQuery("docs/2", null, options);
        yield return new MoreLikeThisQuery(null, null, options) { First = new MatchAllQuery() };
        yield return new MoreLikeThisQuery(null, null, options) { First = new MatchNoneQuery() };
        foreach (string[] texts in new string[][] { ["a"], ["b"], ["a", "b"] })
        {
            yield return new MoreLikeThisQuery(null, _ => texts, options);
            yield return new MoreLikeThisQuery(null, _ => texts, options with { Fields = ["text"] });
        }

        foreach (MoreLikeThisOptions other in new[]
        {
            options with { MinTermFrequency = 3 }, options with { MaxQueryTerms = 3 }, options with { MaxTokensParsed = 3 },
            options with { MinDocumentFrequency = 3 }, options with { MaxDocumentFrequency = 3 },
            options with { MaxDocumentFrequencyPercentage = 3 }, options with { MinWordLength = 3 },
            options with { MaxWordLength = 3 }, options with { Boost = true }, options with { BoostFactor = 3 },
            options with { StopWords = ["a"] }, options with { StopWords = ["b"] }, options with { Fields = ["text"] },
        })
            yield return new MoreLikeThisQuery("docs/1", null, other);
    }

    private static IEnumerable<SortKey[]> Orders()
    {
        var key = new SortKey("name", SortKind.Text);
        yield return [];
        yield return [key];
        yield return [key, key];
        yield return [key with { Field = "number" }];
        yield return [key with { Kind = SortKind.Long }];
        yield return [key with { Descending = true }];
        yield return [key with { NullsFirst = true }];
        yield return [key with { NullsFirst = false }];
        foreach (string seed in new[] { "a", "b" })
            yield return [new SortKey("", SortKind.Random, Seed: seed)];
        foreach (double place in new[] { 1, 1.5 })
        {
            yield return [new SortKey("at", SortKind.Distance, Centre: new GeoPoint(place, 2))];
            yield return [new SortKey("at", SortKind.Distance, Centre: new GeoPoint(2, place))];
            yield return [new SortKey("at", SortKind.Distance, Centre: new GeoPoint(2, 2), RoundToKm: place)];
            yield return [new SortKey("name", SortKind.Custom) { Custom = new ListOrder($"order {(int)(2 * place)}", []) }];
        }
    }

    private static IEnumerable<string> Texts() => [.. Queries().Select(TextOf), .. Orders().Select(TextOf)];

    private static string TextOf(IndexQuery query) => QueryText.Of(new SearchRequest { Query = query }, _schema);

    private static string TextOf(SortKey[] order) =>
        QueryText.Of(new SearchRequest { Query = new MatchAllQuery(), Sort = order }, _schema);

    [Fact]
    public void Different_queries_have_different_texts()
    {
        var seen = new Dictionary<string, IndexQuery>();
        foreach (IndexQuery query in Queries())
        {
            string text = TextOf(query);
            Assert.True(seen.TryAdd(text, query), $"{query} and {seen[text]} have one text: {text}");
        }

        Assert.Equal(
            typeof(IndexQuery).Assembly.GetExportedTypes().Where(static type => type.BaseType == typeof(IndexQuery))
                .Select(static type => type.Name).Order(StringComparer.Ordinal),
            seen.Values.Select(static query => query.GetType().Name).Distinct().Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Different_orders_have_different_texts()
    {
        string[] texts = [.. Orders().Select(TextOf)];
        Assert.Equal(texts.Length, texts.Distinct().Count());
    }

    [Fact]
    public void A_query_has_the_same_text_in_every_culture()
    {
        string[] texts = [.. Texts()];
        CultureInfo before = CultureInfo.CurrentCulture;
        CultureInfo.CurrentCulture = new CultureInfo("de-DE") { NumberFormat = { NegativeSign = "~" } };
        try
        {
            Assert.Equal(texts, Texts());
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }
    }

    [Fact]
    public void A_page_goes_on_for_its_own_query_only()
    {
        using var fixture = new IndexFixture(new IndexSchema([new IndexField("name")]));
        for (int i = 0; i < 5; i++)
            fixture.Put($"docs/{i}", (0, FieldValue.Of(i % 2 == 0 ? "a" : "b")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        SearchRequest Request(params string[] keys) => new()
        {
            Query = new KeyQuery(keys),
            Sort = [new SortKey("name", SortKind.Text)],
            Take = 1,
            WithPosition = true,
        };
        ReadOnlyMemory<byte> position;
        using (SearchResults first = searcher.Search(Request("docs/1", "docs/2"), TestContext.Current.CancellationToken))
            position = first.Position;
        using (SearchResults next = searcher.Search(
            Request("docs/1", "docs/2") with { After = position }, TestContext.Current.CancellationToken))
            Assert.Equal(["docs/1"], IndexFixture.Read(next));
        var error = Assert.Throws<IndexQueryException>(
            () => searcher.Search(Request("docs/3", "docs/4") with { After = position }, TestContext.Current.CancellationToken));
        Assert.Contains("of another query", error.Message, StringComparison.Ordinal);
    }
}
