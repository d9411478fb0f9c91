namespace Treepie;

/// <summary>The result of a compaction.</summary>
/// <param name="Documents">The result for the documents; null if they were not compacted.</param>
/// <param name="Indexes">The results for the indexes, by name.</param>
public sealed record CompactionReport(CompactedStore? Documents, IReadOnlyDictionary<string, CompactedStore> Indexes)
{
    /// <summary>The total size of the data files before, in bytes.</summary>
    public long BytesBefore => (Documents?.BytesBefore ?? 0) + Indexes.Values.Sum(static index => index.BytesBefore);

    /// <summary>The total size of the data files after, in bytes.</summary>
    public long BytesAfter => (Documents?.BytesAfter ?? 0) + Indexes.Values.Sum(static index => index.BytesAfter);
}
