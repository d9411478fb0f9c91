using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>
/// Texts of fields of numbers against a scan: where they are calculated, where a text or a great number among them has them kept,
/// on the way from one to the other, and back when all is gone.
/// </summary>
public sealed class NumberTextsTests
{
    private static readonly IndexSchema _schema = new(
        [new IndexField("many"), new IndexField("few", FieldAnalysis.Keyword), new IndexField("one")]);

    [Theory]
    [InlineData(null)]
    [InlineData("1")]
    [InlineData("x")]
    [InlineData("1e+300")]
    public void Texts_of_numbers_are_found_as_a_scan_finds_them(string? other)
    {
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(_schema);
        for (int round = 0; round < 9; round++)
        {
            for (int i = 0; i < (round == 1 ? 500 : 120); i++)
            {
                string key = "e/" + random.Next(400);
                if (round > 1 && random.Next(4) == 0)
                    fixture.Delete(key);
                else
                    fixture.Put(key, [.. Entry(random, isLong: round == 1)]);
            }

            if (round == 4)
                Disturb(fixture, other);
            if (round == 6)
            {
                foreach (NaiveEntry entry in fixture.Model.Entries.ToList())
                    fixture.Delete(entry.Key);
            }

            fixture.Commit();
            bool isKept = other is not null && round is 4 or 5;
            Assert.Equal(isKept && fixture.Model.Count > 0, HasTexts(fixture, "many"));
            Check(fixture, random);
            if (round == 5)
                fixture.Reopen();
        }

        fixture.CheckStorage();
    }

    [Fact]
    public void Texts_of_a_commit_that_failed_are_not_in_the_next_one()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        Put(writer, FieldValue.Of("x"), FieldValue.Of("y")); // from now on both fields keep the texts of numbers
        using var stop = new CancellationTokenSource();
        IndexBatch failing = Batch(writer, FieldValue.Of(1L), null);
        Assert.ThrowsAny<OperationCanceledException>(() => writer.Commit(failing, 2, (_, _) => stop.Cancel(), stop.Token));

        Put(writer, null, FieldValue.Of(7L));

