using System.Text;
using Treepie.Indexing.Highlighting;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Suggestions;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Searching;

/// <summary>
/// Requests that cannot be answered, by every method of a searcher: a named error that names what is wrong, and the searcher
/// answers the next request as before.
/// </summary>
public sealed class RefusedQueriesTests
{
    private const string Nowhere = "nowhere";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void A_field_that_does_not_exist_is_named_by_every_kind_of_query_wherever_it_stands()
    {
        var random = new Random(Seed.Next());
        using var index = new Index(random);
        IndexQuery[] kinds = [.. OfField(Nowhere)];
        foreach (IndexQuery kind in kinds)
        {
            for (int round = 0; round < 12; round++)
            {
                IndexQuery query = round == 0 ? kind : Within(kind, random, index.Data, depth: random.Next(1, 4));
                var request = new SearchRequest { Query = query, Sort = random.Next(2) == 0 ? [] : [_best] };
                Action[] calls =
                [
                    () => index.Searcher.Search(request, Token).Dispose(),
                    () => index.Searcher.Search(request with { CountsHits = false, Take = 3 }, Token).Dispose(),
                    () => index.Searcher.Search(request, index.Tail, cancellationToken: Token).Dispose(),
                    () => index.Searcher.Facets(
                        new FacetRequest(query, [new FacetQuery { Field = "name" }]), cancellationToken: Token),
                    () => index.Searcher.Facets(
                        new FacetRequest(new MatchAllQuery(), [new FacetQuery { Ranges = [new FacetRange("a", query)] }]),
                        index.Tail, cancellationToken: Token),
                    () => index.Searcher.OpenExplainer(query, Token).Dispose(),
                    () => index.Searcher.OpenExplainer(query, index.Tail, Token).Dispose(),
                ];
                UnknownFieldException error = Assert.Throws<UnknownFieldException>(calls[random.Next(calls.Length)]);
                Assert.Contains($"'{Nowhere}'", error.Message, StringComparison.Ordinal);
            }

            index.AnswersAsBefore();
        }

        // A kind that is added must be tested too.
        Type[] without =
        [
            typeof(MatchAllQuery), typeof(MatchNoneQuery), typeof(AndQuery), typeof(OrQuery), typeof(NotQuery),
            typeof(BoostQuery), typeof(IntersectQuery), typeof(KeyQuery), typeof(KeyRangeQuery), typeof(KeyPatternQuery),
            typeof(EntriesQuery), typeof(FusionQuery),
        ];
        Assert.Equal(
            typeof(IndexQuery).Assembly.GetExportedTypes().Where(type => type.IsSubclassOf(typeof(IndexQuery)))
                .Select(type => type.Name).Order(),
            kinds.Select(kind => kind.GetType()).Concat(without).Distinct().Select(type => type.Name).Order());
    }

    [Fact]
    public void A_field_that_does_not_exist_is_named_by_every_other_method()
    {
        using var index = new Index(new Random(Seed.Next()));
        IndexSearcher searcher = index.Searcher;
        var suggestion = new SuggestionRequest { Field = Nowhere, Text = "a" };
        var all = new MatchAllQuery();
        foreach (Action call in (Action[])
        [
            () => searcher.Terms(Nowhere, null, 3),
            () => searcher.Terms(Nowhere, null, 3, index.Tail),
            () => searcher.Suggest(suggestion, Token),
            () => searcher.Suggest(suggestion, index.Tail, Token),
            () => searcher.SearchDistinct(Nowhere, 3, cancellationToken: Token),
            () => searcher.OpenHighlighter(all, Nowhere, Token),
            () => searcher.Facets(new FacetRequest(all, [new FacetQuery { Field = Nowhere }]), cancellationToken: Token),
            () => searcher.Facets(
                new FacetRequest(all, [new FacetQuery { Field = "name", Aggregates = [Nowhere] }]), index.Tail,
                cancellationToken: Token),
            () => searcher.Search(
                new SearchRequest
                {
                    Query = all,
                    Sort = [new SortKey("name", SortKind.Text), new SortKey(Nowhere, SortKind.Long)],
                },
                Token),
            () => searcher.Search(
                new SearchRequest { Query = all, Sort = [new SortKey(Nowhere, SortKind.Distance, Centre: new GeoPoint(1, 2))] },
                index.Tail, cancellationToken: Token),
        ])
        {
            UnknownFieldException error = Assert.Throws<UnknownFieldException>(call);
            Assert.Contains($"'{Nowhere}'", error.Message, StringComparison.Ordinal);
            Assert.Contains("vector", error.Message, StringComparison.Ordinal); // and what there is
        }

        Assert.False(searcher.IsComplete(Nowhere) || searcher.HasEntries(Nowhere));
        index.AnswersAsBefore();
    }

