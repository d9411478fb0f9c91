using System.Text.Json;
using Treepie.Queries;
using Treepie.Queries.Binding;
using Treepie.Rql;
using Treepie.Rql.Syntax;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Queries are kept by their text, so many and no more; what is kept answers as what is parsed and bound anew.</summary>
public sealed class QueryCacheTests
{
    [Theory]
    [InlineData("from Docs where A = 1 and search(B, 'x') order by C as long", true)]
    [InlineData("from Docs where A between 1 and 2 or not startsWith(A, 'x') limit 5", true)]
    [InlineData("from Docs order by random()", false)]
    [InlineData("from Docs where spatial.within(spatial.point(Lat, Lng), spatial.circle(1, 2, 3))", false)]
    [InlineData("from Docs where moreLikeThis('{}', '{\"Fields\":[\"A\"]}')", false)]
    [InlineData("from Docs select facet(A)", false)]
    public void A_query_is_kept_bound_where_its_text_says_it_all(string text, bool isBound)
    {
        var cache = new QueryCache();
        Keep(cache, text);
        Assert.NotNull(cache.Parsed(text));
        Assert.Equal(isBound, cache.Bound(new QueryRequest { Text = text }) is not null);
        using JsonDocument parameters = JsonDocument.Parse("""{"p":1}""");
        Assert.Null(cache.Bound(new QueryRequest { Text = text, Parameters = parameters.RootElement }));
        Assert.Null(cache.Bound(new QueryRequest { Text = text, ProjectionBehavior = ProjectionBehavior.FromDocument }));
    }

    [Fact]
    public void So_many_are_kept_and_of_these_those_that_are_still_asked()
    {
        var cache = new QueryCache();
        for (int i = 0; i < 5_000; i++)
        {
            Keep(cache, $"from Docs where A = {i}");
            Assert.NotNull(cache.Parsed("from Docs where A = 0"));
        }

        Assert.InRange(cache.Count, 512, 1_024);
        Assert.NotNull(cache.Parsed("from Docs where A = 4999"));
        Assert.Null(cache.Parsed("from Docs where A = 1"));
        string tooLong = $"from Docs where A = '{new string('x', 3_000)}'";
        Keep(cache, tooLong);
        Assert.Null(cache.Parsed(tooLong));
    }

    [Fact]
    public async Task The_same_text_answers_for_what_is_given_and_stored_each_time()
    {
        using var folder = new TemporaryDirectory();
        using Database database = Database.Open(folder.Path);
        for (int i = 0; i < 20; i++)
        {
            await database.PutAsync($"docs/{i}", $$"""{"A":{{i}}}""", "Docs");
            Assert.Equal(i + 1, (await database.AskAsync("from Docs where A >= 0 limit 3")).Total);
            Assert.Equal([$"docs/{i}"], (await database.AskAsync("from Docs where A = $a", $$"""{"a":{{i}}}""")).Ids);
            Assert.Empty((await database.AskAsync("from Docs where A = $a", """{"a":100}""")).Ids);
        }

        string[] orders = new string[8];
        for (int i = 0; i < orders.Length; i++)
            orders[i] = string.Join(' ', (await database.AskAsync("from Docs order by random()")).Ids);
        Assert.NotEqual(1, orders.Distinct().Count());
    }

    private static void Keep(QueryCache cache, string text)
    {
        RqlQuery parsed = RqlParser.Parse(text);
        cache.Keep(new QueryRequest { Text = text }, parsed, QueryBinder.Bind(parsed, default, TimeProvider.System));
    }
}
