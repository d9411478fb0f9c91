using System.CommandLine;
using System.Text.RegularExpressions;
using Treepie.CommandLine;
using Treepie.CommandLine.Commands;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary>Command lines in the documents, against the commands that there are.</summary>
public sealed partial class DocumentedCommandsTests
{
    [Fact]
    public void Each_command_line_of_the_documents_is_understood()
    {
        string root = DataSets.RepositoryRoot;
        string[] pages =
        [
            Path.Combine(root, "README.md"), Path.Combine(root, "src", "CommandLine", "README.md"),
            .. Directory.EnumerateFiles(Path.Combine(root, "docs"), "*.md", SearchOption.AllDirectories),
        ];
        var wrong = new List<string>();
        int count = 0;
        foreach (string page in pages)
        {
            foreach (string line in File.ReadLines(page).Where(static line => CommandLine().IsMatch(line)))
            {
                string[] arguments = [.. Word().Matches(Comment().Replace(line, "")).Skip(1).Select(Unquoted)];
                ParseResult parsed = TreepieCommand.Create(arguments, Shell.OfProcess()).Parse(arguments);
                wrong.AddRange(
                    from error in parsed.Errors
                    where !error.Message.StartsWith("File does not exist", StringComparison.Ordinal) // nor need it
                    select $"{Path.GetRelativePath(root, page)}: {line}: {error.Message}");
                count++;
            }
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
        Assert.True(count > 30, $"Only {count} command lines were found.");
    }

    private static string Unquoted(Match word) =>
        word.Value.StartsWith('\'') ? word.Value.Trim('\'') : word.Value.Replace("\"", "", StringComparison.Ordinal);

    [GeneratedRegex(@"^treepie [a-z]")]
    private static partial Regex CommandLine();

    [GeneratedRegex(@"\s+#.*$")]
    private static partial Regex Comment();

    [GeneratedRegex("""(?:"[^"]*"|'[^']*'|[^\s"'])+""")]
    private static partial Regex Word();
}
