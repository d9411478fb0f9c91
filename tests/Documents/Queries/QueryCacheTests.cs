using System.Text.Json;
using Treepie.Indexing.Queries;
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
    [InlineData("from Docs where A = 1 and search(B, 'x') order by C as long", true, true)]
    [InlineData("from Docs where A between 1 and 2 or not startsWith(A, 'x') limit 5", true, true)]
    [InlineData("from Docs where A = $p and B in ($p) order by C limit $p", true, false)]
    [InlineData("from Docs where spatial.within(spatial.point(Lat, Lng), spatial.circle(1, 2, 3))", true, false)]
    [InlineData("from Docs where moreLikeThis('{}', '{\"Fields\":[\"A\"]}')", true, false)]
    [InlineData("from Docs where A = cmpxchg('k')", true, false)]
    [InlineData("from Docs where A = 1 include cmpxchg('k')", true, false)]
    [InlineData("from Docs order by random()", false, false)]
    [InlineData("from Docs where A = 1 select A, $p as P", false, false)]
    [InlineData("from Docs where A = 1 include $s", false, false)]
    [InlineData("from Docs order by spatial.distance(spatial.point(Lat, Lng), spatial.point($p, $p))", false, false)]
    [InlineData("from Docs select facet(A)", false, false)]
    public void A_query_is_prepared_where_parameters_say_no_more_than_condition_and_page(string text, bool isPrepared, bool isWhole)
    {
        var cache = new QueryCache();
        Keep(cache, text, """{"p":1,"s":"docs/1"}""");
        Assert.NotNull(cache.Parsed(text, out PreparedQuery? prepared));
        Assert.Equal(isPrepared, prepared is not null);
        Assert.Equal(isWhole, prepared is { IsWhole: true });
    }

    [Fact]
    public void What_is_prepared_binds_as_what_is_bound_anew()
    {
        const int Seed = 20261126;
        var random = new Random(Seed);
        string[] conditions =
        [
            "A = $a", "A != $a", "A < $a", "B between $a and $b", "C in ($list)", "C all in ($list)", "exact(C = $a)", "exists(D)",
            "search(E, $text)", "startsWith(F, $text)", "startsWith(id(), $text)", "id() = $text", "G = null", "A = 5",
            "boost(A = $a, 2)", "regex(F, $text)", "d.H.I = $a", "fuzzy(C = $text, 0.5)", "proximity(search(E, $text), 2)",
            "spatial.within(spatial.point(Lat, Lng), spatial.circle(10, 1, 2))",
        ];
        string[] tails =
        [
            "", "order by A", "order by B as long desc, A", "order by score()", "limit $skip, $take", "order by A limit $take",
            "select A, id()", "include H", "order by id() select distinct A limit $take", "include explanations(), timings()",
        ];
        using JsonDocument first = JsonDocument.Parse(Parameters(new Random(1)));
        var context = new BindingContext();
        for (int round = 0; round < 3_000; round++)
        {
            string text = $"from Docs as d where {string.Join(
                random.Next(2) == 0 ? " and " : " or ",
                Enumerable.Range(0, random.Next(1, 4)).Select(_ => conditions[random.Next(conditions.Length)]))} "
                + tails[random.Next(tails.Length)];
            RqlQuery parsed = RqlParser.Parse(text);
            using JsonDocument given = JsonDocument.Parse(Parameters(random));
            PreparedQuery? prepared = null;
            Said(() => QueryBinder.Bind(
                parsed, first.RootElement, TimeProvider.System, null, context, out prepared, CancellationToken.None));
            string anew = Said(() => QueryBinder.Bind(parsed, given.RootElement, TimeProvider.System, null, context));
            if (prepared is not null)
                Assert.True(
                    anew == Said(() => prepared.Bind(
                        given.RootElement, null, TimeProvider.System, context, CancellationToken.None)!),
                    $"Seed {Seed}, round {round}: {text} with {given.RootElement}");
        }
    }

    private static string Parameters(Random random)
    {
        string[] values = ["1", "-2.5", "null", "true", "\"x\"", "\"2024-01-02T03:04:05Z\"", "[1,\"y\"]", "\"*\"", "\"NULL\""];
        string Value() => values[random.Next(values.Length)];
        string list = random.Next(4) == 0 ? "[]" : $"[{string.Join(',', Enumerable.Range(0, random.Next(1, 4)).Select(_ => random.Next(9)))}]";
        return $$"""
            {"a":{{Value()}},"b":{{Value()}},"list":{{list}},"text":"t{{random.Next(5)}}","skip":{{random.Next(3)}},"take":{{random.Next(9)}}}
            """;
    }

    /// <summary>All that a bound query says, or why it was refused.</summary>
    private static string Said(Func<BoundQuery> bind)
    {
        try
        {
            BoundQuery bound = bind();
            return string.Join(
                '\n', bound.Source, bound.Collection, bound.IndexName, Text(bound.Condition), bound.ConditionPosition,
                string.Join(' ', bound.Ids), bound.IdPrefix, string.Join(' ', bound.Fields), string.Join(' ', bound.Sort),
                bound.IsScored, bound.Skip, bound.Take, bound.Distinct, bound.WantsTimings, bound.WantsExplanations,
                string.Join(' ', bound.IncludePaths), bound.ReadsBeside, bound.Projection is null);
        }
        catch (InvalidQueryException refused)
        {
            return refused.Message;
        }
    }

    private static string Text(IndexQuery query) => query switch
    {
        AndQuery and => $"and({string.Join(", ", and.Clauses.Select(Text))})",
        OrQuery or => $"or({string.Join(", ", or.Clauses.Select(Text))})",
        NotQuery not => $"not({Text(not.Clause)})",
        BoostQuery boost => $"boost({Text(boost.Clause)}, {boost.Factor})",
        InQuery list => $"{list.Field} in {string.Join(' ', list.Values)}",
        AllInQuery list => $"{list.Field} all in {string.Join(' ', list.Values)}",
        KeyQuery keys => $"keys {string.Join(' ', keys.Keys)}",
        SpatialQuery spatial => $"spatial {spatial.Field} {spatial.Relation}",
        _ => query.ToString(),
    };

    [Fact]
    public void So_many_are_kept_and_of_these_those_that_are_still_asked()
    {
        var cache = new QueryCache();
        for (int i = 0; i < 5_000; i++)
        {
            Keep(cache, $"from Docs where A = {i}");
            Assert.NotNull(cache.Parsed("from Docs where A = 0", out _));
        }

        Assert.InRange(cache.Count, 512, 1_024);
        Assert.NotNull(cache.Parsed("from Docs where A = 4999", out _));
        Assert.Null(cache.Parsed("from Docs where A = 1", out _));
        string tooLong = $"from Docs where A = '{new string('x', 40_000)}'";
        Keep(cache, tooLong);
        Assert.Null(cache.Parsed(tooLong, out _));
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

    private static void Keep(QueryCache cache, string text, string parameters = "{}")
    {
        RqlQuery parsed = RqlParser.Parse(text);
        using JsonDocument given = JsonDocument.Parse(parameters);
        QueryBinder.Bind(
            parsed, given.RootElement, TimeProvider.System, null, new BindingContext { BeginRead = () => null! },
            out PreparedQuery? prepared, CancellationToken.None);
        cache.Keep(parsed, prepared);
    }
}
