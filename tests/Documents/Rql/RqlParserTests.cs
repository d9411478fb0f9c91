using Treepie.Rql;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Rql;

public sealed class RqlParserTests
{
    [Theory]
    [InlineData("from Users", "from <Users>")]
    [InlineData("FROM Users AS u", "from <Users> as u")]
    [InlineData("from Users u", "from <Users> as u")]
    [InlineData("from 'Big Users' as 'the user'", "from <Big Users> as the user")]
    [InlineData("from \"Users\"", "from <Users>")]
    [InlineData("from @all_docs", "from <@all_docs>")]
    [InlineData("from '@all_docs'", "from <@all_docs>")]
    [InlineData("from index 'Orders/ByCompany' as o", "from index <Orders/ByCompany> as o")]
    [InlineData("from index Things", "from index <Things>")]
    [InlineData("from index", "from <index>")]
    [InlineData("from index where a = 1", "from <index> where a = 1")]
    [InlineData("from Users(Age > 3) u", "from <Users>(Age > 3) as u")]
    [InlineData("from Users filter Age > 3", "from <Users> filter Age > 3")]
    [InlineData("from Users filter where Age > 3", "from <Users> as filter where Age > 3")]
    [InlineData("from Users as filter filter Age > 3", "from <Users> as filter filter Age > 3")]
    public void From_takes_collections_indexes_and_aliases(string text, string expected) => Parses(text, expected);

    [Theory]
    [InlineData("a = 1 and b = 2 or c = 3", "[[a = 1 and b = 2] or c = 3]")]
    [InlineData("a = 1 or b = 2 and c = 3", "[a = 1 or [b = 2 and c = 3]]")]
    [InlineData("(a = 1 or b = 2) and c = 3", "[[a = 1 or b = 2] and c = 3]")]
    [InlineData("a = 1 and not b = 2 and c = 3", "[a = 1 and not b = 2 and c = 3]")]
    [InlineData("a = 1 and not (b = 2 or c = 3)", "[a = 1 and not [b = 2 or c = 3]]")]
    [InlineData("a = 1 or not b = 2 and c = 3", "[a = 1 or [not b = 2 and c = 3]]")]
    [InlineData("true and not a = 1", "[true and not a = 1]")]
    [InlineData("TRUE", "true")]
    [InlineData("(exists(F) and not search(F,'x'))", "[exists(F) and not search(F, \"x\")]")]
    [InlineData("a between 1 and 2 and b = 3", "[a between 1 and 2 and b = 3]")]
    [InlineData("((a = 1))", "a = 1")]
    public void Precedence_is_that_of_the_language(string where, string expected) =>
        Parses("from X where " + where, "from <X> where " + expected);

    [Theory]
    [InlineData("a = 1", "a = 1")]
    [InlineData("a == 1", "a = 1")]
    [InlineData("a != 1", "a != 1")]
    [InlineData("a <> 1", "a != 1")]
    [InlineData("a<1", "a < 1")]
    [InlineData("a<=-1.5", "a <= -1.5")]
    [InlineData("a>$p0", "a > $p0")]
    [InlineData("a >= $1", "a >= $1")]
    [InlineData("a = TRUE", "a = true")]
    [InlineData("a = False or a = NULL", "[a = false or a = null]")]
    [InlineData("a BETWEEN 'x' AND 'y'", "a between \"x\" and \"y\"")]
    [InlineData("a in ()", "a in ()")]
    [InlineData("a in (1, 2.5, null)", "a in (1, 2.5, null)")]
    [InlineData("a in ($p)", "a in ($p)")]
    [InlineData("a all in ('x', 'y')", "a all in (\"x\", \"y\")")]
    [InlineData("all = 1 and in = 2", "[all = 1 and in = 2]")]
    [InlineData("a = b.c", "a = b.c")]
    [InlineData("Email = cmpxchg('emails/a')", "Email = cmpxchg(\"emails/a\")")]
    [InlineData("id() = 'users/1'", "id() = \"users/1\"")]
    [InlineData("ID(u) in ('users/1')", "ID(u) in (\"users/1\")")]
    public void Comparisons(string where, string expected) => Parses("from X where " + where, "from <X> where " + expected);

