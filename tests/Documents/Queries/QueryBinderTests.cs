using System.Globalization;
using System.Text.Json;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Rql;

namespace Treepie.Documents.Tests.Queries;

public sealed class QueryBinderTests
{
    [Theory]
    [InlineData("from Users", "{}", "Collection Users")]
    [InlineData("from @all_docs", "{}", "Collection *")]
    [InlineData("from Users where true", "{}", "Collection Users")]
    [InlineData("from Users where id() = 'users/1'", "{}", "Ids Users users/1")]
    [InlineData(
        "from Users u where id(u) in ($p, 'users/3')", "{\"p\":[\"users/1\",\"users/2\",7]}",
        "Ids Users users/1 users/2 users/3")]
    [InlineData("from @all_docs where startsWith(id(), 'us')", "{}", "IdPrefix * us")]
    [InlineData("from Users where id() = 'users/1' and Age = 3", "{}", "AutoIndex Users [id()=users/1 and Age=3] by id(),Age")]
    [InlineData("from Users where id() = 'users/1' order by Age as long", "{}", "AutoIndex Users id()=users/1 by id(),Age")]
    [InlineData("from index 'Auto/Users/ByAge' where Age = 3", "{}", "NamedIndex Auto/Users/ByAge Age=3 by Age")]
    [InlineData("from Users order by Name", "{}", "AutoIndex Users all by Name")]
    public void Sources_are_chosen_by_what_is_asked(string text, string parameters, string expected)
    {
        BoundQuery query = Bind(text, parameters);
        string source = query.Source switch
        {
            SourceKind.Ids => string.Join(' ', query.Ids),
            SourceKind.IdPrefix => query.IdPrefix,
            SourceKind.Collection => "",
            _ => $"{Text(query.Condition)} by {string.Join(',', query.Fields.Select(f => f.Field.SchemaName))}",
        };
        Assert.Equal(expected, $"{query.Source} {query.IndexName ?? query.Collection ?? "*"} {source}".TrimEnd());
    }

    [Theory]
    [InlineData("Name = 'A'", "Name=A")]
    [InlineData("Name != 'A'", "not Name=A")]
    [InlineData("Name = null", "Name=null")]
    [InlineData("Active = true", "Active=True")]
    [InlineData("Age > 3", "Age in (3;*)")]
    [InlineData("Age <= 3.5", "Age in (*;3.5]")]
    [InlineData("Age > null", "none")]
    [InlineData("Age between 1 and $two", "Age in [1;2]")]
    [InlineData("Age between 1 and $null", "none")]
    [InlineData("Age in ()", "none")]
    [InlineData("Age in (1, null)", "Age any 1,null")]
    [InlineData("Age in ($list)", "Age any 1,x,True,null")]
    [InlineData("Tags all in ('a', 'b')", "Tags all a,b")]
    [InlineData("Tags all in ()", "all")]
    [InlineData("true and not Age = 1", "[all and not Age=1]")]
    [InlineData("u.Address.City = 'Reims' or 'First Name' = 'A'", "[Address.City=Reims or First Name=A]")]
    [InlineData("exact(Name = 'A' or startsWith(Name, 'B'))", "[exact(Name)^B or exact(Name)=A]")]
    [InlineData("endsWith(Name, 'x')", "Name$x")]
    [InlineData("search(Notes, 'a b')", "search(Notes)~a b")]
    [InlineData("search(u.Notes, $text, AND)", "search(Notes)~~hello")]
    [InlineData("proximity(search(u.Notes, 'a b'), 3)", "search(Notes)~a b~3")]
    [InlineData("proximity(search(Notes, $text, and), $two)", "search(Notes)~hello~2")]
    [InlineData("exists(Name)", "Name?")]
    [InlineData("Age = 1 or Age = 2 or Name = 'x' or Age = null or Age > 7", "[Age in (7;*) or Age any 1,2,null or Name=x]")]
    [InlineData("Age = 1 or Age = 2", "Age any 1,2")]
    [InlineData("exists(id())", "all")]
    [InlineData("boost(Name = 'A', 2.5)", "Name=A*2.5")]
    [InlineData("id() != 'a' and startsWith(id(u), 'b')", "[not id()=a and id()^b]")]
    [InlineData("Big = 12345678901234567890", "Big=1.2345678901234567E+19")]
    [InlineData("@metadata.@last-modified > '2024'", "@metadata.@last-modified in (2024;*)")]
    public void Conditions_become_queries_over_fields(string where, string expected)
    {
        const string Parameters = """{"two":2,"null":null,"list":[1,"x",true,null],"text":"hello"}""";
        Assert.Equal(expected, Text(Bind($"from Users as u where {where}", Parameters).Condition));
    }

