namespace Treepie.Storage;

/// <summary>Figures of an environment at one moment.</summary>
public sealed record StorageStatistics
{
    /// <summary>Bytes of the data file.</summary>
    public required long DataFileBytes { get; init; }

    /// <summary>Bytes of all journal files.</summary>
    public required long JournalBytes { get; init; }

    /// <summary>Bytes of pages that are not yet in the data file.</summary>
    public required long ScratchBytes { get; init; }

    /// <summary>Pages that hold nothing anyone can see.</summary>
    public required long FreePages { get; init; }

    /// <summary>Number of the last durable transaction.</summary>
    public required long LastTransactionId { get; init; }

    /// <summary>Open read transactions.</summary>
    public required int OpenReaders { get; init; }

    /// <summary>Why the last checkpoint failed, or null if it did not. Nothing is lost then: the journal stays until one succeeds.</summary>
    public string? LastCheckpointError { get; init; }

    /// <summary>Transaction number the oldest open reader sees, or null without readers.</summary>
    public required long? OldestReaderTransactionId { get; init; }
}
