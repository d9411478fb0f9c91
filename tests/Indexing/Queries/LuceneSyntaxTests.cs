using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Queries;

/// <summary>
/// Lucene's syntax: random queries are written as text and read back, and texts of any kind are read or refused.
/// </summary>
public sealed class LuceneSyntaxTests
{
    private const string Signs = "+-!(){}[]^\"~*?:\\/&| \tabAZ09.éOR";

    [Fact]
    public void A_query_that_is_written_is_read_back()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 4_000; i++)
        {
            var text = new StringBuilder();
            IndexQuery expected = Write(random, text, "text", 4);
            IndexQuery read = LuceneSyntax.Parse(text.ToString(), static (name, _) => name ?? "text");
            Assert.True(Show(expected) == Show(read), $"{text}\nexpected {Show(expected)}\nactual   {Show(read)}");
        }
    }

    [Fact]
    public void Any_text_is_read_or_refused_with_its_place()
    {
        var random = new Random(Seed.Next());
        int refused = 0;
        for (int i = 0; i < 20_000; i++)
        {
            var text = new StringBuilder();
            if (random.Next(2) == 0)
                Write(random, text, "text", 3);
            for (int edits = random.Next(1, 8); edits > 0; edits--)
                text.Insert(random.Next(text.Length + 1), Signs[random.Next(Signs.Length)]);
            if (random.Next(3) == 0)
                text.Length = random.Next(text.Length + 1);
            try
            {
                _ = LuceneSyntax.Parse(text.ToString(), static (name, _) => name ?? "text");
            }
            catch (IndexQueryException error)
            {
                refused++;
                Assert.StartsWith(
                    "The text of 'lucene()' cannot be read at character ", error.Message, StringComparison.Ordinal);
            }
        }

        Assert.True(refused is > 1_000 and < 19_000, $"{refused} texts were refused");
    }

    [Theory]
    [InlineData("", "none")]
    [InlineData("  ", "none")]
    [InlineData("a b", "(text'a' or text'b')")]
    [InlineData("a OR b", "(text'a' or text'b')")]
    [InlineData("a || b", "(text'a' or text'b')")]
    [InlineData("a AND b", "(text'a' and text'b')")]
    [InlineData("a && b", "(text'a' and text'b')")]
    [InlineData("a AND b c", "(text'a' and text'b' and (all^0 or text'c'))")]
    [InlineData("+a", "text'a'")]
    [InlineData("-a", "not text'a'")]
    [InlineData("!a", "not text'a'")]
    [InlineData("a NOT b", "(text'a' and not text'b')")]
    [InlineData("name:(a b)", "(name'a' or name'b')")]
    [InlineData("(a) b", "(text'a' or text'b')")]
    [InlineData("*:*^2", "all^2")]
    [InlineData("a\\+b", "text'a+b'")]
    [InlineData("a-b", "text'a-b'")]
    [InlineData("\"a \\\"b\"~3", "text'a \"b'~3")]
    [InlineData("a~", "text fuzzy a 0.5 0")]
    [InlineData("a~1", "text fuzzy a 1 0")]
    [InlineData("a*", "text wildcard a*")]
    [InlineData("/a\\/b\\d/", "text regex a/b\\d")]
    [InlineData("[1 TO 2}", "text [Long:1 Long:2)")]
    [InlineData("[Lx1 TO Dx2.5]", "text [Long:1 Double:2.5]")]
    [InlineData("{1 TO b]", "text (Text:1 Text:b]")]
    [InlineData("[* TO *]", "text [ ]")]
    [InlineData("name:[\"a b\" TO *]", "name [Text:a b ]")]
    [InlineData("ORANGE ANDY", "(text'ORANGE' or text'ANDY')")]
    public void Each_form_has_its_meaning(string text, string expected) =>
        Assert.Equal(expected, Show(LuceneSyntax.Parse(text, static (name, _) => name ?? "text")));

    [Theory]
    [InlineData("a)", 2, "there is no '('")]
    [InlineData("(a", 3, "a ')' is missing")]
    [InlineData("AND a", 4, "'AND' and 'OR' belong")]
    [InlineData("a AND", 6, "a condition is missing at the end")]
    [InlineData("name:", 6, "nothing follows 'name:'")]
    [InlineData("a ^", 3, "'^' is where a word is expected")]
    [InlineData("a^", 3, "a number is expected after '^'")]
    [InlineData("a^1.2.3", 8, "'1.2.3' is not a number")]
    [InlineData("\"a\"~1.5", 8, "a whole number of places")]
    [InlineData("\"a", 1, "the closing \" is missing")]
    [InlineData("/a", 1, "the closing / is missing")]
    [InlineData("[a b]", 4, "a range is written [low TO high]; 'TO' is missing")]
    [InlineData("[a TO b", 8, "a range ends with")]
    [InlineData("[ TO b]", 6, "a range is written [low TO high]; 'TO' is missing")]
    [InlineData("[a TO ]", 7, "a bound of the range is missing")]
    [InlineData("a\\", 2, "it ends with a '\\'")]
    public void What_cannot_be_read_is_named_with_its_place(string text, int place, string problem)
    {
        IndexQueryException error = Assert.Throws<IndexQueryException>(
            () => LuceneSyntax.Parse(text, static (name, _) => name ?? "text"));
        Assert.Contains($"at character {place}: {problem}", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Length_depth_and_number_of_conditions_are_limited()
    {
        Refused(new string('a', LuceneSyntax.MaxLength + 1), "is the most");
        Refused(new string('(', LuceneSyntax.MaxDepth + 1), "parentheses are nested");
        Refused(string.Concat(Enumerable.Repeat("a ", LuceneSyntax.MaxClauses + 1)), "conditions");
        string deep = new string('(', LuceneSyntax.MaxDepth) + "a" + new string(')', LuceneSyntax.MaxDepth);
        Assert.Equal("text'a'", Show(LuceneSyntax.Parse(deep, static (name, _) => name ?? "text")));
        string beside = string.Concat(Enumerable.Repeat("(a) ", LuceneSyntax.MaxDepth + 1));
        Assert.IsType<OrQuery>(LuceneSyntax.Parse(beside, static (name, _) => name ?? "text"));

        static void Refused(string text, string problem)
        {
            IndexQueryException error = Assert.Throws<IndexQueryException>(
                () => LuceneSyntax.Parse(text, static (name, _) => name ?? "text"));
            Assert.Contains(problem, error.Message, StringComparison.Ordinal);
        }
    }

    /// <summary>Writes a random query and returns what it means.</summary>
    private static IndexQuery Write(Random random, StringBuilder text, string field, int depth)
    {
        if (depth > 0 && random.Next(2) == 0)
            return WriteGroup(random, text, field, depth);
        if (random.Next(4) == 0)
        {
            field = "name";
            text.Append("name:");
        }

        IndexQuery query = WriteValue(random, text, field);
        if (random.Next(5) != 0)
            return query;
        text.Append("^2.5");
        return new BoostQuery(query, 2.5f);
    }

    private static IndexQuery WriteGroup(Random random, StringBuilder text, string field, int depth)
    {
        List<IndexQuery> must = [], should = [], not = [];
        text.Append('(');
        for (int i = random.Next(1, 4); i > 0; i--)
        {
            switch (random.Next(4))
            {
                case 0:
                    text.Append(" +");
                    must.Add(Write(random, text, field, depth - 1));
                    break;
                case 1:
                    text.Append(random.Next(2) == 0 ? " -" : " NOT ");
                    not.Add(new NotQuery(Write(random, text, field, depth - 1)));
                    break;
                default:
                    text.Append(random.Next(3) switch { 0 when should.Count + must.Count + not.Count > 0 => " OR ", _ => " " });
                    should.Add(Write(random, text, field, depth - 1));
                    break;
            }
        }

        text.Append(')');
        IndexQuery any = should.Count == 1 ? should[0] : new OrQuery(should);
        if (must.Count + not.Count == 0)
            return any;

        // Beside required conditions alternatives only add to the score; beside prohibited ones, one of them must match.
        if (should.Count > 0)
            must.Add(must.Count == 0 ? any : new OrQuery([new BoostQuery(new MatchAllQuery(), 0), .. should]));
        IndexQuery[] all = [.. must, .. not];
        return all.Length == 1 ? all[0] : new AndQuery(all);
    }

    private static IndexQuery WriteValue(Random random, StringBuilder text, string field)
    {
        string word = string.Concat(Enumerable.Range(0, random.Next(1, 6)).Select(_ => Signs[random.Next(Signs.Length)]));
        switch (random.Next(5))
        {
            case 0:
                int slop = random.Next(3);
                text.Append('"').Append(Escaped(word)).Append('"');
                if (slop > 0)
                    text.Append('~').Append(slop);
                return new TextQuery(field, word, slop);
            case 1:
                text.Append(Escaped(word)).Append("~2");
                return new FuzzyQuery(field, word, 2);
            case 2:
                text.Append("[5 TO ").Append(Escaped(word + "x")).Append('}');
                return new RangeQuery(field, FieldValue.Of("5"), true, FieldValue.Of(word + "x"), false);
            case 3:
                string raw = Escaped(word) + "*" + Escaped(word);
                text.Append(raw);
                return new WildcardQuery(field, raw);
            default:
                text.Append(Escaped(word));
                return new TextQuery(field, word);
        }
    }

    private static string Escaped(string word) => string.Concat(word.Select(static c => $"\\{c}"));

    private static string Show(IndexQuery query) => query switch
    {
        MatchAllQuery => "all",
        MatchNoneQuery => "none",
        AndQuery all => $"({string.Join(" and ", all.Clauses.Select(Show))})",
        OrQuery any => $"({string.Join(" or ", any.Clauses.Select(Show))})",
        NotQuery not => $"not {Show(not.Clause)}",
        BoostQuery boost => FormattableString.Invariant($"{Show(boost.Clause)}^{boost.Factor}"),
        TextQuery text => $"{text.Field}'{text.Text}'{(text.Slop > 0 ? $"~{text.Slop}" : "")}",
        WildcardQuery wildcard => $"{wildcard.Field} wildcard {wildcard.Pattern}",
        RegexQuery { IsWhole: true } regex => $"{regex.Field} regex {regex.Pattern}",
        FuzzyQuery fuzzy => FormattableString.Invariant($"{fuzzy.Field} fuzzy {fuzzy.Text} {fuzzy.Similarity} {fuzzy.Prefix}"),
        RangeQuery range => $"{range.Field} {(range.LowInclusive ? '[' : '(')}{Show(range.Low)} {Show(range.High)}"
            + (range.HighInclusive ? ']' : ')'),
        _ => throw new NotSupportedException(query.GetType().Name),
    };

    private static string Show(FieldValue? bound) => bound is not { } value ? ""
        : value.Kind switch
        {
            FieldValueKind.Long => FormattableString.Invariant($"Long:{value.Long}"),
            FieldValueKind.Double => FormattableString.Invariant($"Double:{value.Double}"),
            _ => $"{value.Kind}:{value.Text}",
        };
}
