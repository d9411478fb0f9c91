using System.Text.RegularExpressions;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests.Pages;

/// <summary>A fenced block of a page.</summary>
/// <param name="Page">The path of the page in the repository.</param>
/// <param name="Line">The line of the page on which it begins.</param>
/// <param name="Language">What stands behind the fence.</param>
/// <param name="Text">What is between the fences.</param>
internal sealed partial record PageBlock(string Page, int Line, string Language, string Text)
{
    /// <summary>Reads the blocks of a page.</summary>
    public static IReadOnlyList<PageBlock> Read(string page)
    {
        string text = File.ReadAllText(Path.Combine(DataSets.RepositoryRoot, page));
        return
        [
            .. Fenced().Matches(text).Select(match => new PageBlock(
                page, text.AsSpan(0, match.Index).Count('\n') + 1, match.Groups[1].Value, match.Groups[2].Value)),
        ];
    }

    public override string ToString() => $"{Page}, line {Line}";

    [GeneratedRegex("^```([^\n]*)\n(.*?)^```$", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex Fenced();
}
