namespace Treepie.Writes;

/// <summary>Options of a bulk insert. Immutable.</summary>
public sealed record BulkInsertOptions
{
    /// <summary>The maximum number of documents in a batch. Default: 4,096.</summary>
    public int MaxBatchDocuments { get; init; } = 4096;

    /// <summary>
    /// The maximum size of a batch in bytes of JSON, unless a single document is larger. Default: 4 MiB. At most two batches are
    /// in memory.
    /// </summary>
    public int MaxBatchBytes { get; init; } = 4 * 1024 * 1024;

    /// <summary>Skips documents that already exist with the same content.</summary>
    public bool SkipUnchanged { get; init; }
}

/// <summary>The progress of a bulk insert.</summary>
/// <param name="Documents">The number of durable documents.</param>
/// <param name="Batches">The number of durable batches.</param>
/// <param name="LastId">The id, as given, of the last durable document; null before the first.</param>
public sealed record BulkInsertProgress(long Documents, long Batches, string? LastId);
