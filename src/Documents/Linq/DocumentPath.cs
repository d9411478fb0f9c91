using System.Collections.Frozen;

namespace Treepie.Linq;

/// <summary>Where in a document a value stands, as RQL writes it.</summary>
/// <param name="Text">The path; empty for the document itself.</param>
/// <param name="Type">The C# type of what stands there.</param>
internal sealed record DocumentPath(string Text, Type Type)
{
    private static readonly FrozenSet<string> _words = FrozenSet.Create(
        StringComparer.OrdinalIgnoreCase,
        "as", "select", "where", "load", "group", "order", "include", "update", "offset", "limit", "filter", "filter_limit",
        "scale", "true", "false", "null", "and", "or", "not", "in", "all", "between");

    /// <summary>Whether it is the document's id.</summary>
    public bool IsId { get; init; }

    /// <summary>Whether it stands for one element of an array, whichever: a condition then holds where it holds of any.</summary>
    public bool IsOfElements { get; init; }

    /// <summary>Whether the text is compared without case in C# too.</summary>
    public bool IgnoresCase { get; init; }

    /// <summary>Whether it is the document itself.</summary>
    public bool IsRoot => Text.Length == 0;

    /// <summary>A member of it.</summary>
    public DocumentPath Member(string name, Type type) =>
        this with { Text = IsRoot ? Quoted(name) : $"{Text}.{Quoted(name)}", Type = type };

    /// <summary>One of its elements, whichever.</summary>
    public DocumentPath Elements(Type type) => this with { Text = Text + "[]", Type = type, IsOfElements = true };

    /// <summary>One element of it.</summary>
    public DocumentPath Element(int index, Type type) =>
        this with { Text = string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{Text}[{index}]"), Type = type };

    private static string Quoted(string name)
    {
        bool isPlain = name.Length > 0
            && (char.IsLetter(name[0]) || name[0] is '_' or '@')
            && name.All(sign => char.IsLetterOrDigit(sign) || sign is '_' or '@')
            && !_words.Contains(name);
        if (isPlain)
            return name;
        return name.Length > 0 && name.AsSpan().IndexOfAny(".[]\\") < 0
            ? $"'{name.Replace("'", "''", StringComparison.Ordinal)}'"
            : throw new NotSupportedException(
                $"A query cannot name the member '{name}': a name in a path has a sign and none of '.', '[', ']' and '\\'. Store "
                    + $"it under another name.");
    }
}
