namespace Treepie.Indexing.Terms;

/// <summary>Resolves what entry records refer to.</summary>
internal interface IEntrySource
{
    /// <summary>The stored form of a word of a full-text field, by its number; valid until the next call.</summary>
    ReadOnlySpan<byte> Word(int field, long number);

    /// <summary>
    /// The sort value of an entry: the stored form of a term, or the key of a number; valid until the next call.
    /// </summary>
    ReadOnlySpan<byte> SortValue(int field, long id, out bool isNumber);

    /// <summary>A buffer for the key of a number.</summary>
    Span<byte> NumberRoom { get; }
}