        using var searcher = new IndexSearcher(store.Environment);
        Assert.Equal(1, Count(searcher, "few", "7"));
        Assert.Equal(0, Count(searcher, "few", "1"));
    }

    private static void Put(IndexWriter writer, FieldValue? many, FieldValue? few) =>
        writer.Commit(Batch(writer, many, few), writer.LastEtag + 1, TestContext.Current.CancellationToken);

    private static IndexBatch Batch(IndexWriter writer, FieldValue? many, FieldValue? few)
    {
        IndexBatch batch = writer.BeginBatch();
        batch.BeginEntry(BitConverter.GetBytes(writer.LastEtag));
        if (many is { } first)
            IndexFixture.Add(batch, 0, first);
        if (few is { } second)
            IndexFixture.Add(batch, 1, second);
        batch.EndEntry();
        return batch;
    }

    private static long Count(IndexSearcher searcher, string field, string text)
    {
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = new TermQuery(field, FieldValue.Of(text)), CountsHits = true });
        return results.TotalCount;
    }

    private static IEnumerable<(int Field, FieldValue Value)> Entry(Random random, bool isLong)
    {
        int values = random.Next(8) == 0 ? 2 : 1;
        for (int i = 0; i < values; i++)
            yield return (0, Number(random));
        yield return (1, isLong ? FieldValue.Of(7L) : FieldValue.Of(random.Next(-30, 30) / 2.0));
        if (random.Next(3) > 0)
            yield return (2, Number(random));
    }

    private static FieldValue Number(Random random) => random.Next(3) switch
    {
        0 => FieldValue.Of((long)(random.NextDouble() * Math.Pow(10, random.Next(19))) * (random.Next(4) == 0 ? -1 : 1)),
        1 => FieldValue.Of(random.Next(-400, 4_000) / 8.0),
        _ => FieldValue.Of((long)random.Next(300)),
    };

    /// <summary>
    /// Puts what has no plain text into all fields: of an entry of its own, and beside numbers of the same text.
    /// </summary>
    private static void Disturb(IndexFixture fixture, string? other)
    {
        if (other is null)
            return;
        FieldValue value = other == "1e+300" ? FieldValue.Of(1e300) : FieldValue.Of(other);
        fixture.Put("other", (0, value), (1, value), (2, value));
        fixture.Put("both", (0, FieldValue.Of(1L)), (0, value), (1, value), (1, FieldValue.Of(1L)));
    }

    private static bool HasTexts(IndexFixture fixture, string field)
    {
        using var searcher = new IndexSearcher(fixture.Environment);
        return searcher.MeasureStructures(TestContext.Current.CancellationToken)
            .Any(size => size.Structure == "terms" && size.Field == field && size.UsedBytes > 0 && size.Keys > 0);
    }

    private static void Check(IndexFixture fixture, Random random)
    {
        using var searcher = new IndexSearcher(fixture.Environment);
        for (int field = 0; field < _schema.Fields.Count; field++)
        {
            string name = _schema.Fields[field].Name;
            List<(string Text, long Count)> texts = [
                .. fixture.Model.Entries.SelectMany(entry => fixture.Model.TermsOf(entry, field).Distinct())
                    .GroupBy(text => text)
                    .Select(group => (group.Key, (long)group.Count()))
                    .OrderBy(text => text.Key, StringComparer.Ordinal)];
            CheckTerms(searcher, name, texts);
            for (int i = 0; i < 5; i++)
            {
                foreach (IndexQuery query in Queries(random, name, [.. texts.Select(text => text.Text)]))
                {
                    fixture.Check(new SearchRequest { Query = query });
                    fixture.Check(
                        new SearchRequest
                        {
                            Query = query,
                            Sort = [new SortKey(name, SortKind.Text, random.Next(2) == 0)],
                            Take = 9,
                            OrderHint = (OrderHint)random.Next(3)
                        });
                }
            }

            foreach (FacetHint hint in Enum.GetValues<FacetHint>())
            {
                FacetResult all =
                    searcher.Facets(
                        new FacetRequest(
                            new MatchAllQuery(), [new FacetQuery { Field = name, PageSize = int.MaxValue, Hint = hint }]),
                        cancellationToken: TestContext.Current.CancellationToken).Facets[0];
                Assert.Equal(
                    texts,
                    all.Values.Select(value => (value.Range, value.Count)).OrderBy(value => value.Range, StringComparer.Ordinal));
            }

            CheckPages(fixture, searcher, name);
        }
    }

    private static void CheckTerms(IndexSearcher searcher, string name, List<(string Text, long Count)> expected)
    {
        var found = new List<(string Text, long Count)>();
        while (true)
        {
            IReadOnlyList<IndexTerm> page = searcher.Terms(name, found.Count == 0 ? null : found[^1].Text, 7);
            found.AddRange(page.Select(term => (term.Text, term.EntryCount)));
            if (page.Count < 7)
                break;
        }

        Assert.Equal(expected, found);
    }

    /// <summary>A walk in the order of texts goes on where the page before ended.</summary>
    private static void CheckPages(IndexFixture fixture, IndexSearcher searcher, string name)
    {
        foreach (bool descending in (bool[])[false, true])
        {
            var all = new SearchRequest { Query = new MatchAllQuery(), Sort = [new SortKey(name, SortKind.Text, descending)] };
            List<string> expected = fixture.Keys(all), found = [];
            for (SearchRequest next = all with { Take = 50, WithPosition = true, OrderHint = OrderHint.Walk };
                 found.Count < expected.Count;)
            {
                using SearchResults results = searcher.Search(next);
                List<string> page = IndexFixture.Read(results);
                Assert.NotEmpty(page);
                found.AddRange(page);
                next = next with { After = results.Position };
            }

            Assert.Equal(expected, found);
        }
    }

    private static IEnumerable<IndexQuery> Queries(Random random, string name, string[] texts)
    {
        string some = texts.Length == 0 || random.Next(4) == 0
            ? random.Next(-50, 500).ToString(System.Globalization.CultureInfo.InvariantCulture)
            : texts[random.Next(texts.Length)];
        string piece = some[..random.Next(some.Length + 1)], end = some[random.Next(some.Length)..];
        yield return new TermQuery(name, FieldValue.Of(some));
        yield return new TermQuery(name, FieldValue.Of(piece + "x"));
        yield return new InQuery(
            name,
            [.. Enumerable.Range(0, random.Next(20))
                .Select(
                    i => texts.Length == 0
                        ? FieldValue.Of("a")
                        : i % 3 == 0 ? FieldValue.Of((long)i) : FieldValue.Of(texts[random.Next(texts.Length)]))]);
        yield return new PrefixQuery(name, piece);
        yield return new SuffixQuery(name, end);
        yield return new ContainsQuery(name, end[..Math.Min(2, end.Length)]);
        yield return new WildcardQuery(name, piece + "?*" + end);
        yield return new RegexQuery(
            name, "[1-4]*" + end.Replace(".", "\\.", StringComparison.Ordinal).Replace("+", "\\+", StringComparison.Ordinal),
            random.Next(2) == 0);
        yield return new FuzzyQuery(name, some, 1, 0);
        string other = texts.Length == 0 ? "5" : texts[random.Next(texts.Length)];
        yield return new RangeQuery(
            name, random.Next(5) == 0 ? null : FieldValue.Of(some), random.Next(2) == 0,
            random.Next(5) == 0 ? null : FieldValue.Of(other), random.Next(2) == 0);
        yield return new RangeQuery(name, FieldValue.Of(-20.5), random.Next(2) == 0, FieldValue.Of(300L), random.Next(2) == 0);
    }
}
