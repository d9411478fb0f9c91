namespace Treepie.Indexing.Queries;

/// <summary>
/// An order of one's own: turns a sort value into bytes that order as the values are to. It is asked on any thread, several at a
/// time, and must give the same bytes for the same value.
/// </summary>
public interface ICustomOrder
{
    /// <summary>Most bytes of a key.</summary>
    const int MaxKeyBytes = 256;

    /// <summary>Name, for plans and positions.</summary>
    string Name { get; }

    /// <summary>Writes the key of a value; returns its length, or -1 where the value counts as null.</summary>
    /// <param name="value">The value.</param>
    /// <param name="key">Room for <see cref="MaxKeyBytes"/>.</param>
    int WriteKey(SortValue value, Span<byte> key);
}

/// <summary>
/// A sort value as the index keeps it: a number, or the stored form of a text (folded, unless the field keeps case).
/// </summary>
public readonly ref struct SortValue
{
    internal SortValue(double? number, ReadOnlySpan<byte> text)
    {
        Number = number;
        Text = text;
    }

    /// <summary>The number; null for a text.</summary>
    public double? Number { get; }

    /// <summary>The text in UTF-8, of a number too; lives for the call.</summary>
    public ReadOnlySpan<byte> Text { get; }
}
