namespace Treepie;

/// <summary>The progress of a compaction.</summary>
/// <param name="Store">The current store: <c>documents</c>, or the name of an index.</param>
/// <param name="MovedPages">The number of pages moved so far, in all stores.</param>
/// <param name="DataFileBytes">The current size of the store's data file in bytes.</param>
public readonly record struct CompactionProgress(string Store, long MovedPages, long DataFileBytes);
