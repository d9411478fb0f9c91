using System.Globalization;
using System.Text;

namespace Treepie.Indexes.Fields;

/// <summary>
/// The way to values inside a document: <c>Address.City</c>, <c>Lines[].Product</c>, <c>Tags[0]</c>. An array on the way is walked
/// element by element whether or not <c>[]</c> says so; <c>[n]</c> takes one element. Immutable; compared by its text, with case.
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
    /// <returns>Null where the text is no path: an empty member, or brackets around something else than a number.</returns>
    public static FieldPath? TryParse(string text)
    {
        string[] parts = text.Split('.');
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
