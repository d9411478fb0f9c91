namespace Treepie;

/// <summary>What a compaction did.</summary>
/// <param name="Documents">Of the documents; null where they were left out.</param>
/// <param name="Indexes">Of each index, by its name.</param>
public sealed record CompactionReport(CompactedStore? Documents, IReadOnlyDictionary<string, CompactedStore> Indexes)
{
    /// <summary>Bytes of all data files before.</summary>
    public long BytesBefore => (Documents?.BytesBefore ?? 0) + Indexes.Values.Sum(static index => index.BytesBefore);

    /// <summary>Bytes of all data files after.</summary>
    public long BytesAfter => (Documents?.BytesAfter ?? 0) + Indexes.Values.Sum(static index => index.BytesAfter);
}
