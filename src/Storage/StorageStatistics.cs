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

    /// <summary>How journal frames are made durable.</summary>
    public JournalSyncMethod JournalSyncMethod { get; init; }

    /// <summary>Bytes of journal frames written since opening, each a multiple of 4 KiB.</summary>
    public long JournalBytesWritten { get; init; }

    /// <summary>Journal frames written since opening: each is one merged batch and one sync.</summary>
    public long JournalFramesWritten { get; init; }

    /// <summary>Journal files that wait for the archiver.</summary>
    public int UnarchivedJournalFiles { get; init; }

    /// <summary>Journal files used again since opening though the archiver did not have them: the archive has gaps there.</summary>
    public long JournalFilesLostToArchive { get; init; }

    /// <summary>Why the archiver did not take the last file it was given, or null.</summary>
    public string? LastArchiveError { get; init; }

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
