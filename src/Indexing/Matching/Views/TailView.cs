namespace Treepie.Indexing.Matching.Views;

/// <summary>Changes that an index has not seen, as searches see them.</summary>
/// <param name="Index">The changes as a small index, whose entries are numbered on from those of the large one.</param>
/// <param name="Gone">Entries of the large index that the changes replace or remove, ascending.</param>
internal sealed record TailView(IndexView Index, long[] Gone);
