using System.Text.RegularExpressions;
using Treepie.Tests.Support;

namespace Treepie.Architecture.Tests.PublicApi;

/// <summary>
/// The pages about the API are made from the packages and their comments. <c>TREEPIE_ACCEPT_API=1</c> writes them anew.
/// </summary>
public sealed partial class ApiPagesTests
{
    private static readonly string[] _packages =
    [
        "Treepie", "Treepie.Extensions.Hosting", "Treepie.Computing", "Treepie.S3", "Treepie.Server", "Treepie.Indexing",
        "Treepie.Storage"
    ];

    private static string Folder => Path.Combine(DataSets.RepositoryRoot, "docs", "reference", "api");

    private static IReadOnlyDictionary<string, string> Pages() => ApiPages.Of(
        [.. _packages.Select(package => (package, LoadedPackage.Of(Assemblies.PathOf(package))))]);

    [Fact]
    public void The_pages_about_the_API_say_what_the_packages_have()
    {
        IReadOnlyDictionary<string, string> pages = Pages();
        if (Environment.GetEnvironmentVariable("TREEPIE_ACCEPT_API") == "1")
        {
            Directory.CreateDirectory(Folder);
            foreach (string old in Directory.GetFiles(Folder))
                File.Delete(old);
            foreach ((string name, string text) in pages)
                File.WriteAllText(Path.Combine(Folder, name), text);
        }

        const string Advice = "If that is wanted, run this test with TREEPIE_ACCEPT_API=1 and commit docs/reference/api.";
        string[] there = Directory.Exists(Folder) ? [.. Directory.GetFiles(Folder).Select(file => Path.GetFileName(file))] : [];
        Assert.True(
            pages.Keys.Order(StringComparer.Ordinal).SequenceEqual(there.Order(StringComparer.Ordinal)),
            $"The packages have other namespaces than docs/reference/api has pages. {Advice}");
        foreach ((string name, string text) in pages)
            Assert.True(
                File.ReadAllText(Path.Combine(Folder, name)) == text,
                $"The API or its comments are not what docs/reference/api/{name} says. {Advice}");
    }

    [Fact]
    public void Members_stand_there_with_signature_comment_parameters_and_exceptions()
    {
        IReadOnlyDictionary<string, string> pages = Pages();
        string database = pages["Treepie.md"], sessions = pages["Treepie.Sessions.md"];
        Assert.Contains(
            "\n**`static Database Open(string path, DatabaseOptions? options = null)`**\n\n", database, StringComparison.Ordinal);
        Assert.Contains(
            "\n- throws [`ConcurrencyException`](Treepie.md#concurrencyexception): ", sessions, StringComparison.Ordinal);
        Assert.Contains("[`Database`](Treepie.md#database)", pages["README.md"], StringComparison.Ordinal);
        Assert.Equal([], SilentMember().Matches(string.Concat(pages.Values)).Select(found => found.Groups[1].Value));
    }

    [GeneratedRegex(@"\*\*`([^\n]+)`\*\*\n\n(?=\*\*`|## )")]
    private static partial Regex SilentMember();
}
