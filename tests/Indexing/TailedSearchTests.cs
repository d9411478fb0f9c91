using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Suggestions;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// An index with changes that it does not contain answers as one that contains them: hits, order, scores, groups, terms and
/// explanations, against a scan of the changed entries.
/// </summary>
public sealed class TailedSearchTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Random_queries_over_an_index_and_its_changes_answer_as_a_scan_does(bool singleValues)
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random, singleValues);
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int round = 0; round < 8; round++)
        {
            fixture.ChangeRandomly(random, data, changes: random.Next(1, 200), keys: 150);
            fixture.Commit();
            using var searcher = new IndexSearcher(fixture.Environment);
            using IndexTail tail = Change(searcher, fixture, data, random, out NaiveIndex model);
            for (int i = 0; i < 60; i++)
                IndexFixture.Check(searcher, model, data.Request() with { CountsHits = random.Next(2) == 0 }, tail);
        }
    }

    [Fact]
    public void An_empty_index_with_changes_is_an_index_of_the_changes()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using IndexTail tail = Change(searcher, fixture, data, random, out NaiveIndex model);
        for (int i = 0; i < 60; i++)
            IndexFixture.Check(searcher, model, data.Request(), tail);
    }

    [Fact]
    public void Scores_are_those_of_one_index_and_their_explanations_say_so()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 150, keys: 100);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using IndexTail tail = Change(searcher, fixture, data, random, out NaiveIndex model);
        for (int i = 0; i < 60; i++)
        {
            IndexQuery query = i % 2 == 0 ? data.Query(2) : new FullTextQuery("text", data.Text(3), All: false);
            var request = new SearchRequest
            {
                Query = query,
                Sort = [new SortKey("", SortKind.Score, Descending: true)],
                Take = random.Next(2) == 0 ? 5 : long.MaxValue,
            };
            string what = IndexFixture.Describe(request);
            Dictionary<string, double> expected = model.Search(request).ToDictionary(hit => hit.Key, hit => hit.Score);
            using SearchResults results = searcher.Search(
                request, tail, options: null, TestContext.Current.CancellationToken);
            using ScoreExplainer explainer = searcher.OpenExplainer(query, tail, TestContext.Current.CancellationToken);
            var scores = new List<double>();
            while (results.MoveNext())
            {
                double score = expected[Encoding.UTF8.GetString(results.Key)];
                Assert.True(Math.Abs(score - results.Score) <= 1e-5 * Math.Max(1, score), $"{what}: {results.Score} {score}");
                ScoreExplanation explanation = explainer.Explain(results.EntryId);
                Assert.True(explanation.Score == results.Score, $"{what}: {results.Score}\n{explanation}");
                scores.Add(score);
            }

            double[] best = [.. expected.Values.OrderDescending().Take((int)Math.Min(int.MaxValue, request.Take))];
            Assert.Equal(best.Length, scores.Count);
            for (int place = 0; place < best.Length; place++)
                Assert.Equal(best[place], scores[place], 1e-4 * Math.Max(1, best[place]));
        }
    }

    [Fact]
    public void Pages_by_position_over_an_index_and_its_changes_are_the_whole_order()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random, singleValues: true);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 300, keys: 200);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using IndexTail tail = Change(searcher, fixture, data, random, out NaiveIndex model);
        for (int i = 0; i < 30; i++)
        {
            SearchRequest request = data.Request() with { Skip = 0, Take = random.Next(1, 60), WithPosition = true };
            List<string> expected = [.. model.Search(request).Select(hit => hit.Key)];
            var paged = new List<string>();
            for (int count = -1; count != 0;)
            {
                using SearchResults results = searcher.Search(
                    request, tail, options: null, TestContext.Current.CancellationToken);
                List<string> page = IndexFixture.Read(results);
                paged.AddRange(page);
                count = results.Position is null ? 0 : page.Count;
                request = request with { After = results.Position };
            }

            Assert.True(
                expected.SequenceEqual(paged),
                $"{IndexFixture.Describe(request)}\nexpected {string.Join(' ', expected)}\nactual   {string.Join(' ', paged)}");
        }
    }

    [Fact]
    public void Terms_and_entries_are_those_of_one_index()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 200, keys: 120);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using IndexTail tail = Change(searcher, fixture, data, random, out NaiveIndex model);
        for (int field = 0; field < RandomData.Schema.Fields.Count; field++)
        {
            (string Term, long Count)[] expected =
            [
                .. model.Entries.SelectMany(entry => model.TermsOf(entry, field).Distinct())
                    .GroupBy(term => term)
                    .Select(group => (group.Key, (long)group.Count()))
                    .OrderBy(term => Encoding.UTF8.GetBytes(term.Key), Comparer<byte[]>.Create(
                        static (x, y) => x.AsSpan().SequenceCompareTo(y))),
            ];
            string name = RandomData.Schema.Fields[field].Name;
            var found = new List<(string, long)>();
            string? after = null;
            for (int page = 1; ; page++)
            {
                IReadOnlyList<IndexTerm> terms = searcher.Terms(name, after, page, tail);
                found.AddRange(terms.Select(term => (term.Text, term.EntryCount)));
                if (terms.Count < page)
                    break;
                after = terms[^1].Text;
            }

            Assert.Equal(expected, found);
        }

        foreach (NaiveEntry entry in model.Entries)
        {
            IReadOnlyList<IndexEntryField>? fields = searcher.Entry(Encoding.UTF8.GetBytes(entry.Key), tail);
            Assert.NotNull(fields);
            CheckEntry(model, entry, fields);
        }

        for (int i = 0; i < 120; i++)
        {
            string key = "docs/" + i;
            bool isThere = model.Entries.Any(entry => entry.Key == key);
            Assert.Equal(isThere, searcher.Entry(Encoding.UTF8.GetBytes(key), tail) is not null);
        }
    }

    [Fact]
    public void Terms_and_entries_of_an_index_alone_are_those_of_a_scan()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 300, keys: 120);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        foreach (NaiveEntry entry in fixture.Model.Entries)
        {
            IReadOnlyList<IndexEntryField>? fields = searcher.Entry(Encoding.UTF8.GetBytes(entry.Key));
            Assert.NotNull(fields);
            CheckEntry(fixture.Model, entry, fields);
        }

        Assert.Null(searcher.Entry("docs/none"u8));
        Assert.Empty(searcher.Terms("text", null, 0));
        Assert.Throws<UnknownFieldException>(() => searcher.Terms("nowhere", null, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => searcher.Terms("text", null, -1));
        for (int field = 0; field < RandomData.Schema.Fields.Count; field++)
        {
            string name = RandomData.Schema.Fields[field].Name;
            string[] expected =
            [
                .. fixture.Model.Entries.SelectMany(entry => fixture.Model.TermsOf(entry, field)).Distinct()
                    .OrderBy(term => Encoding.UTF8.GetBytes(term), Comparer<byte[]>.Create(
                        static (x, y) => x.AsSpan().SequenceCompareTo(y))),
            ];
            Assert.Equal(expected, searcher.Terms(name, null, int.MaxValue).Select(term => term.Text));
            if (expected.Length == 0)
                continue; // no document has the field
            string after = expected[expected.Length / 2];
            Assert.Equal(
                expected.SkipWhile(term => term != after).Skip(1), searcher.Terms(name, after, 9_999).Select(term => term.Text));
        }
    }

    [Fact]
    public void Groups_and_suggestions_are_those_of_one_index()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 200, keys: 120);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using IndexTail tail = Change(searcher, fixture, data, random, out NaiveIndex model);
        using var whole = new IndexFixture(RandomData.Schema);
        foreach (NaiveEntry entry in model.Entries.OrderBy(entry => entry.Order))
            whole.Put(entry.Key, [.. entry.Values.SelectMany(field => field.Value.Select(value => (field.Key, value)))]);
        whole.Commit();
        using var one = new IndexSearcher(whole.Environment);
        CancellationToken none = TestContext.Current.CancellationToken;
        for (int i = 0; i < 60; i++)
        {
            IndexQuery query = data.Query(2);
            var facet = new FacetQuery
            {
                Field = RandomData.Schema.Fields[random.Next(6)].Name,
                Aggregates = random.Next(2) == 0 ? [] : ["rare"],
                Order = (FacetOrder)random.Next(4),
                Start = random.Next(3),
                PageSize = random.Next(3) == 0 ? int.MaxValue : random.Next(12),
                WithRemainingTerms = random.Next(2) == 0,
            };
            var ranges = new FacetQuery
            {
                Ranges = [new FacetRange("a", data.Range("number")), new FacetRange("b", data.Range("name"))],
            };
            FacetResults expected = one.Facets(new FacetRequest(query, [facet, ranges]), options: null, none);
            FacetResults both = searcher.Facets(new FacetRequest(query, [facet, ranges]), tail, options: null, none);
            Assert.Equal(expected.TotalCount, both.TotalCount);
            for (int place = 0; place < 2; place++)
            {
                Assert.Equal(Shown(expected.Facets[place]), Shown(both.Facets[place]));
                Assert.Equal(expected.Facets[place].RemainingTerms, both.Facets[place].RemainingTerms);
            }

            var request = new SuggestionRequest
            {
                Field = RandomData.Schema.Fields[random.Next(6)].Name,
                Text = random.Next(3) == 0 ? $"{random.Next(-30, 30)}" : data.Word(),
                Distance = SuggestionDistance.None,
                Accuracy = 0,
                Take = random.Next(1, 40),
                ByPopularity = random.Next(2) == 0,
            };
            Assert.Equal(one.Suggest(request, none), searcher.Suggest(request, tail, none));
        }
    }

    /// <summary>
    /// The terms of a facet are in the order of numbers if the field has some, and no longer once changes remove the last.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Terms_of_a_field_whose_numbers_the_changes_remove_are_in_the_order_of_texts(bool staysOne)
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        string[] texts = ["9", "10", "a", "5"];
        for (int i = 0; i < texts.Length; i++)
            fixture.Put("text/" + i, (0, FieldValue.Of(texts[i])));
        for (int i = 0; i < 3; i++)
            fixture.Put("number/" + i, (0, FieldValue.Of(i / 2 + 5L)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using var tail = new IndexTail(searcher);
        IndexBatch changes = tail.BeginBatch();
        for (int i = staysOne ? 1 : 0; i < 3; i++)
        {
            changes.Delete(Encoding.UTF8.GetBytes("number/" + i));
            fixture.Delete("number/" + i);
        }

        tail.Fill(changes, TestContext.Current.CancellationToken);
        var request = new FacetRequest(new MatchAllQuery(), [new FacetQuery { Field = "name" }]);
        FacetResults found = searcher.Facets(request, tail, cancellationToken: TestContext.Current.CancellationToken);
        fixture.Commit();
        using var later = new IndexSearcher(fixture.Environment);
        FacetResults expected = later.Facets(request, cancellationToken: TestContext.Current.CancellationToken);
        Assert.Equal(staysOne ? ["5", "9", "10", "a"] : ["10", "5", "9", "a"], Terms(expected));
        Assert.Equal(Terms(expected), Terms(found));

        static IEnumerable<string> Terms(FacetResults results) => results.Facets[0].Values.Select(static value => value.Range);
    }

    /// <summary>
    /// Numbers remain if the changes leave one entry of one number, be its list short or long.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Numbers_of_many_entries_order_the_terms_of_a_facet_until_the_last_is_removed(bool staysOne)
    {
        const int Numbered = 3_000;
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.Put("text", (0, FieldValue.Of("9")), (1, FieldValue.Of("a")));
        fixture.Put("texts", (0, FieldValue.Of("10")), (1, FieldValue.Of("a")));
        for (int i = 0; i < Numbered; i++)
            fixture.Put("number/" + i, (0, FieldValue.Of(i < 5 ? i : 7L)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using var tail = new IndexTail(searcher);
        IndexBatch changes = tail.BeginBatch();
        for (int i = 0; i < Numbered - (staysOne ? 1 : 0); i++)
            changes.Delete(Encoding.UTF8.GetBytes("number/" + i));
        tail.Fill(changes, TestContext.Current.CancellationToken);
        var request = new FacetRequest(new TermQuery("tag", FieldValue.Of("a")), [new FacetQuery { Field = "name" }]);
        FacetResults found = searcher.Facets(request, tail, cancellationToken: TestContext.Current.CancellationToken);
        Assert.Equal(staysOne ? ["9", "10"] : ["10", "9"], found.Facets[0].Values.Select(static value => value.Range));
    }

    [Fact]
    public void A_tail_is_filled_once_and_before_it_is_searched()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.Put("docs/1", (0, FieldValue.Of("a")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using var tail = new IndexTail(searcher);
        var all = new SearchRequest { Query = new MatchAllQuery() };
        Assert.Throws<InvalidOperationException>(
            () => searcher.Search(all, tail, cancellationToken: TestContext.Current.CancellationToken));
        tail.Fill(tail.BeginBatch(), TestContext.Current.CancellationToken);
        IndexFixture.Check(searcher, fixture.Model, all, tail);
        Assert.Throws<InvalidOperationException>(() => tail.Fill(tail.BeginBatch(), TestContext.Current.CancellationToken));
    }

    private static string Shown(FacetResult result) =>
        $"{string.Join(' ', result.Values.Select(Shown))} {result.RemainingTermsCount} {result.RemainingHits}";

    private static string Shown(FacetValue value) =>
        $"{value.Range}:{value.Count}:{string.Join(',', value.Figures.Select(static one => (one.Count, one.Min, one.Max)))}";

    /// <summary>The terms that an entry has, by field; numbers among them as texts.</summary>
    private static void CheckEntry(NaiveIndex model, NaiveEntry entry, IReadOnlyList<IndexEntryField> fields)
    {
        Assert.Equal(
            entry.Values.Keys.Order().Select(field => model.Schema.Fields[field].Name), fields.Select(field => field.Field));
        foreach (IndexEntryField field in fields)
        {
            int position = model.Field(field.Field);
            Assert.Equal(
                model.TermsOf(entry, position).Distinct().Order(StringComparer.Ordinal),
                field.Terms.Distinct().Order(StringComparer.Ordinal));
            Assert.Equal(entry.Of(position).Any(NaiveText.IsNull), field.HasNull);
            if (model.Schema.Fields[position].Analysis != FieldAnalysis.FullText)
                continue;
            ILookup<string, int> places =
                NaiveText.Positions(entry.Of(position)).ToLookup(word => word.Word, word => word.Position);
            for (int i = 0; i < field.Terms.Count; i++)
                Assert.Equal(places[field.Terms[i]], field.Positions[i]);
        }
    }

    /// <summary>Changes and deletes entries in a tail alone.</summary>
    private static IndexTail Change(
        IndexSearcher searcher, IndexFixture fixture, RandomData data, Random random, out NaiveIndex model)
    {
        model = fixture.Model.Copy();
        var tail = new IndexTail(searcher);
        IndexBatch batch = tail.BeginBatch();
        for (int i = random.Next(60); i >= 0; i--)
        {
            string key = "docs/" + random.Next(160);
            if (random.Next(3) == 0)
            {
                model.Delete(key);
                batch.Delete(Encoding.UTF8.GetBytes(key));
            }
            else
            {
                (int, FieldValue)[] values = [.. data.Entry()];
                model.Put(key, values);
                IndexFixture.Put(batch, key, values);
            }
        }

        tail.Fill(batch, TestContext.Current.CancellationToken);
        return tail;
    }
}
