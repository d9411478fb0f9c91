using System.Collections.Frozen;

namespace Treepie.Linq;

/// <summary>The path of a value in a document, as written in RQL.</summary>
/// <param name="Text">The path; empty for the document itself.</param>
/// <param name="Type">The C# type of the value.</param>
internal sealed record DocumentPath(string Text, Type Type)
{
    private static readonly FrozenSet<string> _words = FrozenSet.Create(
        StringComparer.OrdinalIgnoreCase,
        "as", "select", "where", "load", "group", "order", "include", "update", "offset", "limit", "filter", "filter_limit",
        "scale", "true", "false", "null", "and", "or", "not", "in", "all", "between");

    /// <summary>Whether it is the document's id.</summary>
    public bool IsId { get; init; }

    /// <summary>Whether it represents any element of an array: a condition matches if it matches for at least one.</summary>
    public bool IsOfElements { get; init; }

    /// <summary>Whether the C# comparison is case-insensitive too.</summary>
    public bool IgnoresCase { get; init; }

    /// <summary>Whether it is the least or greatest value of a group, which can be a number or a string.</summary>
    public bool IsExtreme { get; init; }

    /// <summary>The path as conditions and orders have it: times with an offset are compared as moments.</summary>
    public string Compared => IsOffset(Type) ? $"utc({Text})" : Text;

    /// <summary>Whether it is the document itself.</summary>
    public bool IsRoot => Text.Length == 0;

    /// <summary>Returns the path of a member.</summary>
    public DocumentPath Member(string name, Type type) =>
        this with { Text = IsRoot ? Quoted(name) : $"{Text}.{Quoted(name)}", Type = type };

    /// <summary>Returns the path of any of its elements.</summary>
    public DocumentPath Elements(Type type) => this with { Text = Text + "[]", Type = type, IsOfElements = true };

    /// <summary>Returns the path of one element.</summary>
    public DocumentPath Element(int index, Type type) =>
        this with { Text = string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{Text}[{index}]"), Type = type };

    /// <summary>Whether values of a type are times with an offset.</summary>
    public static bool IsOffset(Type type) => (Nullable.GetUnderlyingType(type) ?? type) == typeof(DateTimeOffset);

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