    [Theory]
    [InlineData("order by Name", "Name Text")]
    [InlineData(
        "order by Age as long desc nulls last, u.Size as double, Code as alphaNumeric nulls first",
        "Age Long desc last, Size Double, Code AlphaNumeric first")]
    [InlineData("order by id() desc", "id() Text desc")]
    [InlineData("order by score(), random('x')", " Score desc,  Random x")]
    [InlineData("where boost(Age = 1, 2)", " Score desc")]
    [InlineData("where search(Notes, 'x')", " Score desc")]
    [InlineData("where proximity(search(Notes, 'x y'), 1)", " Score desc")]
    [InlineData("where search(Notes, 'x') order by Name", "Name Text")]
    public void Order_keys(string clauses, string expected)
    {
        string text = string.Join(", ", Bind("from Users as u " + clauses).Sort.Select(k =>
            $"{k.Field} "
                + $"{k.Kind}{(k.Descending ? " desc" : "")}{(k.NullsFirst is { } first ? first ? " first" : " last" : "")}"
                + $"{(k.Seed is null ? "" : " " + k.Seed)}"));
        Assert.Equal(expected, text);
    }

    [Theory]
    [InlineData("limit 10", 0, 10)]
    [InlineData("limit $a, $b", 5, 7)]
    [InlineData("limit $b offset $a", 5, 7)]
    [InlineData("offset 3", 3, long.MaxValue)]
    [InlineData("limit 0", 0, 0)]
    public void Paging(string clause, long skip, long take)
    {
        BoundQuery query = Bind("from Users " + clause, """{"a":5,"b":7.0}""");
        Assert.Equal((skip, take), (query.Skip, query.Take));
    }

    [Theory]
    [InlineData("from X where a = $p", 1, 18, "no value is given")]
    [InlineData("from X where a = $o", 1, 18, "is an object")]
    [InlineData("from X where a = $list", 1, 18, "is an array")]
    [InlineData("from X where search(c, '1') or a = b", 1, 36, "written in quotes")]
    [InlineData("from X where search(c, '1') or a > b.c", 1, 36, "'b.c' is a field")]
    [InlineData("from X as x where search(x.c, '1') or x.a <= x.b", 1, 46, "documents found, write it after 'filter'")]
    [InlineData("from X where a > true", 1, 18, "no order")]
    [InlineData("from X where a between 1 and $text", 1, 16, "of one kind")]
    [InlineData("from X where startsWith(a, 1)", 1, 28, "a string")]
    [InlineData("from X where startsWith(a)", 1, 14, "2 arguments; 1 are given")]
    [InlineData("from X where search(a, 'x', xor)", 1, 29, "'and' or 'or'")]
    [InlineData("from X where proximity(a = 'x', 3)", 1, 26, "its first argument is a search")]
    [InlineData("from X where proximity(search(a, 'x'), 2.5)", 1, 40, "a whole number from 0")]
    [InlineData("from X where proximity(search(a, 'x'), -1)", 1, 40, "a whole number from 0")]
    [InlineData("from X where proximity(search(a, 'x'))", 1, 14, "2 arguments; 1 are given")]
    [InlineData("from X where exact(search(a, 'x'))", 1, 20, "inside 'exact()'")]
    [InlineData("from X where boost(a = 1, -1)", 1, 27, "a number from 0 on")]
    [InlineData("from X where boost(a = 1, 'x')", 1, 27, "a number from 0 on")]
    [InlineData("from X where frobnicate(a)", 1, 14, "There is no method")]
    [InlineData("from X where id()", 1, 14, "compare it")]
    [InlineData("from X where lower(a) = 'x'", 1, 14, "'lower()'")]
    [InlineData("from X as x where x = 1", 1, 19, "whole document")]
    [InlineData("from X where 'a..b' = 1", 1, 14, "is not a path")]
    [InlineData("declare function f(x) { return true; } from X as x filter f(x)", 1, 59, "an engine that compiles them")]
    [InlineData("from X filter a = 1 select suggest(b, 'x')", 1, 17, "leave out 'filter'")]
    [InlineData("from X limit 1 filter_limit 3", 1, 29, "there is no 'filter'")]
    [InlineData("from X update { }", 1, 15, "patches by query")]
    [InlineData("declare function f() { } from X select f()", 1, 18, "an engine that compiles them")]
    [InlineData("from X as x select { a: 1 }", 1, 20, "an engine that compiles them")]
    [InlineData("from X select a, b as a", 1, 18, "selected as 'a'")]
    [InlineData("from X limit -1", 1, 14, "whole number from 0")]
    [InlineData("from X limit 1.5", 1, 14, "whole number from 0")]
    [InlineData("from X limit $text", 1, 14, "whole number from 0")]
    public void What_cannot_be_done_is_refused_by_name_and_place(string text, int line, int column, string part)
    {
        var error = Assert.Throws<InvalidQueryException>(() => Bind(text, """{"o":{"a":1},"list":[1],"text":"x"}"""));
        Assert.Contains(part, error.Message, StringComparison.Ordinal);
        Assert.Equal((line, column), (error.Line, error.Column));
    }

