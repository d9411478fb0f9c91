namespace Treepie;

/// <summary>How far a compaction is.</summary>
/// <param name="Store">What it is at: <c>documents</c>, or the name of an index.</param>
/// <param name="MovedPages">Pages written again nearer to the front so far, in all stores.</param>
/// <param name="DataFileBytes">Bytes of the data file of that store now.</param>
public readonly record struct CompactionProgress(string Store, long MovedPages, long DataFileBytes);
