using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Analysis;

public sealed class AnalyzerSetTests
{
    private const string Fox = "The quick brown fox jumped over the lazy dogs, Bob@hotmail.com 123432.";

    [Theory]
    [InlineData("RavenStandardAnalyzer", "the|quick|brown|fox|jumped|over|the|lazy|dogs|bob|hotmail.com|123432")]
    [InlineData("StandardAnalyzer", "quick|brown|fox|jumped|over|lazy|dogs|bob|hotmail.com|123432")]
    [InlineData("SimpleAnalyzer", "the|quick|brown|fox|jumped|over|the|lazy|dogs|bob|hotmail|com")]
    [InlineData("StopAnalyzer", "quick|brown|fox|jumped|over|lazy|dogs|bob|hotmail|com")]
    [InlineData("WhitespaceAnalyzer", "The|quick|brown|fox|jumped|over|the|lazy|dogs,|Bob@hotmail.com|123432.")]
    [InlineData("LowerCaseWhitespaceAnalyzer", "the|quick|brown|fox|jumped|over|the|lazy|dogs,|bob@hotmail.com|123432.")]
    [InlineData("KeywordAnalyzer", Fox)]
    [InlineData("LowerCaseKeywordAnalyzer", "the quick brown fox jumped over the lazy dogs, bob@hotmail.com 123432.")]
    [InlineData("PatternAnalyzer", "the|quick|brown|fox|jumped|over|the|lazy|dogs|bob|hotmail|com|123432")]
    [InlineData("PatternAnalyzer([.,@])", "the quick brown fox jumped over the lazy dogs| bob|hotmail|com 123432")]
    [InlineData("EnglishAnalyzer", "the|quick|brown|fox|jump|over|the|lazi|dog|bob|hotmail.com|123432")]
    public void Terms_are_those_the_name_promises(string name, string expected) => Assert.Equal(expected, Terms(name, Fox));

    [Theory]
    [InlineData("standardanalyzer")]
    [InlineData("Lucene.Net.Analysis.Standard.StandardAnalyzer")]
    [InlineData("Lucene.Net.Analysis.Standard.StandardAnalyzer, Lucene.Net, Version=3.0.3.0, Culture=neutral")]
    public void A_name_is_found_in_every_form_that_definitions_use(string name) =>
        Assert.Same(AnalyzerSet.BuiltIn.Get("StandardAnalyzer"), AnalyzerSet.BuiltIn.Get(name));

    [Theory]
    [InlineData("GermanAnalyzer", "Die Häuser der Straßen", "die|haus|der|strass")]
    [InlineData("FrenchAnalyzer", "L'avion qu’elle aimait", "avion|elle|aim")]
    [InlineData("ItalianAnalyzer", "dell'acqua degli abbandonati", "acqua|degl|abbandon")]
    [InlineData("Lucene.Net.Analysis.Ru.RussianAnalyzer", "Важнейшие", "важн")]
    [InlineData("HungarianAnalyzer", "A városokban, házzal", "a|város|ház")]
    [InlineData("RomanianAnalyzer", "Soluții soluţii cărțile", "soluţ|soluţ|cărţ")]
    [InlineData("Lucene.Net.Analysis.BR.BrazilianAnalyzer", "Corações", "coraçõ")]
    public void Languages_cut_words_to_stems(string name, string text, string expected) =>
        Assert.Equal(expected, Terms(name, text));

    [Fact]
    public void Fragments_are_of_all_sizes_and_stand_at_the_place_of_their_word()
    {
        IReadOnlyList<TokenList.Token> tokens = Tokens("NGramAnalyzer(2,3)", "Äbc x de");
        Assert.Equal(["äb", "äbc", "bc", "x", "de"], tokens.Select(token => Encoding.UTF8.GetString(token.Form)));
        Assert.Equal([0, 0, 0, 1, 2], tokens.Select(token => token.Position));
        Assert.Equal((0, 4), (tokens[2].Start, tokens[2].End));
        IReadOnlyList<TokenList.Token> asked = TokenList.Of(
            AnalyzerSet.BuiltIn.Get("NGramAnalyzer(2,3)").ForQueries, "x Äbcd abcabcab ééééé y"u8);
        Assert.Equal(
            ["x", "äbc", "bcd", "abc", "bca", "cab", "ééé", "y"], asked.Select(token => Encoding.UTF8.GetString(token.Form)));
        Assert.Equal([0, 1, 1, 2, 2, 2, 3, 4], asked.Select(token => token.Position));
    }