    [Fact]
    public void Conditions_that_no_field_could_answer_are_refused_with_the_reason()
    {
        using var index = new Index(new Random(Seed.Next()));
        IndexQuery all = new MatchAllQuery();
        (IndexQuery Query, string Reason)[] cases =
        [
            (new RangeQuery("number", FieldValue.Of(1L), true, FieldValue.Of("a"), true), "number"),
            (new BoostQuery(all, float.NaN), "NaN"),
            (new BoostQuery(all, -1), "-1"),
            (new BoostQuery(all, float.PositiveInfinity), ""),
            (new RegexQuery("name", "a("), "a("),
            (new RegexQuery("name", "[z-a]"), "[z-a]"),
            (new PhraseQuery("name", "a b"), "'name'"),
            (new PhraseQuery("text", "a b", -1), "-1"),
            (new TextQuery("text", "a b", -1), "-1"),
            (new SpatialQuery("name", SpatialRelation.Within, Geometry.Around(new GeoPoint(1, 2), 3)), "'name'"),
            (new VectorQuery("name", [1, 2, 3, 4], 3), "'name'"),
            (new VectorQuery("vector", [], 3), ""),
            (new VectorQuery("vector", [1, 2, 3], 3), "3"),
            (new VectorQuery("vector", [1, float.NaN, 3, 4], 3), ""),
            (new VectorQuery("vector", [1, 2, 3, 4], 0), "0"),
            (new VectorQuery("vector", [1, 2, 3, 4], -1), "-1"),
            (new FusionQuery([], FusionMethod.Weighted), "0"),
            (new FusionQuery([new FusionClause(all)], FusionMethod.Weighted, 0), "0"),
            (new FusionQuery([new FusionClause(all)], FusionMethod.Weighted, FusionQuery.MaxWindow + 1), "16385"),
            (new FusionQuery([new FusionClause(all, 0)], FusionMethod.ReciprocalRank), "0"),
            (new FusionQuery([new FusionClause(all, float.NaN)], FusionMethod.ReciprocalRank), "NaN"),
            (new FusionQuery(
                [.. Enumerable.Repeat(new FusionClause(all), FusionQuery.MaxClauses + 1)], FusionMethod.Weighted), "65"),
            (new MoreLikeThisQuery("docs/1", null, new MoreLikeThisOptions { MaxQueryTerms = 0 }), "0"),
            (new MoreLikeThisQuery("docs/1", null, new MoreLikeThisOptions { BoostFactor = float.NaN }), "NaN"),
            (new MoreLikeThisQuery("docs/1", null, new MoreLikeThisOptions { BoostFactor = -1 }), "-1"),
        ];
        foreach ((IndexQuery query, string reason) in cases)
        {
            foreach (bool isTailed in (bool[])[false, true])
            {
                var request = new SearchRequest { Query = query, Sort = [_best] };
                Exception? error = Record.Exception(
                    () => (isTailed
                        ? index.Searcher.Search(request, index.Tail, cancellationToken: Token)
                        : index.Searcher.Search(request, Token)).Dispose());
                Assert.True(error is IndexQueryException or InvalidVectorException, $"{query}: {error}");
                Assert.Contains(reason, error.Message, StringComparison.Ordinal);
            }
        }

        index.AnswersAsBefore();
    }

