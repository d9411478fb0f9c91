using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

public sealed class IndexWriterTests
{
    [Fact]
    public void Fields_that_are_known_are_believed_only_where_they_are_stored_so()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.Commit();
        var same = new IndexSchema([.. RandomData.Schema.Fields]);
        using (var searcher = new IndexSearcher(fixture.Environment, known: same))
            Assert.Equal(RandomData.Schema.Fields, searcher.Schema.Fields);
        IndexField first = RandomData.Schema.Fields[0];
        IndexField[] others =
        [
            first with { Name = first.Name + "x" }, first with { Name = first.Name[..^1] }, first with { Name = "ä" },
            first with { Boost = 2 },
            first with { Analyzer = "WhitespaceAnalyzer" },
            first with { Analysis = first.Analysis == FieldAnalysis.Keyword ? FieldAnalysis.FullText : FieldAnalysis.Keyword },
        ];
        foreach (IndexSchema other in (IndexSchema[])
        [
            .. others.Select(field => new IndexSchema([field, .. RandomData.Schema.Fields.Skip(1)])),
            new IndexSchema([.. RandomData.Schema.Fields, new IndexField("more")]), new IndexSchema([])
        ])
        {
            using var searcher = new IndexSearcher(fixture.Environment, known: other);
            Assert.Equal(RandomData.Schema.Fields, searcher.Schema.Fields);
        }
    }

    [Fact]
    public async Task A_searcher_stays_on_its_snapshot_while_the_writer_commits()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        var open = new List<(IndexSearcher Searcher, NaiveIndex Model)>();
        for (int round = 0; round < 12; round++)
        {
            fixture.ChangeRandomly(random, data, changes: 60, keys: 80);
            fixture.Commit();
            open.Add((new IndexSearcher(fixture.Environment), fixture.Model.Copy()));
        }

        // Others commit while these are read.
        Task writing = Task.Run(
            () =>
            {
                var mine = new Random(1);
                var more = new RandomData(mine);
                for (int i = 0; i < 10; i++)
                {
                    fixture.ChangeRandomly(mine, more, changes: 60, keys: 80);
                    fixture.Commit();
                }
            },
            TestContext.Current.CancellationToken);
        foreach ((IndexSearcher searcher, NaiveIndex model) in open)
        {
            for (int i = 0; i < 20; i++)
                IndexFixture.Check(searcher, model, data.Request());
            searcher.Dispose();
        }

        await writing;
        for (int i = 0; i < 20; i++)
            fixture.Check(data.Request());
    }

    [Fact]
    public void An_environment_without_an_index_is_an_empty_index()
    {
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path);
        using var searcher = new IndexSearcher(environment);
        Assert.Equal(0, searcher.EntryCount);
        Assert.Equal(0, searcher.LastEtag);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = new NotQuery(new MatchNoneQuery()) }, TestContext.Current.CancellationToken);
        Assert.Equal(0, results.TotalCount);
        Assert.False(results.MoveNext());
    }

    [Fact]
    public void Another_schema_is_refused_and_changes_nothing()
    {
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path);
        _ = new IndexWriter(environment, RandomData.Schema);
        Assert.Throws<IndexSchemaException>(() => new IndexWriter(environment, new IndexSchema([new IndexField("name")])));
        Assert.Throws<IndexSchemaException>(
            () => new IndexWriter(environment, new IndexSchema([new IndexField("a"), new IndexField("a")])));
        _ = new IndexWriter(environment, new IndexSchema([.. RandomData.Schema.Fields]));
    }

    [Fact]
    public void A_batch_refuses_what_it_cannot_hold()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        IndexBatch batch = new IndexWriter(fixture.Environment, RandomData.Schema).BeginBatch();
        Assert.Throws<ArgumentException>(() => batch.BeginEntry([]));
        Assert.Throws<ArgumentException>(() => batch.BeginEntry(new byte[513]));
        Assert.Throws<InvalidOperationException>(() => batch.AddNull(0));
        batch.BeginEntry(new byte[512]);
        Assert.Throws<ArgumentOutOfRangeException>(() => batch.AddNull(6));
        Assert.Throws<InvalidOperationException>(() => batch.BeginEntry("a"u8));
        batch.EndEntry();
        Assert.Equal(1, batch.Count);
        Assert.True(batch.SizeBytes >= 512);
    }

    [Fact]
    public void Huge_and_strange_values_are_indexed_exactly()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        string huge = new('X', 1 << 20);
        fixture.Put("a", (0, FieldValue.Of(huge + "1")), (3, FieldValue.Of(huge)));
        fixture.Put("b", (0, FieldValue.Of(huge + "2")), (1, FieldValue.Of("a\0b")));
        fixture.Put("c", (0, FieldValue.Of("a\0a")), (1, FieldValue.Of("a")));
        fixture.Put("d", (0, FieldValue.Of("a")), (1, FieldValue.Of("")));
        fixture.Commit();
        foreach (string value in (string[])[huge + "1", huge + "2", huge, "a", "a\0a", ""])
        {
            for (int field = 0; field < 4; field++)
                fixture.Check(
                    new SearchRequest { Query = new TermQuery(RandomData.Schema.Fields[field].Name, FieldValue.Of(value)) });
        }

        fixture.Check(new SearchRequest { Query = new PrefixQuery("name", new string('x', 300)) });
        fixture.Check(new SearchRequest { Query = new SuffixQuery("name", "xx2") });
        fixture.Check(new SearchRequest { Query = new MatchAllQuery(), Sort = [new SortKey("tag", SortKind.Text)] });
        fixture.Check(
            new SearchRequest { Query = new MatchAllQuery(), Sort = [new SortKey("tag", SortKind.Text, Descending: true)] });
        fixture.Delete("a");
        fixture.Delete("b");
        fixture.Commit();
        fixture.Check(new SearchRequest { Query = new TermQuery("name", FieldValue.Of(huge + "1")) });
        fixture.Check(new SearchRequest { Query = new MatchAllQuery() });
    }

    [Fact]
    public void Unknown_fields_and_impossible_queries_are_refused_with_words()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        using var searcher = new IndexSearcher(fixture.Environment);
        void Refused<TException>(IndexQuery query, params SortKey[] sort)
            where TException : Exception =>
            Assert.Throws<TException>(() => searcher.Search(new SearchRequest { Query = query, Sort = sort }));

        Refused<UnknownFieldException>(new TermQuery("Name", FieldValue.Null));
        Refused<UnknownFieldException>(new MatchAllQuery(), new SortKey("nothing", SortKind.Text));
        Refused<IndexQueryException>(new MatchAllQuery(), new SortKey("text", SortKind.Text));
        Refused<IndexQueryException>(new RangeQuery("name", FieldValue.Of(1L), true, FieldValue.Of("a"), true));
        Refused<IndexQueryException>(new BoostQuery(new MatchAllQuery(), float.NaN));
        IndexQuery deep = new MatchAllQuery();
        for (int i = 0; i < 100_000; i++)
            deep = new NotQuery(deep);
        Refused<IndexQueryException>(deep);
    }

    [Fact]
    public void Very_long_queries_neither_overflow_nor_stall()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < 300; i++)
            fixture.Put("docs/" + i, (0, FieldValue.Of("v" + i)), (2, FieldValue.Of((long)i)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        IndexQuery chain = new TermQuery("name", FieldValue.Of("v0"));
        for (int i = 1; i < 100_000; i++)
            chain = new OrQuery([chain, new TermQuery("name", FieldValue.Of("v" + (i % 250)))]);
        using SearchResults chained = searcher.Search(new SearchRequest { Query = chain }, TestContext.Current.CancellationToken);
        Assert.Equal(250, chained.TotalCount);

        FieldValue[] million =
            [.. Enumerable.Range(0, 1_000_000).Select(i => i % 2 == 0 ? FieldValue.Of((long)i) : FieldValue.Of("v" + i))];
        using SearchResults many = searcher.Search(
            new SearchRequest { Query = new InQuery("number", million) }, TestContext.Current.CancellationToken);
        Assert.Equal(150, many.TotalCount);
    }

    [Fact]
    public void A_cancelled_search_ends_with_the_cancellation()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.Put("a", (0, FieldValue.Of("v")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        Assert.Throws<OperationCanceledException>(
            () => searcher.Search(new SearchRequest { Query = new MatchAllQuery() }, new CancellationToken(canceled: true)));
    }

    [Fact]
    public void A_cancelled_commit_changes_nothing_and_keeps_the_batch()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        var writer = new IndexWriter(fixture.Environment, RandomData.Schema);
        IndexBatch batch = writer.BeginBatch();
        batch.BeginEntry("key"u8);
        batch.AddText(0, "v"u8);
        batch.EndEntry();
        Assert.ThrowsAny<OperationCanceledException>(() => writer.Commit(batch, 7, new CancellationToken(canceled: true)));
        using (var before = new IndexSearcher(fixture.Environment))
            Assert.Equal(0, before.EntryCount);
        writer.Commit(batch, 7, TestContext.Current.CancellationToken);
        using var after = new IndexSearcher(fixture.Environment);
        Assert.Equal(1, after.EntryCount);
        Assert.Equal(7, after.LastEtag);
    }
}
