namespace Treepie.Indexing.Terms;

/// <summary>What the records of entries refer to.</summary>
internal interface IEntrySource
{
    /// <summary>The stored form of a word of a full-text field, by its number; lives until the next is asked for.</summary>
    ReadOnlySpan<byte> Word(int field, long number);

    /// <summary>
    /// The sort value of an entry: the stored form of a term, or the key of a number; lives until the next is asked for.
    /// </summary>
    ReadOnlySpan<byte> SortValue(int field, long id, out bool isNumber);

    /// <summary>Room for the key of a number.</summary>
    Span<byte> NumberRoom { get; }
}
