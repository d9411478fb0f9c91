using System.Text;
using System.Text.RegularExpressions;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Automata;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Automata;

/// <summary>
/// Patterns against what others say of them: the platform's regular expressions, a table of edits, a recursion over wildcards.
/// </summary>
public sealed class TermAutomatonTests
{
    [Fact]
    public void Expressions_match_what_the_platform_says()
    {
        var random = new Random(Seed.Next());
        var make = new RandomPatterns(random);
        for (int round = 0; round < 500; round++)
        {
            string pattern = make.Regex();
            var expected = new Regex(pattern, RegexOptions.CultureInvariant | RegexOptions.NonBacktracking);
            TermAutomaton automaton = RegexPattern.Compile(pattern, text => text);
            for (int i = 0; i < 20; i++)
            {
                string text = make.Text().Replace("\U0001F600", "", StringComparison.Ordinal); // two characters to the platform
                Assert.True(
                    expected.IsMatch(text) == automaton.Matches(Encoding.UTF8.GetBytes(text)), $"'{pattern}' on '{text}'");
            }
        }
    }

    [Theory]
    [InlineData(@"^\d+$", "2024", true)]
    [InlineData(@"^\d+$", "٣٤", true)] // digits of another script
    [InlineData(@"^\w+$", "naïve_1", true)]
    [InlineData(@"\W", "naïve_1", false)]
    [InlineData(@"^\S+\s\S+$", "a\u00A0b", true)]
    [InlineData(@"^\p{Lu}", "Ärger", true)]
    [InlineData(@"^\P{L}", "Ärger", false)]
    [InlineData(@"^[^\p{L}]$", "7", true)]
    [InlineData(@"^\u00e4\x72", "ärger", true)]
    [InlineData(@"^\t\n\r\f\v\e$", "\t\n\r\f\v\u001B", true)]
    [InlineData(@"^\D\S\W$", "aa-", true)]
    [InlineData(@"^\D$", "7", false)]
    [InlineData(@"^.$", "😀", true)] // one character, though two of UTF-16
    [InlineData(@"^[😀-😂]$", "😁", true)]
    [InlineData(@"a{2,3}?$", "baaa", true)]
    [InlineData(@"^(?<name>a|b)(?:c)$", "bc", true)]
    [InlineData(@"^a{,2}$", "a{,2}", true)]
    [InlineData(@"^\.\*\[\]$", ".*[]", true)]
    [InlineData(@"^[]a]+$", "]a", true)]
    [InlineData(@"^[a\-z]+$", "-", true)]
    [InlineData(@"^[a-]+$", "-a", true)]
    [InlineData(@"x*", "", true)]
    [InlineData("^((((){1000}){1000}){1000}){1000}$", "", true)] // a billion times nothing
    [InlineData("^(((a?){0}){0}|(()*)*)$", "a", false)]
    [InlineData(@"a^b", "ab", false)]
    [InlineData(@"a$b", "ab", false)]
    [InlineData(@"[^\s\S]", "a", false)] // matches nothing at all
    public void What_an_expression_can_say(string pattern, string text, bool expected) =>
        Assert.Equal(expected, RegexPattern.Compile(pattern, form => form).Matches(Encoding.UTF8.GetBytes(text)));

    [Theory]
    [InlineData("^[A-C]X$", "bx", true)]
    [InlineData("^[^A-C]$", "b", false)]
    [InlineData("^É", "été", true)]
    [InlineData("^[À-Ö]$", "é", true)]
    [InlineData(@"^\p{Lu}$", "a", true)]
    public void Folded_terms_are_compared_without_case(string pattern, string text, bool expected) => Assert.Equal(
        expected,
        RegexPattern.Compile(pattern, form => Encoding.UTF8.GetString(CaseFolding.FoldFully(Encoding.UTF8.GetBytes(form))))
            .Matches(Encoding.UTF8.GetBytes(text)));