    [Fact]
    public void Words_left_out_leave_their_positions()
    {
        IReadOnlyList<TokenList.Token> tokens = Tokens("StandardAnalyzer", "the end of a road and more");
        Assert.Equal(["end", "road", "more"], tokens.Select(token => Encoding.UTF8.GetString(token.Form)));
        Assert.Equal([1, 4, 6], tokens.Select(token => token.Position));
        Assert.Equal([1, 3, 5], Tokens("StopAnalyzer", "an apple the pear, of 7 figs").Select(token => token.Position));
    }

    [Theory]
    [InlineData("NGramAnalyzer(0,3)", "1 ≤ least")]
    [InlineData("NGramAnalyzer(4,3)", "not below it")]
    [InlineData("NGramAnalyzer(1,1000000)", "up to 32")]
    [InlineData("NGramAnalyzer(a,b)", "two whole numbers")]
    [InlineData("PatternAnalyzer(()", "cannot be used")]
    [InlineData("PatternAnalyzer((a)\\1)", "cannot be used")]
    [InlineData("SimpleAnalyzer(3)", "take something in parentheses")]
    [InlineData("KlingonAnalyzer", "There are: BrazilianAnalyzer, DanishAnalyzer")]
    [InlineData("", "no analyzer")]
    public void A_name_that_makes_no_analyzer_is_refused_with_the_reason(string name, string reason) =>
        Assert.Contains(
            reason.Replace("1 ≤ least", "the least from 1 on", StringComparison.Ordinal),
            Assert.Throws<ArgumentException>(() => AnalyzerSet.BuiltIn.Get(name)).Message,
            StringComparison.Ordinal);

    [Fact]
    public void Every_analyzer_takes_any_bytes_and_says_true_places()
    {
        var random = new Random(Seed.Next());
        byte[] noise = new byte[200];
        string[] words = ["don't", "the", " ", "Ärger", "l'eau", "👩‍👧", "\u0301", "テスト", "x,5", "\u2028", "abcdefghij"];
        foreach (string name in AnalyzerSet.BuiltIn.Names)
        {
            for (int round = 0; round < 60; round++)
            {
                random.NextBytes(noise);
                byte[] text = round % 2 == 0
                    ? noise[..random.Next(noise.Length)]
                    : Encoding.UTF8.GetBytes(
                        string.Concat(Enumerable.Range(0, 12).Select(_ => words[random.Next(words.Length)])));
                int lastStart = 0;
                int lastPosition = 0;
                foreach (TokenList.Token token in TokenList.Of(AnalyzerSet.BuiltIn.Get(name), text))
                {
                    Assert.InRange(token.Start, lastStart, token.End);
                    Assert.InRange(token.End, token.Start, text.Length);
                    Assert.True(token.Position >= lastPosition, name);
                    (lastStart, lastPosition) = (token.Start, token.Position);
                }
            }
        }
    }

    [Fact]
    public void A_word_of_a_megabyte_is_one_bounded_term_and_few_fragments()
    {
        byte[] text = new byte[1 << 20];
        Array.Fill(text, (byte)'a');
        foreach (string name in AnalyzerSet.BuiltIn.Names)
        {
            IReadOnlyList<TokenList.Token> tokens = TokenList.Of(AnalyzerSet.BuiltIn.Get(name), text);
            Assert.InRange(tokens.Count, 1, 5 * NGramAnalyzer.MaxWordCharacters);
            Assert.All(tokens, token => Assert.InRange(token.Form.Length, 1, TermForm.CutBytes));
        }
    }

    [Fact]
    public void An_own_analyzer_is_found_by_its_name_and_takes_the_place_of_one()
    {
        AnalyzerSet own = AnalyzerSet.BuiltIn.With("My.Own", new Halves()).With("SimpleAnalyzer", new Halves());
        Assert.IsType<Halves>(own.Get("my.own"));
        Assert.IsType<Halves>(own.Get("SimpleAnalyzer"));
        Assert.Throws<ArgumentException>(() => AnalyzerSet.BuiltIn.Get("My.Own"));
        Assert.Throws<ArgumentException>(() => own.With("no blanks", new Halves()));
        Assert.Throws<ArgumentOutOfRangeException>(() => TokenList.Of(new Halves(), "bad"u8));
    }

    /// <summary>Cuts a text of even length into two terms at one position, and names impossible places for another one.</summary>
    internal sealed class Halves : Analyzer
    {
        public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
        {
            int middle = text.Length / 2;
            sink.Add(text[..middle], 0, middle);
            sink.Add(text[middle..], middle, text.Length % 2 == 0 ? text.Length : 0, positionStep: 0);
        }
    }

    private static string Terms(string name, string text) =>
        string.Join('|', Tokens(name, text).Select(token => Encoding.UTF8.GetString(token.Form)));

    private static IReadOnlyList<TokenList.Token> Tokens(string name, string text) =>
        TokenList.Of(AnalyzerSet.BuiltIn.Get(name), Encoding.UTF8.GetBytes(text));
}