    [Fact]
    public void Orders_and_pages_that_cannot_be_are_refused_with_the_reason()
    {
        using var index = new Index(new Random(Seed.Next()));
        var given = new GivenOrder(new Dictionary<long, FieldValue>());
        (SortKey[] Keys, string Reason)[] cases =
        [
            ([new SortKey("text", SortKind.Text)], "full text"),
            ([new SortKey("place", SortKind.Text)], "spatial"),
            ([new SortKey("name", SortKind.Distance, Centre: new GeoPoint(1, 2))], "'name'"),
            ([new SortKey("name", SortKind.Given)], "Given"),
            ([new SortKey("name", SortKind.Text) { Given = given }], "Given"),
            ([new SortKey("name", SortKind.Custom)], "Custom"),
            ([new SortKey("name", SortKind.Text) { Custom = new ListOrder("list", ["a"], false) }], "Custom"),
            ([.. Enumerable.Repeat(new SortKey("number", SortKind.Long), 65)], "64"),
        ];
        foreach ((SortKey[] keys, string reason) in cases)
        {
            var request = new SearchRequest { Query = new MatchAllQuery(), Sort = keys };
            IndexQueryException error = Assert.Throws<IndexQueryException>(() => index.Searcher.Search(request, Token));
            Assert.Contains(reason, error.Message, StringComparison.Ordinal);
            error = Assert.Throws<IndexQueryException>(
                () => index.Searcher.Search(request, index.Tail, cancellationToken: Token));
            Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        }

        SortKey[] most = [.. Enumerable.Repeat(new SortKey("number", SortKind.Long), 64)];
        Assert.Equal(
            Keys(index.Searcher.Search(new SearchRequest { Query = new MatchAllQuery(), Sort = [most[0]] }, Token)),
            Keys(index.Searcher.Search(new SearchRequest { Query = new MatchAllQuery(), Sort = most }, Token)));
        var page = new SearchRequest { Query = new MatchAllQuery() };
        foreach (SearchRequest bad in (SearchRequest[])[page with { Skip = -1 }, page with { Take = -1 }])
        {
            Assert.Throws<ArgumentOutOfRangeException>(() => index.Searcher.Search(bad, Token));
            Assert.Throws<ArgumentOutOfRangeException>(
                () => index.Searcher.Search(bad, index.Tail, cancellationToken: Token));
        }

        foreach (FacetQuery bad in (FacetQuery[])
        [
            new FacetQuery { Field = "name", Start = -1 }, new FacetQuery { Field = "name", PageSize = -1 },
            new FacetQuery { Field = "name", Aggregates = ["text"] }, new FacetQuery { Field = "name", Aggregates = ["place"] },
            new FacetQuery { Field = "name", Aggregates = ["vector"] },
        ])
        {
            var request = new FacetRequest(new MatchAllQuery(), [bad]);
            Assert.Throws<IndexQueryException>(() => index.Searcher.Facets(request, cancellationToken: Token));
            Assert.Throws<IndexQueryException>(() => index.Searcher.Facets(request, index.Tail, cancellationToken: Token));
        }

        Assert.Throws<ArgumentOutOfRangeException>(() => index.Searcher.Terms("name", null, -1));
        Assert.Throws<ArgumentOutOfRangeException>(() => index.Searcher.Terms("name", null, -1, index.Tail));
        index.AnswersAsBefore();
    }

