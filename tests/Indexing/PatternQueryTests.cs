using Treepie.Indexing.Matching;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Searching;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// Patterns over whole dictionaries: what is found, what is refused, and what the index sees of very long terms and of Unicode's
/// forms.
/// </summary>
public sealed class PatternQueryTests
{
    private static readonly IndexSchema _schema = new(
        [new IndexField("name"), new IndexField("text", FieldAnalysis.FullText), new IndexField("exact", FieldAnalysis.Keyword)]);

    [Fact]
    public void Walks_that_seek_find_what_a_scan_finds()
    {
        // Words that share beginnings, over many leaves, so that the walk passes over most of them.
        var random = new Random(Seed.Next());
        var make = new RandomPatterns(random);
        using var fixture = new IndexFixture(_schema);
        for (int i = 0; i < 3_000; i++)
            fixture.Put(
                "e/" + i, (0, FieldValue.Of(Plain(make.Text() + make.Text()) + random.Next(100))), (2, FieldValue.Of("K" + i)));
        fixture.Commit();
        for (int i = 0; i < 30; i++)
        {
            string text = make.Text() + make.Text();
            fixture.Check(new SearchRequest { Query = new WildcardQuery("name", make.Wildcard() + "*" + make.Wildcard()) });
            fixture.Check(new SearchRequest { Query = new RegexQuery("name", "^" + make.Regex().TrimStart('^')) });
            fixture.Check(new SearchRequest { Query = new FuzzyQuery("name", text, random.Next(1, 3), random.Next(3)) });
        }

        Assert.Equal(1_111, fixture.Keys(new SearchRequest { Query = new WildcardQuery("exact", "K1*") }).Count);
        Assert.Empty(fixture.Keys(new SearchRequest { Query = new WildcardQuery("exact", "k1*") }));
    }