    [Theory]
    [InlineData("(", "a ')' is missing", 2)]
    [InlineData("a)", "no '(' before", 2)]
    [InlineData("[a", "a ']' is missing", 3)]
    [InlineData("*a", "nothing before it to repeat", 1)]
    [InlineData("a**", "a repetition cannot be repeated", 3)]
    [InlineData("a{2}{3}", "a repetition cannot be repeated", 5)]
    [InlineData("^*", "cannot be repeated", 3)]
    [InlineData("a{5,2}", "greater than the most", 2)]
    [InlineData("a{99999}", "up to 1,000 times", 2)]
    [InlineData("a{99999999999999}", "up to 1,000 times", 2)]
    [InlineData(@"(a)\1", "references to groups", 5)]
    [InlineData("(?=a)", "lookahead, lookbehind", 3)]
    [InlineData("(?<=a)", "lookahead, lookbehind", 4)]
    [InlineData("(?i)a", "options", 3)]
    [InlineData(@"\bword", "'\\b' is not supported", 2)]
    [InlineData(@"\q", "'\\q' has no meaning", 2)]
    [InlineData(@"a\", "it ends with", 3)]
    [InlineData(@"[b-a]", "reverse order", 5)]
    [InlineData(@"\p{Xx}", "a category is written", 4)]
    [InlineData(@"\xZZ", "hexadecimal", 3)]
    public void An_expression_that_cannot_be_read_says_where(string pattern, string problem, int character)
    {
        string message = Assert.Throws<IndexQueryException>(() => RegexPattern.Compile(pattern, text => text)).Message;
        Assert.Contains(problem, message, StringComparison.Ordinal);
        Assert.Contains($"at character {character}:", message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("(a{1000}){1000}")]
    [InlineData("((((a{9}){9}){9}){9}){9}")]
    public void Expressions_that_would_be_without_end_are_refused(string pattern) => Assert.Contains(
        "too complicated", Assert.Throws<IndexQueryException>(() => RegexPattern.Compile(pattern, text => text)).Message,
        StringComparison.Ordinal);

    [Fact]
    public void Nesting_and_length_have_limits()
    {
        Assert.Contains(
            "nested", Assert.Throws<IndexQueryException>(() => RegexPattern.Compile(new string('(', 900), text => text)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "1,024",
            Assert.Throws<IndexQueryException>(() => RegexPattern.Compile(new string('a', 2_000_000), text => text)).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("^(a+)+$")]
    [InlineData("^(a|aa)+$")]
    [InlineData("^(a|a?)+$")]
    [InlineData("^(.*a){12}$")]
    [InlineData("(x+x+)+y")]
    public void What_explodes_when_it_goes_back_takes_a_step_for_each_character(string pattern)
    {
        TermAutomaton automaton = RegexPattern.Compile(pattern, text => text);
        byte[] text = Encoding.UTF8.GetBytes(new string('a', 400) + "!");
        Assert.False(automaton.Matches(text)); // going back, it would not end in this universe
    }

    [Fact]
    public void States_without_number_are_found_as_terms_lead_to_them_and_forgotten_again()
    {
        // Written out it has 2^15 states; the terms lead to more of them than are kept.
        var random = new Random(Seed.Next());
        TermAutomaton automaton = RegexPattern.Compile("^(a|b)*a(a|b){14}$", text => text);
        for (int i = 0; i < 400; i++)
        {
            string text = string.Concat(Enumerable.Range(0, 200).Select(_ => random.Next(2) == 0 ? 'a' : 'b'));
            Assert.Equal(text[^15] == 'a', automaton.Matches(Encoding.UTF8.GetBytes(text)));
        }
    }

    [Fact]
    public void What_is_near_a_text_is_what_a_table_of_edits_says()
    {
        var random = new Random(Seed.Next());
        var make = new RandomPatterns(random);
        for (int round = 0; round < 500; round++)
        {
            string text = make.Text();
            int edits = random.Next(1, 3);
            int prefix = random.Next(3) == 0 ? random.Next(4) : 0;
            TermAutomaton automaton = TextPatterns.Near(text, edits, prefix);
            for (int i = 0; i < 20; i++)
            {
                string other = make.Edited(text);
                Assert.True(
                    NaivePatterns.IsNear(other, text, edits, prefix) == automaton.Matches(Encoding.UTF8.GetBytes(other)),
                    $"'{other}' near '{text}', {edits}, {prefix}");
            }
        }
    }

    [Fact]
    public void Wildcards_match_what_a_recursion_says()
    {
        var random = new Random(Seed.Next());
        var make = new RandomPatterns(random);
        for (int round = 0; round < 500; round++)
        {
            string pattern = make.Wildcard();
            TermAutomaton automaton = TextPatterns.Wildcard(TextPatterns.Cut(pattern));
            for (int i = 0; i < 20; i++)
            {
                string text = make.Text();
                Assert.True(
                    NaivePatterns.IsWildcard(text, pattern) == automaton.Matches(Encoding.UTF8.GetBytes(text)),
                    $"'{pattern}' on '{text}'");
            }
        }
    }

    [Fact]
    public void The_last_of_all_characters_is_one_like_others()
    {
        byte[] last = Encoding.UTF8.GetBytes("\U0010FFFF");
        Assert.True(TextPatterns.Wildcard(TextPatterns.Cut("?*")).Matches(last));
        Assert.True(RegexPattern.Compile("^.$", text => text).Matches(last));
        Assert.True(RegexPattern.Compile("^[^a]$", text => text).Matches(last));
        Assert.True(TextPatterns.Near("a", 1, 0).Matches(last));
    }
}
