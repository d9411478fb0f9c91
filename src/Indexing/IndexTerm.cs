namespace Treepie.Indexing;

/// <summary>A term of a field.</summary>
/// <param name="Text">The term as indexed; for a term of more than 512 bytes, the first 384 and an ellipsis.</param>
/// <param name="EntryCount">The number of entries that contain it.</param>
public readonly record struct IndexTerm(string Text, long EntryCount);

/// <summary>What an index stores for one field of one entry.</summary>
/// <param name="Field">The field.</param>
/// <param name="Terms">The distinct terms; numbers are included as text.</param>
/// <param name="Numbers">The numbers.</param>
/// <param name="HasNull">Whether an explicit null is indexed.</param>
public sealed record IndexEntryField(string Field, IReadOnlyList<string> Terms, IReadOnlyList<double> Numbers, bool HasNull)
{
    /// <summary>
    /// For full-text fields, the positions of each term, starting at 0, ascending; one list per term. Empty for other fields.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<int>> Positions { get; init; } = [];

    /// <summary>
    /// For spatial fields, the points and shapes as WKT, as stored in the index (points rounded to 7 decimals).
    /// </summary>
    public IReadOnlyList<string> Places { get; init; } = [];

    /// <summary>
    /// For vector fields, the vectors as stored in the index. Quantized vectors, with one byte per number, are returned as the
    /// values they represent.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<float>> Vectors { get; init; } = [];
}
