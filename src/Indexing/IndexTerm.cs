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
public sealed record IndexEntryField(string Field, IReadOnlyList<string> Terms, IReadOnlyList<double> Numbers, bool HasNull);
