namespace Treepie.Indexing.Terms;

/// <summary>Resolves the references in entry records.</summary>
internal interface IEntrySource
{
    /// <summary>Returns the stored form of a word of a full-text field by its number; valid until the next call.</summary>
    ReadOnlySpan<byte> Word(int field, long number);

    /// <summary>
    /// Returns the sort value of an entry: the stored form of a term, or the key of a number; valid until the next call.
    /// </summary>
    ReadOnlySpan<byte> SortValue(int field, long id, out bool isNumber);

    /// <summary>A buffer for the key of a number.</summary>
    Span<byte> NumberRoom { get; }
}
