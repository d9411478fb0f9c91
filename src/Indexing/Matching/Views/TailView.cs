namespace Treepie.Indexing.Matching.Views;

/// <summary>The changes an index has not seen yet, as searches use them.</summary>
/// <param name="Index">The changes as a small index, whose entry ids follow those of the large one.</param>
/// <param name="Gone">Entries of the large index that the changes replace or remove, ascending.</param>
internal sealed record TailView(IndexView Index, long[] Gone);