    [Fact]
    public void More_conditions_than_the_limit_are_too_complex()
    {
        string Chain(int count) => "from X where " + string.Join(" and ", Enumerable.Repeat("a > 1", count));
        Bind(Chain(ConditionBinder.MaxConditions));
        var error = Assert.Throws<InvalidQueryException>(() => Bind(Chain(ConditionBinder.MaxConditions + 1)));
        Assert.Contains("too complex", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Includes_are_paths_and_ids()
    {
        BoundQuery query = Bind(
            "from Orders as o include o.Company, 'Lines[].Product', 'o.Employee', 'employees/1', $id, timings()",
            """{"id":"x/1"}""");
        Assert.Equal(["Company", "Lines[].Product", "Employee"], query.IncludePaths.Select(p => p.Text));
        Assert.Equal(["employees/1", "x/1"], query.IncludeIds);
    }

    private static BoundQuery Bind(string text, string parameters = "{}")
    {
        using JsonDocument json = JsonDocument.Parse(parameters);
        return QueryBinder.Bind(RqlParser.Parse(text), json.RootElement, TimeProvider.System);
    }

    private static string Text(IndexQuery query) => query switch
    {
        MatchAllQuery => "all",
        MatchNoneQuery => "none",
        TermQuery term => $"{term.Field}={Text(term.Value)}",
        InQuery list => $"{list.Field} any {string.Join(',', list.Values.Select(Text))}",
        AllInQuery list => $"{list.Field} all {string.Join(',', list.Values.Select(Text))}",
        RangeQuery range =>
            $"{range.Field} in "
                + $"{(range.LowInclusive ? '[' : '(')}{(range.Low is { } low ? Text(low) : "*")};"
                + $"{(range.High is { } high ? Text(high) : "*")}{(range.HighInclusive ? ']' : ')')}",
        PrefixQuery prefix => $"{prefix.Field}^{prefix.Prefix}",
        SuffixQuery suffix => $"{suffix.Field}${suffix.Suffix}",
        ExistsQuery exists => $"{exists.Field}?",
        FullTextQuery search => $"{search.Field}{(search.All ? "~~" : "~")}{search.Text}",
        PhraseQuery phrase => $"{phrase.Field}~{phrase.Text}~{phrase.Slop}",
        AndQuery and => $"[{string.Join(" and ", and.Clauses.Select(Text))}]",
        OrQuery or => $"[{string.Join(" or ", or.Clauses.Select(Text))}]",
        NotQuery not => $"not {Text(not.Clause)}",
        BoostQuery boost => $"{Text(boost.Clause)}*{boost.Factor.ToString(CultureInfo.InvariantCulture)}",
        _ => throw new InvalidOperationException($"No text for {query.GetType().Name}."),
    };

    private static string Text(FieldValue value) => value.Kind switch
    {
        FieldValueKind.Text => value.Text ?? "",
        FieldValueKind.Long => value.Long.ToString(CultureInfo.InvariantCulture),
        FieldValueKind.Double => value.Double.ToString(CultureInfo.InvariantCulture),
        FieldValueKind.Boolean => value.Boolean.ToString(),
        _ => "null",
    };
}