    [Theory]
    [InlineData("Name", "Name")]
    [InlineData("Address.City", "Address.City")]
    [InlineData("Lines[].Product", "Lines[].Product")]
    [InlineData("Tags[0]", "Tags[0]")]
    [InlineData("Grid[][1].X", "Grid[][1].X")]
    [InlineData("'Basic Units'.Tricolor", "Basic Units.Tricolor")]
    [InlineData("Tags[].'Basic Units'", "Tags[].Basic Units")]
    [InlineData("'where'.Order.Select", "where.Order.Select")]
    [InlineData("@metadata.@last-modified", "@metadata.@last-modified")]
    [InlineData("@metadata.'@last-modified'", "@metadata.@last-modified")]
    [InlineData("last-name", "last-name")]
    [InlineData("Größe.名前", "Größe.名前")]
    public void Paths(string path, string expected) => Parses($"from X where {path} = 1", $"from <X> where {expected} = 1");

    [Theory]
    [InlineData("'we''ll'", "we'll")]
    [InlineData("\"say \"\"hi\"\"\"", "say \"hi\"")]
    [InlineData("'it\\'s'", "it's")]
    [InlineData("'back\\\\slash'", "back\\\\slash")]
    [InlineData("'C:\\temp\\d+'", "C:\\temp\\d+")]
    [InlineData("'two\nlines'", "two\nlines")]
    [InlineData("'// no comment /* at all */'", "// no comment /* at all */")]
    [InlineData("''", "")]
    public void Strings(string literal, string content) =>
        Parses($"from X where a = {literal}", $"from <X> where a = \"{content}\"");

    [Theory]
    [InlineData("search(Notes, 'a b', and)", "search(Notes, \"a b\", and)")]
    [InlineData("search(Notes, 'a b', OR)", "search(Notes, \"a b\", OR)")]
    [InlineData("exact(Name = 'A' and Age > 3)", "exact([Name = \"A\" and Age > 3])")]
    [InlineData("exact('First Name' = 'A')", "exact(First Name = \"A\")")]
    [InlineData("boost(exact(Name in ('A', 'B')), 2.5)", "boost(exact(Name in (\"A\", \"B\")), 2.5)")]
    [InlineData("fuzzy(Name = 'x', 0.5)", "fuzzy(Name = \"x\", 0.5)")]
    [InlineData("proximity(search(F, 'a b'), 3)", "proximity(search(F, \"a b\"), 3)")]
    [InlineData("intersect(a = 1, b = 2 or c = 3)", "intersect(a = 1, [b = 2 or c = 3])")]
    [InlineData("lucene(Name, $p0)", "lucene(Name, $p0)")]
    [InlineData("regex(Name, '^\\d')", "regex(Name, \"^\\d\")")]
    [InlineData(
        "spatial.within(F, spatial.circle(10, 49.255, 4.154, 'miles'), 0.025)",
        "spatial.within(F, spatial.circle(10, 49.255, 4.154, \"miles\"), 0.025)")]
    [InlineData(
        "vector.search(embedding.text(Name, ai.task('id')), $p0, 0.8, 16)",
        "vector.search(embedding.text(Name, ai.task(\"id\")), $p0, 0.8, 16)")]
    [InlineData("moreLikeThis(id() = 'a/1', $opts)", "moreLikeThis(id() = \"a/1\", $opts)")]
    [InlineData("boost(true and not a = 1, 2)", "boost([true and not a = 1], 2)")]
    public void Methods(string where, string expected) => Parses("from X where " + where, "from <X> where " + expected);

