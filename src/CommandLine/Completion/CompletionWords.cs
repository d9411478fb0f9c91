using System.CommandLine;

namespace Treepie.CommandLine.Completion;

/// <summary>The words that may follow each command, read from the command definitions.</summary>
internal sealed class CompletionWords
{
    /// <summary>Reads the commands below a root.</summary>
    public CompletionWords(Command root) => Add(root, "", []);

    /// <summary>
    /// The path of each command, such as <c>backups list</c>, with the words that may follow; the root's path is empty.
    /// </summary>
    public SortedDictionary<string, string[]> ByPath { get; } = new(StringComparer.Ordinal);

    private void Add(Command command, string path, IEnumerable<Option> inherited)
    {
        Option[] options = [.. command.Options, .. inherited];
        Command[] commands = [.. command.Subcommands.Where(c => !c.Hidden)];
        ByPath[path] =
        [
            .. commands.SelectMany(c => c.Aliases.Prepend(c.Name))
                .Concat(options.Where(o => !o.Hidden).SelectMany(o => o.Aliases.Prepend(o.Name)))
                .Where(word => !word.StartsWith('/') && !word.Contains('?'))
                .Distinct()
                .Order(StringComparer.Ordinal),
        ];
        Option[] recursive = [.. options.Where(o => o.Recursive)];
        foreach (Command below in commands)
            Add(below, path.Length == 0 ? below.Name : $"{path} {below.Name}", recursive);
    }
}
