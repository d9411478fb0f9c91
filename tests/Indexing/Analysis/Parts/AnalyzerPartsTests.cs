using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Analysis.Parts;

namespace Treepie.Indexing.Tests.Analysis.Parts;

public sealed class AnalyzerPartsTests
{
    [Theory]
    [InlineData("{}", "Don't SHOUT, Zoë", "Don't|SHOUT|Zoë")]
    [InlineData("""{"Tokenizer":"Letters"}""", "Don't 5", "Don|t")]
    [InlineData("""{"Tokenizer":"whitespace"}""", "a-B c.d", "a-B|c.d")]
    [InlineData("""{"Tokenizer":"Keyword","Filters":["LowerCase"]}""", "A Straße", "a strasse")]
    [InlineData("""{"Tokenizer":{"Pattern":"[;,]"}}""", "Red;Dark green,", "Red|Dark green")]
    [InlineData(
        """{"Filters":["LowerCase","Accents"]}""", "Crème Brûlée SØREN Łódź æon e\u0301", "creme|brulee|soren|lodz|aeon|e")]
    [InlineData("""{"Filters":["LowerCase",{"StopWords":["the","of"]}]}""", "The End of Days", "end|days")]
    [InlineData("""{"Filters":["LowerCase",{"StopWords":"English"},{"Stem":"English"}]}""", "the running horses", "run|hors")]
    [InlineData("""{"Filters":[{"Length":{"Min":2,"Max":3}}]}""", "a ab abc abcd äöü", "ab|abc|äöü")]
    [InlineData("""{"Filters":[{"NGrams":{"Min":2,"Max":3}}]}""", "abcd x", "ab|abc|bc|bcd|cd|x")]
    [InlineData("""{"Filters":[{"EdgeNGrams":{"Min":2,"Max":3}}]}""", "abcd x", "ab|abc|x")]
    [InlineData("""{"Filters":[{"Synonyms":[["tv","television"]]}]}""", "a tv set", "a|tv|television|set")]
    [InlineData("""{"Tokenizer":"Keyword","Filters":[{"Replace":"[^0-9]","With":""}]}""", "+49 (30) 12-3", "4930123")]
    [InlineData("""{"CharacterFilters":[{"Map":{"&":" and ","c++":"cplusplus"}}]}""", "R&D c++ c+", "R|and|D|cplusplus|c")]
    [InlineData("""{"CharacterFilters":[{"Replace":"<[^>]*>","With":" "}]}""", "<b>bo</b>ld", "bo|ld")]
    public void Parts_make_terms_in_their_order(string json, string text, string terms)
    {
        IReadOnlyList<TokenList.Token> tokens = TokenList.Of(Read(json), Encoding.UTF8.GetBytes(text));
        Assert.Equal(terms.Split('|'), tokens.Select(static token => Encoding.UTF8.GetString(token.Form)));
    }

    [Fact]
    public void Words_at_one_place_have_one_position()
    {
        Assert.Equal([0, 1, 1, 2], Positions("""{"Filters":[{"Synonyms":[["tv","television"]]}]}""", "a tv set"));
        Assert.Equal([0, 0, 0, 1], Positions("""{"Filters":[{"EdgeNGrams":{"Min":1,"Max":3}}]}""", "abc x"));
        Assert.Equal([1, 3], Positions("""{"Filters":[{"StopWords":["the","of"]}]}""", "the end of days"));
    }

    [Fact]
    public void Places_are_those_in_the_text_that_was_given()
    {
        const string Json =
            """{"CharacterFilters":[{"Map":{"&":" and "}},{"Replace":"<[^>]*>","With":" "}],"Filters":["LowerCase"]}""";
        const string Text = "<b>Éclairs</b> & <i>Tea</i>";
        byte[] utf8 = Encoding.UTF8.GetBytes(Text);
        Assert.Equal(
            ["éclairs=Éclairs", "and=&", "tea=Tea"],
            TokenList.Of(Read(Json), utf8).Select(
                token => $"{Encoding.UTF8.GetString(token.Form)}={Encoding.UTF8.GetString(utf8[token.Start..token.End])}"));
    }

    [Theory]
    [InlineData("""{"Filters":[{"NGrams":{"Min":2,"Max":3}}]}""", "abcde xy", "abc|bcd|cde|xy")]
    [InlineData("""{"Filters":[{"EdgeNGrams":{"Min":2,"Max":3}}]}""", "abcde x", "abc|x")]
    [InlineData("""{"Filters":["LowerCase",{"Synonyms":[["tv","television"]]}]}""", "TV set", "tv|set")]
    public void Queries_ask_for_whole_words_where_there_are_some(string json, string text, string terms) =>
        Assert.Equal(
            terms.Split('|'),
            TokenList.Of(Read(json).ForQueries, Encoding.UTF8.GetBytes(text))
                .Select(static t => Encoding.UTF8.GetString(t.Form)));

    [Theory]
    [InlineData("""{"Filters":["LowerCase","Accents",{"Stem":"English"},{"StopWords":["creme"]}]}""", "Crème", "creme")]
    [InlineData("""{"CharacterFilters":[{"Map":{"ph":"f"}}]}""", "Phoph", "Phof")]
    [InlineData("""{"Filters":[{"NGrams":{"Min":1,"Max":2}}]}""", "ABC", "ABC")]
    public void Pieces_of_words_are_changed_as_far_as_pieces_can_be(string json, string piece, string expected) =>
        Assert.Equal(expected, Encoding.UTF8.GetString(Read(json).Normalize(Encoding.UTF8.GetBytes(piece))));