    [Theory]
    [InlineData("order by Name", "order by Name")]
    [InlineData("order   by Name as string asc, Age as LONG desc, Size as double descending, Code as alphaNumeric ascending",
        "order by Name as string, Age as long desc, Size as double desc, Code as alphanumeric")]
    [InlineData(
        "order by Name nulls first, Age as long desc nulls last", "order by Name nulls first, Age as long desc nulls last")]
    [InlineData(
        "order by score(), random(), random('seed'), id() desc", "order by score(), random(), random(\"seed\"), id() desc")]
    [InlineData(
        "order by custom(F, 'Sorter'), spatial.distance(F, spatial.point(1, 2), 100)",
        "order by custom(F, \"Sorter\"), spatial.distance(F, spatial.point(1, 2), 100)")]
    [InlineData("group by Company, Lines[].Product as p, array(Lines[].Product) order by count() as long",
        "group by Company, Lines[].Product as p, array(Lines[].Product) order by count() as long")]
    [InlineData(
        "load o.Company as c, o.Lines[].Product as products[], $p2 as language",
        "load o.Company as c, o.Lines[].Product as products[], $p2 as language")]
    public void Order_group_and_load(string clause, string expected) => Parses("from X " + clause, "from <X> " + expected);

    [Theory]
    [InlineData("select *", "select *")]
    [InlineData("select distinct", "select distinct *")]
    [InlineData("select distinct Name, Age as Years", "select distinct Name, Age as Years")]
    [InlineData("select Lines[].Product as Products, id() as Id, 1 as One, true, null as Nothing, $p as P, 'order' as o",
        "select Lines[].Product as Products, id() as Id, 1 as One, true, null as Nothing, $p as P, \"order\" as o")]
    [InlineData("select 'a b'.c", "select a b.c")]
    [InlineData("select { A: x.B, C: \"}\", D: x.L.map(l => `}${ { a: '}' }.a }`), /* } */ R: /[}/]/ } limit 1",
        "select { A: x.B, C: \"}\", D: x.L.map(l => `}${ { a: '}' }.a }`), /* } */ R: /[}/]/ } take 1")]
    [InlineData(
        "select facet(cost <= 200, cost between 200 and 400 and a = 1, cost >= 800) as Range, facet(F, sum(x), avg(y) as z, $o)",
            "select facet(cost <= 200, [cost between 200 and 400 and a = 1], cost >= 800) as Range, facet(F, sum(x), avg(y) as "
                + "z, $o)")]
    [InlineData(
        "select suggest(F, 'term', $o) as S, key(), count() as c, sum(a.b)",
        "select suggest(F, \"term\", $o) as S, key(), count() as c, sum(a.b)")]
    [InlineData(
        "select timeseries(from HeartRates between $a and $b group by '1 hour' select min()) as H, 1",
        "select timeseries(from HeartRates between $a and $b group by \"1 hour\" select min()) as H, 1")]
    [InlineData("select output(x, $p0)", "select output(x, $p0)")]
    [InlineData(
        "include Company, 'Lines[].Product', timings(), highlight(F, 128, 2)",
        "include Company, \"Lines[].Product\", timings(), highlight(F, 128, 2)")]
    [InlineData("select a include b limit 1", "select a include b take 1")]
    [InlineData("limit 1 include b", "include b take 1")]
    [InlineData("update { this.A = 1; }", "update { this.A = 1; }")]
    [InlineData(
        "where a = 1 update { if (a / 2 > 1) { put('x', {}); } }", "where a = 1 update { if (a / 2 > 1) { put('x', {}); } }")]
    public void Select_include_and_update(string clause, string expected) => Parses("from X " + clause, "from <X> " + expected);

