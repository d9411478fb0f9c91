namespace Treepie.Indexing;

/// <summary>A term of a field.</summary>
/// <param name="Text">As it is indexed. Of a term of more than 512 bytes the first 384 and an ellipsis.</param>
/// <param name="EntryCount">Entries that have it.</param>
public readonly record struct IndexTerm(string Text, long EntryCount);

/// <summary>What the index holds of one entry in one field.</summary>
/// <param name="Field">The field.</param>
/// <param name="Terms">Terms, each once, numbers among them as text.</param>
/// <param name="Numbers">Numbers.</param>
/// <param name="HasNull">Whether there is an explicit null.</param>
public sealed record IndexEntryField(string Field, IReadOnlyList<string> Terms, IReadOnlyList<double> Numbers, bool HasNull)
{
    /// <summary>
    /// Of a field of words: where each of the terms stands, counted from 0, ascending; as many as there are terms. Empty for
    /// other fields.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<int>> Positions { get; init; } = [];

    /// <summary>Of a field of places: points and shapes as WKT, as the index keeps them (points to 7 decimals).</summary>
    public IReadOnlyList<string> Places { get; init; } = [];

    /// <summary>
    /// Of a field of vectors: the vectors as the index keeps them: all numbers, or where it keeps a byte for each, what these
    /// stand for.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<float>> Vectors { get; init; } = [];
}