    /// <summary>A position is accepted by the request and index that it is from, and with any other bit it is none.</summary>
    [Fact]
    public void A_position_that_was_changed_or_is_of_another_request_is_refused()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using Index index = new(random), another = new(random);
        SortKey[][] orders =
        [
            [], [_best], [new SortKey("name", SortKind.Text)], [new SortKey("number", SortKind.Double, Descending: true)],
            [new SortKey("", SortKind.Key)], [new SortKey("", SortKind.Random, Seed: "s")],
            [new SortKey("place", SortKind.Distance, Centre: new GeoPoint(1, 2))],
        ];
        var page = new SearchRequest { Query = new ExistsQuery("name"), Take = 5, WithPosition = true };
        for (int order = 0; order < orders.Length; order++)
        {
            SearchRequest request = page with { Sort = orders[order] };
            List<string> first = Keys(index.Searcher.Search(request, Token), out byte[]? end);
            Assert.NotNull(end);
            byte[] position = end;
            List<string> all = Keys(index.Searcher.Search(request with { Take = 12 }, Token));
            Assert.Equal(all.Take(5), first);
            Assert.Equal(all.Skip(5).Take(5), Keys(index.Searcher.Search(request with { After = position }, Token)));

            for (int i = 0; i < 60; i++)
            {
                byte[] damaged = Damage.Of(position, random);
                if (damaged.Length == 0 || damaged.AsSpan().SequenceEqual(position))
                    continue;
                SearchRequest bad = request with { After = damaged };
                IndexQueryException error = Assert.Throws<IndexQueryException>(
                    () => i % 2 == 0
                        ? index.Searcher.Search(bad, Token)
                        : index.Searcher.Search(bad, index.Tail, cancellationToken: Token));
                Assert.Contains("position", error.Message, StringComparison.Ordinal);
            }

            SearchRequest other = request with { Sort = orders[(order + 1) % orders.Length], After = position };
            Assert.Throws<IndexQueryException>(() => index.Searcher.Search(other, Token));
            Assert.Throws<IndexQueryException>(
                () => index.Searcher.Search(request with { Query = new ExistsQuery("tag"), After = position }, Token));
            IndexQueryException foreign = Assert.Throws<IndexQueryException>(
                () => another.Searcher.Search(request with { After = position }, Token));
            Assert.Contains("another index", foreign.Message, StringComparison.Ordinal);
        }