    [Theory]
    [InlineData("{\n  \"Filters\": [,]\n}", "line 2, column 15")]
    [InlineData("""{"Filters":[],"Filters":[]}""", "not valid JSON")]
    [InlineData("""{"Tokeniser":"Standard"}""", "Did you mean 'Tokenizer'?")]
    [InlineData("""{"Tokenizer":"Standart"}""", "Tokenizer: there is no 'Standart'. Did you mean 'Standard'?")]
    [InlineData("""{"Filters":["LowerCase","Acents"]}""", "Filters[1]: there is no 'Acents'. Did you mean 'Accents'?")]
    [InlineData("""{"Filters":[{"Stem":"Klingon"}]}""", "There are: English, German")]
    [InlineData("""{"Filters":[{"Stopwords":[]}]}""", "Did you mean 'StopWords'?")]
    [InlineData("""{"Filters":[{"StopWords":[]}]}""", "array of 1 to 4,096 words")]
    [InlineData("""{"Filters":[7]}""", "Filters[0]: it is not the name of a part")]
    [InlineData("""{"Filters":7}""", "Filters: an array of at most")]
    [InlineData("[]", "an object with CharacterFilters")]
    [InlineData("""{"Filters":[{"NGrams":{"Min":4,"Max":2}}]}""", "1 ≤ Min ≤ Max ≤ 32")]
    [InlineData("""{"Filters":[{"NGrams":{"Min":1,"Max":1e9}}]}""", "1 ≤ Min ≤ Max ≤ 32")]
    [InlineData("""{"Filters":[{"NGrams":{}},{"EdgeNGrams":{}}]}""", "more than one of NGrams")]
    [InlineData("""{"Filters":[{"Synonyms":[["a","b"],["b","c"]]}]}""", "'b' is in it twice")]
    [InlineData("""{"Filters":[{"Replace":"(a","With":""}]}""", "Filters[0].Replace")]
    [InlineData("""{"Filters":[{"Replace":"(?<=a)b"}]}""", "Filters[0].Replace")]
    [InlineData("""{"Tokenizer":{"Pattern":"((a{1,100}){1,100}){1,100}"}}""", "Tokenizer.Pattern")]
    [InlineData("""{"CharacterFilters":[{"Map":{"":"x"}}]}""", "CharacterFilters[0].Map")]
    [InlineData("""{"CharacterFilters":[{"Map":{"a":7}}]}""", "'a' has no text to replace it")]
    [InlineData("""{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{"i":1}}}}}}}}}""", "not valid JSON")]
    public void What_is_wrong_is_refused_with_its_place(string json, string reason)
    {
        var error = Assert.Throws<ArgumentException>(() => Read(json));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_too_long_is_refused()
    {
        Assert.Contains(
            "65,536", Assert.Throws<ArgumentException>(() => Read(new string(' ', 70_000) + "{}")).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "1024", Assert.Throws<ArgumentException>(
                () => Read($$$"""{"Tokenizer":{"Pattern":"{{{new string('a', 1_025)}}}"}}""")).Message, StringComparison.Ordinal);
        Assert.Contains(
            "at most 32", Assert.Throws<ArgumentException>(
                () => Read($$"""{"Filters":[{{string.Join(',', Enumerable.Repeat("\"LowerCase\"", 33))}}]}""")).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_pattern_that_would_explode_with_backtracking_takes_time_in_proportion()
    {
        Analyzer analyzer = Read("""{"Tokenizer":"Keyword","Filters":[{"Replace":"(a+)+$","With":"x"}]}""");
        Assert.Single(TokenList.Of(analyzer, Encoding.UTF8.GetBytes(new string('a', 50_000) + "!")));
    }

    [Fact]
    public void A_text_that_grows_without_measure_is_refused_and_nothing_of_it_given()
    {
        string much = new('x', 128);
        foreach (string json in (string[])[
            $$$"""{"CharacterFilters":[{"Map":{"a":"{{{much}}}"}}]}""",
            $$"""{"CharacterFilters":[{"Replace":"a","With":"{{much}}"}]}""",
            $$"""{"Tokenizer":"Keyword","Filters":[{"Replace":"a","With":"{{much}}"}]}""",
        ])
        {
            Analyzer analyzer = Read(json);
            var list = new TokenList();
            Assert.Throws<IndexQueryException>(() => analyzer.Analyze(Encoding.UTF8.GetBytes(new string('a', 10_000)), list));
            Assert.Empty(list.Tokens);
            Assert.Single(TokenList.Of(analyzer, "ba"u8));
        }
    }

    [Fact]
    public void Broken_texts_and_other_texts_with_the_same_sink_are_no_error()
    {
        Analyzer one = Read("""{"CharacterFilters":[{"Map":{"b":"é"}}],"Filters":["LowerCase","Accents",{"Stem":"German"}]}""");
        Analyzer other = Read("""{"Filters":[{"NGrams":{}}]}""");
        var list = new TokenList();
        for (int i = 0; i < 3; i++)
        {
            one.Analyze([0xC3, (byte)'a', 0xE2, 0x82, (byte)' ', (byte)'b', 0xFF], list);
            other.Analyze("ab cd"u8, list);
        }

        Assert.All(list.Tokens, static token => Assert.InRange(token.End, token.Start, 7));
        Assert.Contains(list.Tokens, static token => token.Form.AsSpan().SequenceEqual("cd"u8));
        Assert.Contains(list.Tokens, static token => token.Form.AsSpan().SequenceEqual("e"u8));
    }

    private static Analyzer Read(string json) => AnalyzerParts.Read(Encoding.UTF8.GetBytes(json));

    private static IEnumerable<int> Positions(string json, string text) =>
        TokenList.Of(Read(json), Encoding.UTF8.GetBytes(text)).Select(static token => token.Position);
}
