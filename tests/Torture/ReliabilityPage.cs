using System.Globalization;
using System.Text;
using Treepie.Tests.Support;

namespace Treepie.Torture;

/// <summary>Updates the figures in docs/reliability.md: each long run replaces the text between the two markers.</summary>
internal static class ReliabilityPage
{
    private const string Begin = "<!-- figures: written by the torture itself -->";
    private const string End = "<!-- end of figures -->";

    public static void Write(IEnumerable<(string What, string Figure)> figures)
    {
        string path = Path.Combine(DataSets.RepositoryRoot, "docs", "reliability.md");
        string page = File.ReadAllText(path);
        int begin = page.IndexOf(Begin, StringComparison.Ordinal), end = page.IndexOf(End, StringComparison.Ordinal);
        if (begin < 0 || end < begin)
            throw new InvalidOperationException(
                $"'{path}' has no place for the figures: it needs the lines '{Begin}' and '{End}'.");

        var table = new StringBuilder(Begin).Append("\n\n| of the last run | |\n|---|---|\n");
        foreach ((string what, string figure) in figures)
            table.Append(CultureInfo.InvariantCulture, $"| {what} | {figure} |\n");
        File.WriteAllText(path, page[..begin] + table + "\n" + page[end..]);
    }
}