    /// <summary>In a word of a text, an asterisk is a wildcard and a question mark is not.</summary>
    [Theory]
    [InlineData("qu*k", "a b")]
    [InlineData("QU*K", "a b")]
    [InlineData("q*i*k fox", "a")]
    [InlineData("q*c*", "a b")]
    [InlineData("*ui*k", "a")]
    [InlineData("qu?*k", "")]
    [InlineData("brown f*x", "c")]
    [InlineData("red-f*x", "")]
    [InlineData("x*z", "")]
    public void Asterisks_within_the_words_of_a_text_stand_for_any_characters(string text, string expected)
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("a", (1, FieldValue.Of("the quick fox")));
        fixture.Put("b", (1, FieldValue.Of("quack, quiet red")));
        fixture.Put("c", (1, FieldValue.Of("brown fix")));
        fixture.Commit();
        Assert.Equal(
            expected,
            string.Join(' ', fixture.Keys(new SearchRequest { Query = new FullTextQuery("text", text, All: true) })));
    }

    [Theory]
    [InlineData(float.NaN)]
    [InlineData(float.PositiveInfinity)]
    [InlineData(-1f)]
    public void Absurd_boosts_are_refused(float factor) =>
        Refused(new BoostQuery(new MatchAllQuery(), factor), "A boost is a number of at least 0");

    [Theory]
    [InlineData(float.NaN)]
    [InlineData(3f)]
    [InlineData(1.5f)]
    [InlineData(-0.1f)]
    public void Absurd_similarities_are_refused(float similarity) =>
        Refused(new FuzzyQuery("name", "x", similarity), "The similarity of a fuzzy query");

    [Fact]
    public void Boosts_around_one_another_and_orders_without_end_are_refused()
    {
        IndexQuery boosted = new MatchAllQuery();
        for (int i = 0; i < 4; i++)
            boosted = new BoostQuery(boosted, 1e9f);
        Refused(boosted, "multiply to 1E-09 to 1E+12");
        // 1e-60, which is 0 in single precision
        Refused(new BoostQuery(new BoostQuery(new MatchAllQuery(), 1e-30f), 1e-30f), "multiply to 1E-09 to 1E+12");
        Refused(
            new MoreLikeThisQuery(null, _ => [], new MoreLikeThisOptions { Fields = ["text"], BoostFactor = 1e30f }),
            "multiply to 1E-09 to 1E+12");
        Assert.Equal("a b c", Find(new BoostQuery(new BoostQuery(new MatchAllQuery(), 1e-30f), 0)));
        Assert.Equal("a b c", Find(new OrQuery([.. Enumerable.Repeat(new BoostQuery(new MatchAllQuery(), 1e12f), 1_000)])));
        SortKey[] keys = [.. Enumerable.Repeat(new SortKey("name", SortKind.Text), 65)];
        Assert.Contains(
            "at most 64 keys", Assert.Throws<IndexQueryException>(() => Find(new MatchAllQuery(), keys)).Message,
            StringComparison.Ordinal);
        Assert.Equal("a b c", Find(new MatchAllQuery(), keys[1..]));
    }

    /// <summary>
    /// What reads a whole dictionary does so up to a limit, and then says what would help; what begins with some characters is in
    /// its limits where the dictionary is not.
    /// </summary>
    [Fact]
    public void Wildcards_over_everything_end_at_the_limit_with_an_advice()
    {
        using var fixture = new IndexFixture(_schema);
        for (int i = 0; i < 300; i++)
            fixture.Put($"e/{i}", (0, FieldValue.Of($"n{i}")), (1, FieldValue.Of($"w{i}")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        IndexQuery[] wide =
        [
            new WildcardQuery("name", "*"), new WildcardQuery("name", "*1*"), new WildcardQuery("name", "?*"),
            new WildcardQuery("name", "*1?"), new FullTextQuery("text", "*1*", All: true),
            new SuffixQuery("name", "1"), new ContainsQuery("name", "1"), new RegexQuery("name", "1"),
            new RegexQuery("name", "^.*"), new RegexQuery("name", "^n12|1"), new PrefixQuery("name", ""),
        ];
        foreach (IndexQuery query in wide)
        {
            string message = Assert.Throws<IndexQueryException>(() => Count(query, 200)).Message;
            Assert.Contains("200 is the most", message, StringComparison.Ordinal);
            Assert.Contains("Add a prefix", message, StringComparison.Ordinal);
            Assert.True(Count(query, 300) > 0);
        }

        foreach (IndexQuery query in (IndexQuery[])
        [
            new WildcardQuery("name", "n1*"), new WildcardQuery("name", "n1?*5"), new RegexQuery("name", "^n1.*5$"),
            new RegexQuery("name", "^(n12|N19)|(^n29)$"), new PrefixQuery("name", "n1"), new FuzzyQuery("name", "n12", 1)
        ])
            Assert.True(Count(query, 200) > 0);

        long Count(IndexQuery query, long mostTerms)
        {
            using var context = new QueryContext(searcher.View, TestContext.Current.CancellationToken)
            {
                MaxTermsRead = mostTerms
            };
            var run = new SearchRun(context, new SearchRequest { Query = query });
            run.Execute();
            return run.Total;
        }
    }

    [Fact]
    public void Patterns_and_texts_without_end_are_refused()
    {
        string endless = new('x', 1_000_000);
        Refused(new WildcardQuery("name", endless + "*"), "at most 1,024 characters");
        Refused(new RegexQuery("name", endless), "1,024 is the most");
        Refused(new FuzzyQuery("name", endless), "at most 256 characters");
        Refused(new RegexQuery("name", "(a{500}){500}"), "too complicated");
        Assert.Throws<UnknownFieldException>(() => Find(new RegexQuery("nothing", "a")));

        // Equal, starting and ending with so much is possible; it finds nothing here.
        Assert.Equal("", Find(new TermQuery("name", FieldValue.Of(endless))));
        Assert.Equal("", Find(new PrefixQuery("name", endless)));
        Assert.Equal("", Find(new ContainsQuery("text", endless)));
    }

    [Fact]
    public void A_million_clauses_and_endless_nesting_end_in_an_answer_or_an_error()
    {
        Assert.Equal(
            "a b c", Find(new OrQuery([.. Enumerable.Repeat<IndexQuery>(new MatchNoneQuery(), 1_000_000), new MatchAllQuery()])));
        IndexQuery deep = new MatchAllQuery();
        for (int i = 0; i < 100_000; i++)
            deep = new NotQuery(deep);
        Refused(deep, "levels deep");
        IndexQuery chain = new MatchAllQuery();
        for (int i = 0; i < 100_000; i++)
            chain = new AndQuery([chain, new MatchAllQuery()]);
        Assert.Equal("a b c", Find(chain));
        Assert.Throws<IndexQueryException>(() => LuceneSyntax.Parse(new string('(', 100_000), (name, _) => name ?? "text"));
        Assert.Throws<IndexQueryException>(
            () => LuceneSyntax.Parse(string.Join(' ', Enumerable.Repeat("x", 400_000)), (name, _) => name ?? "text"));
    }

    [Fact]
    public void Of_very_long_terms_patterns_see_the_start_and_the_end()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("long", (0, FieldValue.Of("begin" + new string('m', 1_000_000) + "end")));
        fixture.Put("short", (0, FieldValue.Of("beginend")));
        fixture.Commit();
        List<string> Keys(IndexQuery query) => fixture.Keys(new SearchRequest { Query = query });
        Assert.Equal(["long", "short"], Keys(new WildcardQuery("name", "be?in*end")));
        Assert.Equal(["long"], Keys(new WildcardQuery("name", "begin?*mend")));
        Assert.Equal(["long", "short"], Keys(new RegexQuery("name", "^begin.*end$")));
        Assert.Equal(["long"], Keys(new ContainsQuery("name", "mmend")));
        Assert.Empty(Keys(new ContainsQuery("name", "x")));
    }

    /// <summary>
    /// Where the answer hangs on bytes that the index has not kept, it is refused; never are such texts left out in silence.
    /// </summary>
    [Fact]
    public void A_start_or_an_end_that_is_longer_than_what_is_kept_of_long_texts_is_refused_where_one_may_fit()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("long", (0, FieldValue.Of(new string('x', 600))));
        fixture.Put("short", (0, FieldValue.Of(new string('x', 450))));
        fixture.Put("whole", (0, FieldValue.Of(new string('w', 512))));
        fixture.Commit();
        List<string> Keys(IndexQuery query) => fixture.Keys(new SearchRequest { Query = query });
        Assert.Equal(["long", "short"], Keys(new PrefixQuery("name", new string('X', 384))));
        Assert.Equal(["long", "short"], Keys(new SuffixQuery("name", new string('X', 96))));
        Assert.Equal(["whole"], Keys(new PrefixQuery("name", new string('w', 500))));
        Assert.Equal(["whole"], Keys(new WildcardQuery("name", "*" + new string('w', 500))));
        Assert.Empty(Keys(new PrefixQuery("name", new string('x', 383) + "yy")));
        Assert.Empty(Keys(new SuffixQuery("name", new string('x', 400) + "y")));
        foreach (IndexQuery query in (IndexQuery[])
        [
            new PrefixQuery("name", new string('x', 385)), new WildcardQuery("name", new string('x', 400) + "*")
        ])
            Assert.Contains(
                "at most 384 bytes", Assert.Throws<IndexQueryException>(() => Keys(query)).Message, StringComparison.Ordinal);
        Assert.Contains(
            "at most 96 bytes",
            Assert.Throws<IndexQueryException>(() => Keys(new SuffixQuery("name", new string('x', 97)))).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Equality_ignores_case_of_every_script_and_not_how_a_letter_is_composed()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("composed", (0, FieldValue.Of("\u00C9t\u00E9")), (1, FieldValue.Of("\u00C9t\u00E9 STRASSE")));
        fixture.Put("decomposed", (0, FieldValue.Of("E\u0301te\u0301")), (1, FieldValue.Of("E\u0301te\u0301 stra\u00DFe")));
        fixture.Commit();
        List<string> Keys(IndexQuery query) => fixture.Keys(new SearchRequest { Query = query });
        Assert.Equal(["composed"], Keys(new TermQuery("name", FieldValue.Of("\u00E9T\u00C9"))));
        Assert.Equal(["decomposed"], Keys(new TermQuery("name", FieldValue.Of("e\u0301TE\u0301"))));
        Assert.Equal(["composed"], Keys(new FullTextQuery("text", "\u00E9t\u00E9", All: true)));
        // ß is ss among words
        Assert.Equal(["composed", "decomposed"], Keys(new FullTextQuery("text", "Stra\u00DFe", All: true)));
        Assert.Equal(["composed"], Keys(new WildcardQuery("name", "\u00C9*")));
        Assert.Equal(["decomposed"], Keys(new RegexQuery("name", "^E\u0301"))); // two characters
    }

    /// <summary>Without what is two characters to the platform.</summary>
    private static string Plain(string text) => text.Replace("\U0001F600", "", StringComparison.Ordinal);

    private static void Refused(IndexQuery query, string reason) =>
        Assert.Contains(reason, Assert.Throws<IndexQueryException>(() => Find(query)).Message, StringComparison.Ordinal);

    private static string Find(IndexQuery query, params SortKey[] sort)
    {
        using var fixture = new IndexFixture(_schema);
        foreach (string key in new[] { "a", "b", "c" })
            fixture.Put(key, (0, FieldValue.Of(key)), (1, FieldValue.Of("word " + key)));
        fixture.Commit();
        return string.Join(' ', fixture.Keys(new SearchRequest { Query = query, Sort = sort }));
    }
}
