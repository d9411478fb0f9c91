using System.Globalization;
using System.Text;

namespace Treepie.Indexes.Fields;

/// <summary>
/// The path of values in a document: <c>Address.City</c>, <c>Lines[].Product</c>, <c>Tags[0]</c>. An array on the path is
/// expanded to its elements with or without <c>[]</c>; <c>[n]</c> selects one element of an array, and nothing of other
/// values. One or several members may be quoted: <c>'Ship To'.City</c>. Immutable; compared by its text, case-sensitive.
/// </summary>
internal sealed class FieldPath : IEquatable<FieldPath>
{
    /// <summary>The first member of paths in metadata.</summary>
    public const string MetadataMember = "@metadata";

    /// <summary>The maximum number of members of a path: the default limit on the depth of documents.</summary>
    public const int MaxMembers = 128;

    private readonly Member[] _members;

    private FieldPath(string text, Member[] members)
    {
        Text = text;
        _members = members;
        HasBrackets = members.Any(static member => member.Elements.Length > 0);
    }

    /// <summary>The path as written.</summary>
    public string Text { get; }

    public int Count => _members.Length;

    /// <summary>Whether it is a path in metadata.</summary>
    public bool IsMetadata => _members[0].Name.SequenceEqual("@metadata"u8);

    /// <summary>Whether it selects single elements.</summary>
    public bool HasElementIndex => _members.Any(m => m.Elements.Any(e => e >= 0));

    /// <summary>Whether it has brackets, which only mean something to arrays.</summary>
    public bool HasBrackets { get; }

    /// <summary>Returns the name of a member, in UTF-8.</summary>
    public ReadOnlySpan<byte> NameOf(int member) => _members[member].Name;

    /// <summary>
    /// Returns the index of the array element selected at a member, <paramref name="level"/> arrays deep; -1 for all.
    /// </summary>
    public int ElementOf(int member, int level)
    {
        int[] elements = _members[member].Elements;
        return level < elements.Length ? elements[level] : -1;
    }

    /// <summary>Returns the number of bracket pairs at a member.</summary>
    public int LevelsOf(int member) => _members[member].Elements.Length;

    /// <summary>Parses a path.</summary>
    /// <returns>Null if the text is not a path: an empty member, brackets around something other than a number, or an
    /// unclosed quote.</returns>
    public static FieldPath? TryParse(string text)
    {
        if (WithoutQuotes(text, out _) is not { } plain)
            return null;

        string[] parts = plain.Split('.');
        if (parts.Length > MaxMembers)
            return null;

        var members = new Member[parts.Length];
        for (int i = 0; i < parts.Length; i++)
        {
            string part = parts[i];
            int bracket = part.IndexOf('[', StringComparison.Ordinal);
            string name = bracket < 0 ? part : part[..bracket];
            int[]? elements = bracket < 0 ? [] : ParseElements(part.AsSpan(bracket));
            if (name.Length == 0 || elements is null)
                return null;

            members[i] = new Member(Encoding.UTF8.GetBytes(name), elements);
        }

        return new FieldPath(text, members);
    }

    /// <summary>
    /// Returns a path without the quotes around its members. A quote starts at the start of a member, is doubled inside, and
    /// ends at the end of a member; the quoted text is still parsed as a path, as in a query.
    /// </summary>
    /// <param name="text">The path.</param>
    /// <param name="wrongAt">The position of the error, starting at 0: a quote that is not closed, or the character after a
    /// closed one.</param>
    /// <returns>Null if the quotes are not valid.</returns>
    public static string? WithoutQuotes(string text, out int wrongAt)
    {
        wrongAt = -1;
        if (text.AsSpan().IndexOfAny('\'', '"') < 0)
            return text;

        var plain = new StringBuilder(text.Length);
        bool isAtStart = true;
        for (int i = 0; i < text.Length; i++)
        {
            char c = text[i];
            if (!isAtStart || c is not ('\'' or '"'))
            {
                plain.Append(c);
                isAtStart = c == '.';
                continue;
            }

            int start = i;
            for (i++; i < text.Length && (text[i] != c || At(i + 1) == c); i++)
            {
                plain.Append(text[i]);
                i += text[i] == c ? 1 : 0;
            }

            isAtStart = false;
            wrongAt = i >= text.Length ? start : At(i + 1) is '.' or '[' or '\0' ? -1 : i + 1;
            if (wrongAt >= 0)
                return null;
        }

        return plain.ToString();

        char At(int place) => place < text.Length ? text[place] : '\0';
    }

    private static int[]? ParseElements(ReadOnlySpan<char> brackets)
    {
        var elements = new List<int>();
        while (brackets.Length > 0)
        {
            int close = brackets.IndexOf(']');
            if (brackets[0] != '[' || close < 0)
                return null;

            ReadOnlySpan<char> inside = brackets[1..close];
            int element = -1;
            if (inside.Length > 0 && !int.TryParse(inside, NumberStyles.None, CultureInfo.InvariantCulture, out element))
                return null;

            elements.Add(element);
            brackets = brackets[(close + 1)..];
        }

        return [.. elements];
    }

    public bool Equals(FieldPath? other) => other is not null && string.Equals(Text, other.Text, StringComparison.Ordinal);

    public override bool Equals(object? obj) => Equals(obj as FieldPath);

    public override int GetHashCode() => string.GetHashCode(Text, StringComparison.Ordinal);

    public override string ToString() => Text;

    private sealed record Member(byte[] Name, int[] Elements);
}
