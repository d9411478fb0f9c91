using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Catalogue;

/// <summary>Errors of entries against a dictionary of them, and values that equal nothing.</summary>
public sealed class EntryErrorsTests
{
    private const int MostErrors = 512;

    private static readonly DateTime _begin = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void Errors_stay_until_their_key_is_indexed_removed_or_fails_again_and_the_newest_are_kept()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        IndexWriter writer = Open(store);
        var errors = new Dictionary<string, EntryError>();
        var entries = new HashSet<string>();
        int time = 0;
        for (int round = 1; round <= 25; round++)
        {
            IndexBatch batch = writer.BeginBatch();
            for (int i = random.Next(round % 8 == 0 ? 1_500 : 60); i > 0; i--)
            {
                string key = "docs/" + random.Next(2_000);
                byte[] utf8 = Encoding.UTF8.GetBytes(key);
                errors.Remove(key);
                entries.Remove(key);
                var error = new EntryError(key, "m" + random.Next(99), _begin.AddSeconds(++time));
                int what = random.Next(10);
                if (what == 0)
                {
                    batch.Delete(utf8);
                    continue;
                }

                batch.BeginEntry(utf8);
                batch.AddText(0, "v"u8);
                if (what < 2)
                {
                    batch.EndEntry();
                }
                else if (what < 4)
                {
                    batch.EndEntry(error.Label, error.Message, error.Time);
                }
                else
                {
                    batch.FailEntry(error.Label, error.Message, error.Time);
                }

                if (what >= 2)
                    errors.Add(key, error);
                if (what < 4)
                    entries.Add(key);
            }

            writer.Commit(batch, round, Token);
            errors = errors.OrderByDescending(pair => pair.Value.Time).Take(MostErrors).ToDictionary();
            if (random.Next(6) == 0)
            {
                store.Reopen();
                writer = Open(store);
            }

            if (random.Next(10) == 0)
            {
                writer.ClearErrors();
                errors.Clear();
            }

            using var searcher = new IndexSearcher(store.Environment);
            Assert.True(errors.Count == searcher.ErrorCount, $"seed {seed}, round {round}");
            Assert.Equal(errors.Values.OrderBy(error => error.Time), searcher.Errors());
            Assert.Equal(entries.Count, searcher.EntryCount);
            using SearchResults found = searcher.Search(
                new SearchRequest { Query = new TermQuery("name", FieldValue.Of("v")) }, Token);
            Assert.Equal(entries.Order(), IndexFixture.Read(found).Order());
        }

        Assert.True(time > 1_000, $"seed {seed}: only {time} changes");
    }

    [Theory]
    [InlineData(511, 511)]
    [InlineData(512, 512)]
    [InlineData(513, 512)]
    [InlineData(100_000, 512)]
    public void Long_texts_of_an_error_are_cut_between_characters(int characters, int kept)
    {
        using var store = new TemporaryStore();
        IndexWriter writer = Open(store);
        IndexBatch batch = writer.BeginBatch();
        batch.BeginEntry("a"u8);
        batch.FailEntry(new string('é', characters), "x" + string.Concat(Enumerable.Repeat("😀", characters)), _begin);
        writer.Commit(batch, 1, Token);
        using var searcher = new IndexSearcher(store.Environment);
        EntryError error = Assert.Single(searcher.Errors());
        Assert.Equal(new string('é', kept), error.Label);
        Assert.Equal("x" + string.Concat(Enumerable.Repeat("😀", 255)), error.Message); // the 256th would begin at the last place
    }

    [Fact]
    public void A_value_that_equals_nothing_exists_and_sorts_after_all_texts()
    {
        using var store = new TemporaryStore();
        IndexWriter writer = Open(store);
        IndexBatch batch = writer.BeginBatch();
        foreach (string key in new[] { "opaque", "text", "last", "null", "none" })
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes(key));
            if (key == "opaque")
            {
                batch.AddOpaque(0);
                batch.AddOpaque(1);
            }
            else if (key == "null")
            {
                batch.AddNull(0);
            }
            else if (key != "none")
            {
                batch.AddText(0, key == "last" ? "\U0010FFFF"u8 : "a"u8);
            }

            batch.EndEntry();
        }

        writer.Commit(batch, 1, Token);
        using var searcher = new IndexSearcher(store.Environment);
        SortKey[] byName = [new SortKey("name", SortKind.Text)];
        Assert.Equal(["opaque", "text", "last", "null"], Keys(new ExistsQuery("name"), []));
        Assert.Equal(["opaque"], Keys(new ExistsQuery("words"), []));
        Assert.Equal(["null", "none", "text", "last", "opaque"], Keys(new MatchAllQuery(), byName));
        Assert.Equal(["null", "none"], Keys(new TermQuery("name", FieldValue.Null), []));
        foreach (IndexQuery query in new IndexQuery[]
        {
            new PrefixQuery("name", ""), new RangeQuery("name", FieldValue.Of(""), true, null, false),
            new RegexQuery("name", ".*"), new WildcardQuery("name", "*"), new ContainsQuery("name", ""),
        })
        {
            Assert.Equal(["last", "text"], Keys(query, []).Order());
        }

        FacetResult facet = searcher.Facets(
            new FacetRequest(new MatchAllQuery(), [new FacetQuery { Field = "name" }]), null, Token).Facets[0];
        Assert.Equal(["a", "\U0010FFFF"], facet.Values.Select(value => value.Range));

        List<string> Keys(IndexQuery query, SortKey[] sort)
        {
            using SearchResults results = searcher.Search(new SearchRequest { Query = query, Sort = sort }, Token);
            return IndexFixture.Read(results);
        }
    }

    private static IndexWriter Open(TemporaryStore store) =>
        new(store.Environment, new IndexSchema([new IndexField("name"), new IndexField("words", FieldAnalysis.FullText)]));
}
