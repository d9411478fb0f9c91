using System.Globalization;
using System.Text.RegularExpressions;
using Treepie.Tests.Support;

namespace Treepie.Torture;

/// <summary>docs/reliability.md tells what is run, all of it.</summary>
public sealed partial class ReliabilityPageTests
{
    private static string Page { get; } = File.ReadAllText(Path.Combine(DataSets.RepositoryRoot, "docs", "reliability.md"));

    [Fact]
    public void The_table_of_modes_has_each_mode_in_its_place() => Assert.Equal(
        [.. TortureProgram.ModeNames, "server"],
        ModeInTable().Matches(Page[Page.IndexOf("| mode |", StringComparison.Ordinal)..]).Select(row => row.Groups[1].Value));

    [Fact]
    public void The_page_counts_the_mutants_that_there_are()
    {
        string mutants = File.ReadAllText(Path.Combine(DataSets.RepositoryRoot, "tests", "Mutants", "mutants.txt"));
        Match said = MutantsSaid().Match(Page);
        Assert.True(said.Success, "docs/reliability.md does not say how many mutants tests/Mutants/mutants.txt has.");
        Assert.Equal(Mutant().Count(mutants), int.Parse(said.Groups[1].Value, CultureInfo.InvariantCulture));
    }

    [Fact]
    public void Each_mutant_that_the_page_names_is_there()
    {
        string mutants = File.ReadAllText(Path.Combine(DataSets.RepositoryRoot, "tests", "Mutants", "mutants.txt"));
        int start = Page.IndexOf("Judged apart", StringComparison.Ordinal);
        int end = Page.IndexOf("## Figures", StringComparison.Ordinal);
        string[] named = [.. MutantNamed().Matches(Page[start..end]).Select(match => match.Groups[1].Value)];
        Assert.NotEmpty(named);
        Assert.All(named, name => Assert.Contains($"\n[{name}] ", mutants, StringComparison.Ordinal));
    }

    [Fact]
    public void The_page_says_of_each_mutant_that_is_judged_apart_which_tests_judge_it()
    {
        string tests = Path.Combine(DataSets.RepositoryRoot, "tests");
        string mutants = File.ReadAllText(Path.Combine(tests, "Mutants", "mutants.txt"));
        (string, string)[] listed =
        [
            .. MutantJudgedApart().Matches(mutants).Select(match => (match.Groups[1].Value, match.Groups[2].Value)).Order()
        ];
        (string Mutant, string Tests)[] told =
        [
            .. JudgedInPage().Matches(Page)
                .SelectMany(
                    match => MutantNamed().Matches(match.Groups[1].Value)
                        .Select(name => (name.Groups[1].Value, match.Groups[2].Value)))
                .Order()
        ];
        Assert.NotEmpty(told);
        Assert.Equal(listed, told);
        Assert.All(
            told,
            entry => Assert.Single(
                Directory.GetFiles(Path.Combine(tests, "Storage"), $"{entry.Tests}.cs", SearchOption.AllDirectories)));
    }

    [GeneratedRegex("^\\| `([a-z-]+)`", RegexOptions.Multiline)]
    private static partial Regex ModeInTable();

    [GeneratedRegex("the (\\d+) of `tests/Mutants/mutants.txt`")]
    private static partial Regex MutantsSaid();

    [GeneratedRegex("^\\[", RegexOptions.Multiline)]
    private static partial Regex Mutant();

    [GeneratedRegex("^\\[([a-z0-9-]+)\\] .*\n(?:~ .*\n)?= (\\w+)$", RegexOptions.Multiline)]
    private static partial Regex MutantJudgedApart();

    [GeneratedRegex("((?:`[a-z]+(?:-[a-z]+)+`(?: and )?)+)\\s\\(`(\\w+Tests)`\\)")]
    private static partial Regex JudgedInPage();

    /// <summary>Names of mutants have hyphens and small letters only; those of tests and modes are written otherwise.</summary>
    [GeneratedRegex("`([a-z]+(?:-[a-z]+)+)`")]
    private static partial Regex MutantNamed();
}
