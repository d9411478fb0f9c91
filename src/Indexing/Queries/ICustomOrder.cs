namespace Treepie.Indexing.Queries;

/// <summary>
/// A custom order: converts a sort value to bytes that sort in the intended order. Called on any thread, also concurrently, and
/// must return the same bytes for the same value.
/// </summary>
public interface ICustomOrder
{
    /// <summary>The maximum length of a key in bytes.</summary>
    const int MaxKeyBytes = 256;

    /// <summary>The name, for plans and positions.</summary>
    string Name { get; }

    /// <summary>Writes the key of a value and returns its length, or -1 if the value sorts as null.</summary>
    /// <param name="value">The value.</param>
    /// <param name="key">A buffer of <see cref="MaxKeyBytes"/>.</param>
    int WriteKey(SortValue value, Span<byte> key);
}

/// <summary>
/// A sort value as stored in the index: a number, or the stored form of a text (in lower case, unless the field is
/// case-sensitive).
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

    /// <summary>The text in UTF-8, for numbers as well; valid during the call.</summary>
    public ReadOnlySpan<byte> Text { get; }
}
