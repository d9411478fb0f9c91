using System.Text.RegularExpressions;
using Treepie.Tests.Support;

namespace Treepie.Architecture.Tests;

/// <summary>What the pages of <c>docs</c> say where a program can look whether it is so.</summary>
public sealed partial class PagesTests
{
    [Theory]
    [MemberData(nameof(RoomOrderTests.Rooms), MemberType = typeof(RoomOrderTests))]
    public void The_page_about_the_house_has_its_rooms_in_their_order(string assembly, string[] rooms)
    {
        string project = assembly == "Treepie" ? "Documents" : assembly["Treepie.".Length..];
        string page = File.ReadAllText(Page("docs/architecture.md"));
        int start = page.IndexOf($"\n### {project}\n", StringComparison.Ordinal);
        Assert.True(start > 0, $"docs/architecture.md has no table of the rooms of {project}.");
        int end = NextHeading().Match(page, start + 2) is { Success: true } next ? next.Index : page.Length;
        Assert.Equal(rooms, RoomInTable().Matches(page[start..end]).Select(row => row.Groups[1].Value));
    }

    [Fact]
    public void The_page_about_the_house_has_the_rooms_inside_of_rooms()
    {
        string source = Page("src");
        IEnumerable<string> inner =
            from project in Directory.EnumerateDirectories(source)
            from room in Directory.EnumerateDirectories(project)
            where Path.GetFileName(room) is not ("bin" or "obj")
            from folder in Directory.EnumerateDirectories(room)
            where Directory.EnumerateFiles(folder, "*.cs").Any()
            select $"{Path.GetFileName(room)}/{Path.GetFileName(folder)}";
        IEnumerable<string> listed = InnerRoomInTable()
            .Matches(File.ReadAllText(Page("docs/architecture.md")))
            .Select(row => row.Groups[1].Value);
        Assert.Equal(inner.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("docs/internals/file-format.md", "Everything here is format version (\\d+)", "src/Storage/Format/MetaPage.cs")]
    [InlineData(
        "docs/internals/file-format.md", "An index is an environment of its own, in format (\\d+)",
        "src/Indexing/Catalogue/IndexState.cs")]
    [InlineData("docs/internals/backup-format.md", "^\\| 8 \\| 2 \\| version, (\\d+);", "src/Storage/Backups/PartFormat.cs")]
    public void The_pages_about_formats_are_about_the_formats_that_are_written(string page, string says, string source)
    {
        Match said = Regex.Match(File.ReadAllText(Page(page)), says, RegexOptions.Multiline);
        Assert.True(said.Success, $"{page} does not say '{says}'.");
        Assert.Equal(Version().Match(File.ReadAllText(Page(source))).Groups[1].Value, said.Groups[1].Value);
    }

    [Theory]
    [InlineData("up to (\\d+) entries, which are stored with the word", "Postings/FlatPostings.cs", "MaxEntries")]
    [InlineData("its best (\\d+) entries", "Postings/ListHead.cs", "MaxEntries")]
    [InlineData("at most (\\d+) entries per window", "Matching/Lists/ListIntersection.cs", "MostPerWindow")]
    [InlineData("must match, up to (\\d+) lists", "TopK/TopKPlan.cs", "MostTerms")]
    [InlineData("handles up to ([\\d,]+) requested hits", "TopK/TopKPlan.cs", "MostWanted")]
    [InlineData("at most (\\d+) expected hits", "Searching/BoundedRanking.cs", "FewHits")]
    public void The_page_about_ways_to_search_has_the_numbers_that_choose(string says, string source, string name)
    {
        Match said = Regex.Match(File.ReadAllText(Page("docs/internals/search.md")), says);
        Assert.True(said.Success, $"docs/internals/search.md does not say '{says}'.");
        Match written = Regex.Match(File.ReadAllText(Page($"src/Indexing/{source}")), $"const int {name} = ([\\d_]+);");
        Assert.Equal(
            written.Groups[1].Value.Replace("_", "", StringComparison.Ordinal),
            said.Groups[1].Value.Replace(",", "", StringComparison.Ordinal));
    }

    [Fact]
    public void The_page_about_ways_to_search_names_classes_there_are()
    {
        string[] named =
            [.. Quoted().Matches(File.ReadAllText(Page("docs/internals/search.md"))).Select(name => name.Groups[1].Value)];
        HashSet<string> there =
        [
            .. Directory.EnumerateFiles(Page("src/Indexing"), "*.cs", SearchOption.AllDirectories)
                .Select(file => Path.GetFileNameWithoutExtension(file)),
            "Searching"
        ];
        Assert.NotEmpty(named);
        Assert.Empty(named.Except(there));
    }

    [Fact]
    public void Links_between_pages_lead_somewhere()
    {
        string[] pages =
        [
            "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "samples/README.md", "samples/shop/README.md",
            "samples/datasets/README.md",
            .. Directory.EnumerateFiles(Page("docs"), "*.md", SearchOption.AllDirectories)
                .Select(file => Path.GetRelativePath(DataSets.RepositoryRoot, file))
        ];
        string[] broken = [
            .. pages.SelectMany(page => Link().Matches(File.ReadAllText(Page(page))).Select(link => (page, link.Groups[1].Value)))
                .Where(link => !Leads(link.page, link.Value))
                .Select(link => $"{link.page}: {link.Value}")];
        Assert.True(broken.Length == 0, string.Join('\n', broken));
    }

    private static bool Leads(string page, string link)
    {
        if (link.Contains("://", StringComparison.Ordinal))
            return true;
        string[] parts = link.Split('#');
        // a page lies in a folder
        string target = parts[0].Length == 0
            ? Page(page)
            : Path.GetFullPath(Path.Combine(Path.GetDirectoryName(Page(page))!, parts[0]));
        return parts.Length == 1
            ? Path.Exists(target)
            : File.Exists(target) && File.ReadLines(target).Any(line => line.StartsWith('#') && Anchor(line) == parts[1]);
    }

    /// <summary>What browsers call a heading.</summary>
    private static string Anchor(string heading) =>
        NotInAnchors().Replace(heading.TrimStart('#').Trim().ToLowerInvariant(), "").Replace(' ', '-');

    private static string Page(string path) => Path.Combine(DataSets.RepositoryRoot, path);

    [GeneratedRegex("^#", RegexOptions.Multiline)]
    private static partial Regex NextHeading();

    /// <summary>A row of a table that says what is found in a room.</summary>
    [GeneratedRegex("^\\| `(\\w+)` \\| \\S.* \\|$", RegexOptions.Multiline)]
    private static partial Regex RoomInTable();

    /// <summary>The same of a room inside of a room.</summary>
    [GeneratedRegex("^\\| `([A-Z]\\w*/\\w+)` \\| \\S.* \\|$", RegexOptions.Multiline)]
    private static partial Regex InnerRoomInTable();

    [GeneratedRegex("`([A-Za-z0-9]+)`")]
    private static partial Regex Quoted();

    [GeneratedRegex("const int (?:FormatVersion|Version) = (\\d+);")]
    private static partial Regex Version();

    [GeneratedRegex("\\]\\(([^)\\s]+)\\)")]
    private static partial Regex Link();

    [GeneratedRegex("[^\\p{L}\\p{N} _-]")]
    private static partial Regex NotInAnchors();
}
