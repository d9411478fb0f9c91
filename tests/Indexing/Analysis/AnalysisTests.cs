using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Analysis;

public sealed class AnalysisTests
{
    [Theory]
    [InlineData("Hello, World!", "hello|world")]
    [InlineData("don't stop", "don't|stop")]
    [InlineData("'quoted' end.", "quoted|end")]
    [InlineData("example.com 3.14 1,000.5 a.1 x,y", "example.com|3.14|1,000.5|a|1|x|y")]
    [InlineData("snake_case _ __ _a", "snake_case|_a")]
    [InlineData("Ärger ÉTÉ Straße ΣΊΣΥΦΟΣ", "ärger|été|strasse|σίσυφοσ")]
    [InlineData("日本語 テスト ひら", "日|本|語|テスト|ひ|ら")]
    [InlineData("한국어 русский العربية", "한국어|русский|العربية")]
    [InlineData("e\u0301tude A\u030A", "e\u0301tude|a\u030A")]
    [InlineData("𝒳𝓎 𠀀𠀁", "𝒳𝓎|𠀀|𠀁")]
    [InlineData("ﬁne İstanbul ŉ", "fine|i\u0307stanbul|\u02BCn")]
    [InlineData("שׁלום צה\"ל ג' \"ת\"", "שׁלום|צה\"ל|ג'|ת")]
    [InlineData("👩‍👩‍👧 👍🏽 ok🎉 🇫🇷🇩🇪", "👩‍👩‍👧|👍🏽|ok|🎉|🇫🇷|🇩🇪")]
    [InlineData("l'e\u0301te\u0301 3.\u03014", "l'e\u0301te\u0301|3.\u03014")]
    [InlineData("foo-bar foo/bar", "foo|bar|foo|bar")]
    [InlineData("", "")]
    [InlineData(" \t…—!?", "")]
    public void Words_are_cut_and_folded(string text, string expected) =>
        Assert.Equal(expected, string.Join('|', Terms(FieldAnalysis.FullText, Encoding.UTF8.GetBytes(text))));

    [Fact]
    public void Broken_utf8_never_throws_and_separates_words()
    {
        Assert.Equal(["a", "b"], Terms(FieldAnalysis.FullText, [(byte)'a', 0xFF, (byte)'B']));
        var random = new Random(Seed.Next());
        byte[] noise = new byte[300];
        for (int round = 0; round < 2000; round++)
        {
            random.NextBytes(noise);
            int length = random.Next(noise.Length);
            _ = Terms(FieldAnalysis.FullText, noise[..length]);
            _ = Terms(FieldAnalysis.LowerCaseKeyword, noise[..length]);
        }
    }

    [Theory]
    [InlineData("ÄÖÜ", "äöü")]
    [InlineData("ς", "Σ")]
    [InlineData("ſ", "S")]
    [InlineData("K", "k")]
    [InlineData("ẞ", "ß")]
    [InlineData("µ", "μ")]
    [InlineData("Ⱥ", "ⱥ")]
    [InlineData("𐐀", "𐐨")]
    [InlineData("ДОМ", "дом")]
    [InlineData(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789é",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789É")]
    public void Texts_that_differ_by_case_alone_become_one_term(string left, string right) =>
        Assert.Equal(
            Terms(FieldAnalysis.LowerCaseKeyword, Encoding.UTF8.GetBytes(left)),
            Terms(FieldAnalysis.LowerCaseKeyword, Encoding.UTF8.GetBytes(right)));

    [Theory]
    [InlineData("ı", "i")]
    [InlineData("İ", "i")]
    [InlineData("ß", "ss")]
    [InlineData("é", "e")]
    public void Texts_that_differ_by_more_stay_apart(string left, string right) =>
        Assert.NotEqual(
            Terms(FieldAnalysis.LowerCaseKeyword, Encoding.UTF8.GetBytes(left)),
            Terms(FieldAnalysis.LowerCaseKeyword, Encoding.UTF8.GetBytes(right)));

    [Fact]
    public void A_keyword_is_the_value_itself() =>
        Assert.Equal(["Hello World"], Terms(FieldAnalysis.Keyword, "Hello World"u8.ToArray()));

    [Fact]
    public void Long_terms_are_cut_so_that_equality_stays_exact()
    {
        byte[] one = new byte[1_000_000];
        Array.Fill(one, (byte)'a');
        byte[] other = [.. one];
        other[500_000] = (byte)'b';
        byte[] scratch = new byte[TermForm.CutBytes];
        byte[] first = TermForm.Of(one, scratch).ToArray();
        byte[] second = TermForm.Of(other, scratch).ToArray();
        Assert.Equal(TermForm.CutBytes, first.Length);
        Assert.NotEqual(first, second);
        Assert.Equal(first, TermForm.Of([.. one], scratch).ToArray());
        Assert.True(first.AsSpan().StartsWith(one.AsSpan(0, TermForm.HeadBytes)));
        Assert.True(TermForm.EndsWith(first, one.AsSpan(0, TermForm.TailBytes)));
        Assert.Equal(512, TermForm.Of(one.AsSpan(0, 512), scratch).Length);
    }

    private static List<string> Terms(FieldAnalysis analysis, byte[] text) => analysis == FieldAnalysis.FullText
        ? [
            .. TokenList.Of(AnalyzerSet.BuiltIn.Get(AnalyzerSet.DefaultName), text)
                .Select(token => Encoding.UTF8.GetString(token.Form))]
        : [Encoding.UTF8.GetString(WholeValue.Of(analysis, text, new TokenBuffer(), new byte[TermForm.CutBytes]))];
}
