using System.Globalization;
using System.Text;

namespace Treepie.Indexes.Fields;

/// <summary>
/// The way to values inside a document: <c>Address.City</c>, <c>Lines[].Product</c>, <c>Tags[0]</c>. An array on the way is
/// walked element by element whether or not <c>[]</c> says so; <c>[n]</c> takes one element of an array, and nothing of what is
/// none. Members, or several of them, may stand in quotes: <c>'Ship To'.City</c>. Immutable; compared by its text, with case.
/// </summary>
internal sealed class FieldPath : IEquatable<FieldPath>
{
    /// <summary>First member of paths into metadata.</summary>
    public const string MetadataMember = "@metadata";

    /// <summary>Most members of a path: deeper documents are refused by default too.</summary>
    public const int MaxMembers = 128;

    private readonly Member[] _members;

    private FieldPath(string text, Member[] members)
    {
        Text = text;
        _members = members;
    }

    /// <summary>The path as written.</summary>
    public string Text { get; }

    public int Count => _members.Length;

    /// <summary>Whether it leads into metadata.</summary>
    public bool IsMetadata => _members[0].Name.SequenceEqual("@metadata"u8);

    /// <summary>Whether it takes single elements.</summary>
    public bool HasElementIndex => _members.Any(m => m.Elements.Any(e => e >= 0));

    /// <summary>Name of a member, UTF-8.</summary>
    public ReadOnlySpan<byte> NameOf(int member) => _members[member].Name;

    /// <summary>
    /// Which element of an array is wanted at a member, <paramref name="level"/> arrays deep; -1: all.
    /// </summary>
    public int ElementOf(int member, int level)
    {
        int[] elements = _members[member].Elements;
        return level < elements.Length ? elements[level] : -1;
    }

    /// <summary>How many pairs of brackets stand at a member.</summary>
    public int LevelsOf(int member) => _members[member].Elements.Length;

    /// <summary>Reads the text of a path.</summary>
    /// <returns>
    /// Null where the text is no path: an empty member, brackets around something else than a number, or an open quote.
    /// </returns>
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
    /// A path without the quotes around its members. A quote begins at the start of a member, is doubled inside, and ends where a
    /// member does; what is between quotes is read as a path all the same, as in a query.
    /// </summary>
    /// <param name="text">The path.</param>
    /// <param name="wrongAt">Where it is wrong, from 0: at a quote that is not closed, or behind one that is.</param>
    /// <returns>Null where it is wrong.</returns>
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
