namespace Treepie;

/// <summary>Options of an operation that changes many documents in durable batches.</summary>
public sealed record OperationOptions
{
    /// <summary>The default of <see cref="BatchDocuments"/>.</summary>
    public const int DefaultBatchDocuments = 1_024;

    /// <summary>
    /// Is told after each batch how far the operation is. <see cref="QueryChangeProgress.Total"/> is then counted first. Null:
    /// nobody is told.
    /// </summary>
    public IProgress<QueryChangeProgress>? Progress { get; init; }

    /// <summary>The maximum number of documents of a batch, which is one commit: 1 to 65,536. Default: 1,024.</summary>
    public int BatchDocuments { get; init; } = DefaultBatchDocuments;
}
