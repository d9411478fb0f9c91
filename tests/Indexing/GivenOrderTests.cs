using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>Entries and sort values that are given with a query, over an index and changes that it does not contain.</summary>
public sealed class GivenOrderTests
{
    private static readonly IndexSchema _schema = new([new IndexField("name"), new IndexField("number")]);

    private static readonly SearchRequest _all = new() { Query = new MatchAllQuery() };

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>What is given sorts as the same values in a field of the index.</summary>
    [Fact]
    public void Given_values_sort_as_those_of_a_field()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        var values = new Dictionary<string, FieldValue>();
        for (int i = 0; i < 300; i++)
            Put(batch, $"e/{i}", RandomValue(random), values);
        writer.Commit(batch, 1, Cancel);
        using var searcher = new IndexSearcher(store.Environment);
        using var tail = new IndexTail(searcher);
        IndexBatch changes = tail.BeginBatch();
        for (int i = 250; i < 320; i++)
            Put(changes, $"e/{i}", RandomValue(random), values);
        tail.Fill(changes, Cancel);

        var byId = new Dictionary<long, FieldValue>();
        using (SearchResults all = searcher.Search(_all, tail, cancellationToken: Cancel))
            while (all.MoveNext())
                if (values[Encoding.UTF8.GetString(all.Key)] is { Kind: not FieldValueKind.Null } value)
                    byId.Add(all.EntryId, value);
        Assert.True(byId.Keys.Max() > searcher.EntryCount - 1); // entries of the changes too