        index.AnswersAsBefore();
    }

    /// <summary>Ids of a tail continue those of its view, so with another view they would be of other entries.</summary>
    [Fact]
    public void A_tail_of_another_searcher_is_refused()
    {
        using var index = new Index(new Random(Seed.Next()));
        using var other = new IndexSearcher(index.Environment);
        var request = new SearchRequest { Query = new MatchAllQuery() };
        foreach (Action call in (Action[])
        [
            () => other.Search(request, index.Tail, cancellationToken: Token),
            () => other.Facets(new FacetRequest(request.Query, []), index.Tail, cancellationToken: Token),
            () => other.Suggest(new SuggestionRequest { Field = "name", Text = "w1" }, index.Tail, Token),
            () => other.Terms("name", null, 3, index.Tail),
            () => other.Entry("docs/1"u8, index.Tail),
            () => other.OpenExplainer(request.Query, index.Tail, Token),
        ])
        {
            ArgumentException error = Assert.Throws<ArgumentException>(call);
            Assert.Contains("another searcher", error.Message, StringComparison.Ordinal);
        }

        index.AnswersAsBefore();
    }

    [Fact]
    public void A_searcher_that_was_disposed_says_so()
    {
        using var index = new Index(new Random(Seed.Next()));
        var searcher = new IndexSearcher(index.Environment);
        FieldHighlighter highlighter = searcher.OpenHighlighter(new MatchAllQuery(), "text", Token);
        highlighter.Dispose();
        searcher.Dispose();
        searcher.Dispose();
        var request = new SearchRequest { Query = new TermQuery("name", FieldValue.Of("w1")) };
        Assert.Throws<ObjectDisposedException>(() => searcher.Search(request, Token));
        Assert.Throws<ObjectDisposedException>(() => searcher.Search(request, index.Tail, cancellationToken: Token));
        Assert.Throws<ObjectDisposedException>(
            () => searcher.Facets(
                new FacetRequest(request.Query, [new FacetQuery { Field = "name" }]), cancellationToken: Token));
        Assert.Throws<ObjectDisposedException>(
            () => searcher.Suggest(new SuggestionRequest { Field = "name", Text = "w1" }, Token));
        Assert.Throws<ObjectDisposedException>(() => searcher.Terms("name", null, 3));
        Assert.Throws<ObjectDisposedException>(() => searcher.Entry("docs/1"u8));
        Assert.Throws<ObjectDisposedException>(() => searcher.OpenExplainer(request.Query, Token));
        Assert.Throws<ObjectDisposedException>(() => searcher.SearchDistinct("number", 3, cancellationToken: Token));
        Assert.Throws<ObjectDisposedException>(() => searcher.Errors());
        Assert.Throws<ObjectDisposedException>(() => searcher.FindTree("index"));
        Assert.Throws<ObjectDisposedException>(() => searcher.MeasureStructures(Token));
        index.AnswersAsBefore();
    }

    private static readonly SortKey _best = new("", SortKind.Score, Descending: true);

    /// <summary>Queries of every kind that has a field.</summary>
    private static IEnumerable<IndexQuery> OfField(string field) =>
    [
        new TermQuery(field, FieldValue.Of("a")), new TermQuery(field, FieldValue.Null),
        new InQuery(field, [FieldValue.Of("a"), FieldValue.Of(1L)]), new InQuery(field, []),
        new AllInQuery(field, [FieldValue.Of("a"), FieldValue.Of("b")]), new AllInQuery(field, []),
        new RangeQuery(field, FieldValue.Of(1L), true, FieldValue.Of(2.5), false), new RangeQuery(field, null, true, null, true),
        new PrefixQuery(field, "a"), new SuffixQuery(field, "a"), new ContainsQuery(field, "a"), new ExistsQuery(field),
        new FullTextQuery(field, "a b*", All: true), new FullTextQuery(field, "", All: false), new PhraseQuery(field, "a b"),
        new TextQuery(field, "a"), new WildcardQuery(field, "a*b"), new RegexQuery(field, "a+"), new FuzzyQuery(field, "abc"),
        new SpatialQuery(field, SpatialRelation.Within, Geometry.Around(new GeoPoint(1, 2), 3)),
        new VectorQuery(field, [1, 2, 3, 4], 3),
        new MoreLikeThisQuery("docs/1", null, new MoreLikeThisOptions { Fields = [field] }),
        new MoreLikeThisQuery(null, static _ => ["w1 w2"], new MoreLikeThisOptions { Fields = [field] }),
    ];

    /// <summary>A query within others, at any place.</summary>
    private static IndexQuery Within(IndexQuery query, Random random, EveryKind data, int depth)
    {
        for (; depth > 0; depth--)
        {
            IndexQuery other = data.Leaf(random.Next(7));
            query = random.Next(6) switch
            {
                0 => new AndQuery([other, query]),
                1 => new OrQuery([query, other]),
                2 => new NotQuery(query),
                3 => new BoostQuery(query, 2),
                4 => new IntersectQuery([query, other]),
                _ => new AndQuery([query, new NotQuery(other)]),
            };
        }

        return query;
    }

    private static List<string> Keys(SearchResults results) => Keys(results, out _);

    private static List<string> Keys(SearchResults results, out byte[]? position)
    {
        using (results)
        {
            position = results.Position;
            return IndexFixture.Read(results);
        }
    }

    /// <summary>An index with fields of every kind, a searcher that is asked, and one that is not.</summary>
    private sealed class Index : IDisposable
    {
        private readonly List<SearchRequest> _requests = [];
        private readonly IndexSearcher _other;

        public Index(Random random)
        {
            Data = new EveryKind(random);
            var writer = new IndexWriter(Environment, EveryKind.Schema);
            IndexBatch batch = writer.BeginBatch();
            for (int i = 0; i < 200; i++)
                Data.Draw("docs/" + i).Put(batch);
            writer.Commit(batch, 1, Token);
            Searcher = new IndexSearcher(Environment);
            _other = new IndexSearcher(Environment);
            Tail = new IndexTail(Searcher);
            IndexBatch changes = Tail.BeginBatch();
            for (int i = 190; i < 210; i++)
                Data.Draw("docs/" + i).Put(changes);
            changes.Delete(Encoding.UTF8.GetBytes("docs/3"));
            Tail.Fill(changes, Token);
            for (int i = 0; i < 20; i++)
                _requests.Add(Data.Request());
        }

        public EveryKind Data { get; }

        public StorageEnvironment Environment { get; } = MemoryEnvironment.Open();

        public IndexSearcher Searcher { get; }

        public IndexTail Tail { get; }

        public void AnswersAsBefore()
        {
            foreach (SearchRequest request in _requests)
                EveryKind.Compare(_other, Searcher, request);
        }

        public void Dispose()
        {
            Tail.Dispose();
            _other.Dispose();
            Searcher.Dispose();
            Environment.Dispose();
        }
    }
}
