namespace Treepie.Indexing.Terms;

/// <summary>What the records of entries refer to.</summary>
internal interface IEntrySource
{
    /// <summary>The stored form of a word of a full-text field, by its number; lives until the next is asked for.</summary>
    ReadOnlySpan<byte> Word(int field, long number);

    /// <summary>Room for the key of a number.</summary>
    Span<byte> NumberRoom { get; }
}