        foreach (SortKind kind in (SortKind[])[SortKind.Text, SortKind.Long, SortKind.Double, SortKind.AlphaNumeric])
            foreach (bool descending in (bool[])[false, true])
                foreach (bool? nullsFirst in (bool?[])[null, false, true])
                {
                    SortKey field = new("name", kind, descending, nullsFirst);
                    SortKey given = new("", SortKind.Given, descending, nullsFirst) { Given = new GivenOrder(byId, kind) };
                    Assert.Equal(Keys(searcher, tail, [field]), Keys(searcher, tail, [given]));
                    SortKey group = new("number", SortKind.Long);
                    Assert.Equal(Keys(searcher, tail, [group, field], 20), Keys(searcher, tail, [group, given], 20));
                }
    }

    /// <summary>As in a field, where a number that is none is a null.</summary>
    [Fact]
    public void A_given_number_that_is_none_sorts_as_a_null()
    {
        using var fixture = new IndexFixture(_schema);
        for (int i = 0; i < 6; i++)
            fixture.Put("e/" + i, (0, FieldValue.Of("a")));
        fixture.Commit();
        foreach (SortKind? kind in (SortKind?[])
            [null, SortKind.Text, SortKind.Long, SortKind.Double, SortKind.AlphaNumeric])
        {
            foreach (bool isDescending in (bool[])[false, true])
            {
                Assert.Equal(Sorted(FieldValue.Null), Sorted(FieldValue.Of(double.NaN)));

                List<string> Sorted(FieldValue third) => fixture.Keys(new SearchRequest
                {
                    Query = new MatchAllQuery(),
                    Sort =
                    [
                        new SortKey("", SortKind.Given, isDescending)
                        {
                            Given = new GivenOrder(
                                new Dictionary<long, FieldValue>
                                {
                                    [0] = FieldValue.Of(-5L), [1] = FieldValue.Of(3.5), [2] = third, [4] = FieldValue.Of(1e300),
                                    [5] = FieldValue.Of(double.NegativeInfinity),
                                },
                                kind),
                        },
                    ],
                });
            }
        }
    }

    [Fact]
    public void Without_a_kind_numbers_come_before_texts()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        string[] keys = ["a", "b", "c", "d", "e", "f"];
        foreach (string key in keys)
            Put(batch, key, FieldValue.Null, []);
        writer.Commit(batch, 1, Cancel);
        using var searcher = new IndexSearcher(store.Environment);
        FieldValue[] values =
        [
            FieldValue.Of("10"), FieldValue.Of(10), FieldValue.Null, FieldValue.Of(9.5), FieldValue.Of((1L << 53) + 1),
            FieldValue.Of(1L << 53),
        ];
        var given = new GivenOrder(values.Index().ToDictionary(static one => (long)one.Index, static one => one.Item));
        Assert.Equal("c d b f e a", string.Join(' ', Keys(searcher, null, [new SortKey("", SortKind.Given) { Given = given }])));
        Assert.Throws<IndexQueryException>(() => searcher.Search(new SearchRequest
        {
            Query = new MatchAllQuery(),
            Sort = [new SortKey("", SortKind.Given)]
        }, Cancel));
        Assert.Throws<IndexQueryException>(() => searcher.Search(new SearchRequest
        {
            Query = new MatchAllQuery(),
            Sort = [new SortKey("", SortKind.Given) { Given = given }],
            WithPosition = true
        }, Cancel));
    }

    [Fact]
    public void Given_entries_are_found_on_the_side_that_they_are_on()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 10; i++)
            Put(batch, $"e/{i}", FieldValue.Of(i), []);
        writer.Commit(batch, 1, Cancel);
        using var searcher = new IndexSearcher(store.Environment);
        using var tail = new IndexTail(searcher);
        IndexBatch changes = tail.BeginBatch();
        Put(changes, "e/3", FieldValue.Of(30), []);
        Put(changes, "e/10", FieldValue.Of(10), []);
        tail.Fill(changes, Cancel);
        var ids = new Dictionary<string, long>();
        using (SearchResults all = searcher.Search(_all, tail, cancellationToken: Cancel))
            while (all.MoveNext())
                ids.Add(Encoding.UTF8.GetString(all.Key), all.EntryId);

        EntriesQuery some = new([.. ((string[])["e/1", "e/3", "e/9", "e/10"]).Select(key => ids[key]).Order()]);
        Assert.Equal(["e/1", "e/10", "e/3", "e/9"], Ask(some));
        Assert.Equal(["e/10", "e/3"], Ask(new AndQuery([some, new RangeQuery("name", FieldValue.Of(10), true, null, false)])));
        Assert.Equal(7, Ask(new NotQuery(some)).Length);
        Assert.Empty(Ask(new EntriesQuery([])));
        FacetResults facets = searcher.Facets(
            new FacetRequest(
                some, [new FacetQuery { Field = "number" }, new FacetQuery { Ranges = [new FacetRange("r", some)] }]),
            tail, cancellationToken: Cancel);
        Assert.Equal((4L, 4L), (facets.TotalCount, facets.Facets[1].Values[0].Count));

        string[] Ask(IndexQuery query) => [.. Keys(searcher, tail, [], query: query).Order(StringComparer.Ordinal)];
    }

    private static List<string> Keys(
        IndexSearcher searcher, IndexTail? tail, SortKey[] sort, long take = long.MaxValue, IndexQuery? query = null)
    {
        var request = new SearchRequest { Query = query ?? new MatchAllQuery(), Sort = sort, Take = take };
        using SearchResults results = tail is null
            ? searcher.Search(request, Cancel)
            : searcher.Search(request, tail, cancellationToken: Cancel);
        var keys = new List<string>();
        while (results.MoveNext())
            keys.Add(Encoding.UTF8.GetString(results.Key));
        return keys;
    }

    private static void Put(IndexBatch batch, string key, FieldValue value, Dictionary<string, FieldValue> values)
    {
        values[key] = value;
        batch.BeginEntry(Encoding.UTF8.GetBytes(key));
        if (value.Kind == FieldValueKind.Text)
            batch.AddText(0, Encoding.UTF8.GetBytes(value.Text ?? ""));
        else if (value.Kind == FieldValueKind.Long)
            batch.AddLong(0, value.Long);
        else if (value.Kind == FieldValueKind.Double)
            batch.AddDouble(0, value.Double);
        batch.AddLong(1, key.Length);
        batch.EndEntry();
    }

    private static FieldValue RandomValue(Random random) => random.Next(6) switch
    {
        0 => FieldValue.Null,
        1 => FieldValue.Of(random.Next(-20, 20)),
        2 => FieldValue.Of(random.Next(-20, 20) / 4.0 + 0.125),
        3 => FieldValue.Of((1L << 62) + random.Next(2000)),
        4 => FieldValue.Of("t" + random.Next(30)),
        _ => FieldValue.Of("items/" + random.Next(-20, 20)),
    };
}
