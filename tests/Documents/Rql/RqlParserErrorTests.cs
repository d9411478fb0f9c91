using Treepie.Rql;

namespace Treepie.Documents.Tests.Rql;

public sealed class RqlParserErrorTests
{
    [Theory]
    [InlineData("", 1, 1, "Expected 'from'")]
    [InlineData("select a from b", 1, 1, "'select' cannot stand here: a query begins with 'from'")]
    [InlineData("from", 1, 5, "the name of a collection")]
    [InlineData("from where", 1, 6, "word of the language")]
    [InlineData("from Users where", 1, 17, "a condition")]
    [InlineData("from Users where Name", 1, 22, "a comparison (=, !=, <, <=, >, >=, between, in, all in) after 'Name'")]
    [InlineData("from Users where Name =", 1, 24, "a value after '='")]
    [InlineData("from Users where Name = 'abc", 1, 25, "string is not closed")]
    [InlineData("from Users\nwhere Age > 1\n  and and", 3, 10, "comparison")]
    [InlineData("from Users where not Age = 1", 1, 18, "true and not")]
    [InlineData("from Users where (not Age = 1)", 1, 19, "true and not")]
    [InlineData(
        "from Users where 3 = Age", 1, 18,
        "The sides are swapped: a field stands left of '=', its value right. Write 'Age = 3'.")]
    [InlineData(
        "from Users where $p = Age", 1, 18,
        "The sides are swapped: a field stands left of '=', its value right. Write 'Age = $p'.")]
    [InlineData("from Users where 3 < Age", 1, 18, "Write 'Age > 3'.")]
    [InlineData("from Users where 1997 = year( u.At )  and A = 1", 1, 18, "Write 'year( u.At ) = 1997'.")]
    [InlineData("from Users where 2 < count(Lines as l, l.N > 1)", 1, 18, "Write 'count(Lines as l, l.N > 1) > 2'.")]
    [InlineData(
        "from Users where 'Reims' = City", 1, 18,
        "The sides are swapped: a field stands left of '=', its value right. Write 'City = 'Reims''.")]
    [InlineData(
        "from Users where Name like 'a%'", 1, 23,
        "There is no 'like': write startsWith(Name, 'a'), endsWith(Name, 'a') or regex(Name, 'a').")]
    [InlineData(
        "from Users where Name not like 'a%'", 1, 23, "There is no 'not like': write true and not startsWith(Name, 'a').")]
    [InlineData("from Users where Name is null", 1, 23, "There is no 'is': write Name = null.")]
    [InlineData("from Users where Name is not null", 1, 23, "There is no 'is not': write Name != null.")]
    [InlineData(
        "from Users where Tags contains 'a'", 1, 23,
        "There is no 'contains': write Tags = 'a' for an element of an array, search(Tags, 'a') for a word")]
    [InlineData("from Users where Age not in (1, 2)", 1, 22, "There is no 'not in': write true and not Age in (…).")]
    [InlineData(
        "from Users where Age not between 1 and 2", 1, 22, "There is no 'not between': write true and not Age between … and ….")]
    [InlineData("from Users where Age = 1 && Name = 'a'", 1, 26, "There is no '&&': write 'and'.")]
    [InlineData("from Users where Age = 1 || Name = 'a'", 1, 26, "There is no '||': write 'or'.")]
    [InlineData("from Users where !(Age = 1)", 1, 18, "There is no '!': write 'true and not …'.")]
    [InlineData("from Users where Age = 1 and !exists(Age)", 1, 30, "There is no '!': write 'true and not …'.")]
    [InlineData("from Users where (Age = 1", 1, 26, "')'")]
    [InlineData("from Users where Age in 1", 1, 25, "'(' after 'in'")]
    [InlineData("from Users where Age in (1, 'a')", 1, 29, "of one kind")]
    [InlineData("from Users where Age between 1 and 'a'", 1, 36, "of one kind")]
    [InlineData("from Users where Age between 1", 1, 31, "'and'")]
    [InlineData("from Users where Age = 1e", 1, 25, "no unit")]
    [InlineData("from Users where Age = 1e+", 1, 25, "no unit")]
    [InlineData("from Users where Age = 1e5m", 1, 27, "no unit")]
    [InlineData("from Users where Age = 1.2.3", 1, 27, "at most one point")]
    [InlineData("from Users where Age = +1", 1, 24, "'+'")]
    [InlineData("from Users where Age ! 1", 1, 22, "There is no '!': write 'true and not …'.")]
    [InlineData("from Users where Tags[x] = 1", 1, 23, "index of an element")]
    [InlineData("from Users where Tags[1.5] = 1", 1, 23, "whole number")]
    [InlineData("from Users where Tags[]. = 1", 1, 26, "a member after '.'")]
    [InlineData("from Users where select = 1", 1, 18, "written in quotes")]
    [InlineData("from Users where '' = 1", 1, 18, "is empty")]
    [InlineData("from Users where a.'b'(1)", 1, 18, "cannot be called")]
    [InlineData("from Users where $ = 1", 1, 18, "name of a parameter")]
    [InlineData("from Users as select", 1, 15, "a name after 'as'")]
    [InlineData("from Users order Name", 1, 18, "'by' after 'order'")]
    [InlineData("from Users group Name", 1, 18, "'by' after 'group'")]
    [InlineData("from Users order by Name as integer", 1, 29, "'long'")]
    [InlineData("from Users order by Name nulls maybe", 1, 32, "'first' or 'last'")]
    [InlineData("from Users order by 3", 1, 21, "order by")]
    [InlineData("from Users select", 1, 18, "to select")]
    [InlineData("from Users select a as", 1, 23, "a name after 'as'")]
    [InlineData("from Users select a b", 1, 21, "the end of the query")]
    [InlineData("from Users select { a: 1", 1, 19, "not closed")]
    [InlineData("from Users select { a: ] }", 1, 24, "does not close")]
    [InlineData("from Users limit", 1, 17, "after 'limit'")]
    [InlineData("from Users limit x", 1, 18, "after 'limit'")]
    [InlineData("from Users limit 1, 2 offset 3", 1, 23, "said twice")]
    [InlineData("from Users offset 3 limit 1, 2", 1, 21, "said twice")]
    [InlineData("from Users limit 1 limit 2", 1, 20, "given twice")]
    [InlineData("from Users include a limit 1 include b", 1, 30, "given twice")]
    [InlineData("from Users load Company", 1, 24, "'as'")]
    [InlineData("from Users update", 1, 18, "'{'")]
    [InlineData("from Users update { } include a", 1, 23, "no 'include'")]
    [InlineData("from Users where a = 1 /* open", 1, 24, "comment is not closed")]
    [InlineData("declare function f(x) { } declare function f(y) { } from Users", 1, 44, "declared twice")]
    [InlineData("declare method f(x) { } from Users", 1, 9, "'function' or 'timeseries'")]
    [InlineData("match (Users as u)-[x]->(y)", 1, 1, "Graph queries")]
    [InlineData("from Users where a = 1 garbage", 1, 24, "the end of the query")]
    [InlineData("from Users where a = 1; drop", 1, 23, "a query ends without it")]
    [InlineData("from Users where exists(a", 1, 26, "in 'exists(…)'")]
    [InlineData("from Users where a = 1 and 'x'", 1, 31, "a comparison")]
    public void Errors_say_where_and_what_was_expected(string text, int line, int column, string part)
    {
        var error = Assert.Throws<InvalidQueryException>(() => RqlParser.Parse(text));
        Assert.Contains(part, error.Message, StringComparison.Ordinal);
        Assert.Equal((line, column), (error.Line, error.Column));
        Assert.Contains($"(line {line}, column {column})", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("from X where a = 1 group by b", "group")]
    [InlineData("from X order by a where b = 1", "where")]
    [InlineData("from X select a order by b", "order")]
    [InlineData("from X select a where b = 1", "where")]
    [InlineData("from X load a as b order by c", "order")]
    [InlineData("from X select a load b as c", "load")]
    [InlineData("from X select a filter b = 1", "filter")]
    [InlineData("from X include a select b", "select")]
    [InlineData("from X limit 1 select b", "select")]
    [InlineData("from X limit 1 where b = 1", "where")]
    [InlineData("from X select a update { }", "update")]
    [InlineData("from X update { } select a", "select")]
    [InlineData("from X where a = 1 where b = 1", "where")]
    public void A_clause_out_of_order_is_named_with_the_order(string text, string clause)
    {
        var error = Assert.Throws<InvalidQueryException>(() => RqlParser.Parse(text));
        Assert.Contains($"'{clause}' cannot stand here", error.Message, StringComparison.Ordinal);
        Assert.Contains("from, group by, where, order by, load, filter, select", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_line_is_shown_with_a_mark_below_the_place()
    {
        var error = Assert.Throws<InvalidQueryException>(() => RqlParser.Parse("from Users\n where Age >< 1"));
        Assert.EndsWith("\n   where Age >< 1\n              ^", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Of_a_long_line_only_the_surroundings_are_shown()
    {
        string text = "from X where " + string.Concat(Enumerable.Repeat("a = 1 or ", 1000)) + "!";
        var error = Assert.Throws<InvalidQueryException>(() => RqlParser.Parse(text));
        Assert.True(error.Message.Length < 500, error.Message);
    }

    [Theory]
    [InlineData("(", ")")]
    [InlineData("exact(", ")")]
    public void Nesting_beyond_the_limit_is_too_complex(string open, string close)
    {
        Assert.NotNull(RqlParser.Parse(Nested(ExpressionParser.MaxDepth)));
        var error = Assert.Throws<InvalidQueryException>(() => RqlParser.Parse(Nested(ExpressionParser.MaxDepth + 1)));
        Assert.Contains("too complex", error.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidQueryException>(() => RqlParser.Parse(Nested(100_000)));

        string Nested(int depth) =>
            "from X where " + string.Concat(Enumerable.Repeat(open, depth)) + "a = 1"
                + string.Concat(Enumerable.Repeat(close, depth));
    }

    [Fact]
    public void A_text_beyond_the_limit_is_refused()
    {
        var error = Assert.Throws<InvalidQueryException>(
            () => RqlParser.Parse("from X where a = '" + new string('x', RqlParser.MaxLength) + "'"));
        Assert.Contains("limit", error.Message, StringComparison.Ordinal);
    }
}