    [Theory]
    [InlineData("limit 10", "take 10")]
    [InlineData("limit 5, 10", "skip 5 take 10")]
    [InlineData("limit $p1, $p2", "skip $p1 take $p2")]
    [InlineData("limit 10 offset 5", "skip 5 take 10")]
    [InlineData("offset 5", "skip 5")]
    [InlineData("offset 5 limit 10", "skip 5 take 10")]
    [InlineData("filter_limit 3", "filter_limit 3")]
    [InlineData("filter_limit $f limit 1 offset 2", "skip 2 take 1 filter_limit $f")]
    [InlineData("limit 1, 2 filter_limit 3", "skip 1 take 2 filter_limit 3")]
    public void Paging_in_every_form(string clause, string expected) => Parses("from X " + clause, "from <X> " + expected);

    [Fact]
    public void Declarations_are_kept_as_written() =>
        Parses(
            "declare function output(x, $p0) { return { a: x.b + '}' }; } declare timeseries hr(u) { from u.HeartRate } from "
                + "'Users' as x select output(x, $p0)",
            "declare function output(x, $p0){ return { a: x.b + '}' }; } declare timeseries hr(u){ from u.HeartRate } from "
                + "<Users> as x select output(x, $p0)");

    [Fact]
    public void Comments_stand_between_any_two_tokens() =>
        Parses(
            "// first\nfrom/* the */Users//people\nwhere/**/a/* */./**/b /*=*/ = // value\n 1 /* last */ //",
            "from <Users> where a.b = 1");

    [Fact]
    public void All_clauses_together_in_their_order() =>
        Parses(
            "from Orders as o where o.A = 1 order by o.B desc load o.Company as c filter c.X > 1 select o.A, c.Name as N include "
                + "o.Company limit 3, 4 filter_limit 9",
            "from <Orders> as o where o.A = 1 order by o.B desc load o.Company as c filter c.X > 1 select o.A, c.Name as N "
                + "include o.Company skip 3 take 4 filter_limit 9");

    [Fact]
    public void Words_are_case_insensitive_and_names_are_not() =>
        Parses(
            "From Users As U Where U.Name In ('A') Order By U.Name Desc Nulls Last Select Distinct U.Name Include U.X Limit 1 "
                + "Offset 2",
            "from <Users> as U where U.Name in (\"A\") order by U.Name desc nulls last select distinct U.Name include U.X skip 2 "
                + "take 1");

    [Fact]
    public void A_long_chain_is_no_depth()
    {
        string where = string.Join(" or ", Enumerable.Range(0, 20_000).Select(i => $"a = {i}"));
        Assert.NotNull(RqlParser.Parse("from X where " + where).Where);
    }

    [Fact]
    public void Broken_queries_give_an_error_and_never_anything_else()
    {
        var random = new Random(Seed.Next());
        string[] seeds =
        [
            "declare function f(x) { return `${x}` / 2; } from index 'A/B' as o where (o.A[].B = 'x''y' or not exact(c in (1, "
                + "2.5))) and id() != null order by score(), a as long desc nulls last",
            "from Users filter where a between $x and 3 load a.b as c[] filter true select { A: /re[/]/ } include 'x' limit 1, 2 "
                + "filter_limit 3",
            "from @all_docs group by a, key() select distinct sum(x) as y, timeseries(from a) // end",
        ];
        const string Signs = "()[]{}.,;*=<>!$'\"`/\\-@ \n0aé\0\ud83d";
        for (int round = 0; round < 20_000; round++)
        {
            char[] text = seeds[random.Next(seeds.Length)].ToCharArray();
            for (int change = random.Next(1, 5); change > 0; change--)
                text[random.Next(text.Length)] = Signs[random.Next(Signs.Length)];

            string query = new(text, 0, random.Next(4) == 0 ? random.Next(text.Length) : text.Length);
            try
            {
                RqlParser.Parse(query);
            }
            catch (InvalidQueryException error)
            {
                Assert.True(error.Line >= 1 && error.Column >= 1, query);
            }
        }
    }

    private static void Parses(string text, string expected) => Assert.Equal(expected, SyntaxText.Of(RqlParser.Parse(text)));
}
