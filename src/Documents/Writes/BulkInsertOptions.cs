namespace Treepie.Writes;

/// <summary>How a bulk insert groups documents. Immutable.</summary>
public sealed record BulkInsertOptions
{
    /// <summary>Most documents in one durable batch. Default 4,096.</summary>
    public int MaxBatchDocuments { get; init; } = 4096;

    /// <summary>
    /// Most bytes of JSON in one durable batch, apart from a single larger document. Default 4 MiB. Two batches are in memory at
    /// most.
    /// </summary>
    public int MaxBatchBytes { get; init; } = 4 * 1024 * 1024;

    /// <summary>Leaves documents alone that are there already with the same content.</summary>
    public bool SkipUnchanged { get; init; }
}

/// <summary>How far a bulk insert is.</summary>
/// <param name="Documents">Documents that are durable.</param>
/// <param name="Batches">Batches that are durable.</param>
/// <param name="LastId">Id, as given, of the last durable document; null before the first.</param>
public sealed record BulkInsertProgress(long Documents, long Batches, string? LastId);
