namespace Treepie.Storage;

/// <summary>Statistics of an environment at one point in time. Cheap to collect: no tree is read.</summary>
public sealed record StorageStatistics
{
    /// <summary>The size of the data file in bytes.</summary>
    public required long DataFileBytes { get; init; }

    /// <summary>The total size of the journal files in bytes.</summary>
    public required long JournalBytes { get; init; }

    /// <summary>The number of journal bytes that a recovery would read now.</summary>
    public long JournalBytesSinceCheckpoint { get; init; }

    /// <summary>The size in bytes of pages in memory: those that no checkpoint has written, and those held by readers.</summary>
    public required long ScratchBytes { get; init; }

    /// <summary>How journal frames are made durable.</summary>
    public JournalSyncMethod JournalSyncMethod { get; init; }

    /// <summary>The number of bytes of journal frames written since opening; each frame is a multiple of 4 KiB.</summary>
    public long JournalBytesWritten { get; init; }

    /// <summary>The number of journal frames written since opening: each is one batch and one sync.</summary>
    public long JournalFramesWritten { get; init; }

    /// <summary>The number of bytes of <see cref="ScratchBytes"/> that a checkpoint still has to write.</summary>
    public long UnwrittenBytes { get; init; }

    /// <summary>
    /// The memory allocated for these pages, in steps of 2 MiB: at most <see cref="StorageOptions.MemoryBudgetBytes"/> if pages
    /// beyond it can be moved to a file.
    /// </summary>
    public long ScratchResidentBytes { get; init; }

    /// <summary>The size in bytes of the temporary file for pages beyond the memory budget.</summary>
    public long SpilledBytes { get; init; }

    /// <summary>The number of free pages of 8 KiB; they are used before the file grows.</summary>
    public required long FreePages { get; init; }

    /// <summary>The id of the last durable transaction.</summary>
    public required long LastTransactionId { get; init; }

    /// <summary>The number of open read transactions.</summary>
    public required int OpenReaders { get; init; }

    /// <summary>The open read transactions, the one with the oldest snapshot first.</summary>
    public IReadOnlyList<ReaderInfo> Readers { get; init; } = [];

    /// <summary>The reader with the oldest snapshot, or null without readers.</summary>
    public ReaderInfo? OldestReader => Readers.Count == 0 ? null : Readers[0];

    /// <summary>
    /// The number of bytes of the data file used only by open readers, as of the last commit or checkpoint. At most one version
    /// of each page for each snapshot that readers have open, however much is written meanwhile.
    /// </summary>
    public long BytesHeldByReaders { get; init; }

    /// <summary>The number of named snapshots.</summary>
    public int NamedSnapshots { get; init; }

    /// <summary>The number of bytes of the data file used only by named snapshots.</summary>
    public long BytesHeldBySnapshots { get; init; }

    /// <summary>The number of checkpoints written since opening.</summary>
    public long Checkpoints { get; init; }

    /// <summary>The time since the last checkpoint; null if there was none since opening.</summary>
    public TimeSpan? SinceLastCheckpoint { get; init; }

    /// <summary>
    /// The number of consecutive failed checkpoints; 0 normally. No data is lost: they are retried with increasing delays, and
    /// the journal is kept meanwhile.
    /// </summary>
    public int CheckpointFailures { get; init; }

    /// <summary>
    /// Why the last checkpoint failed; null if it succeeded. No data is lost: the journal is kept until one succeeds.
    /// </summary>
    public string? LastCheckpointError { get; init; }

    /// <summary>Whether writes are rejected because too much is waiting for a checkpoint while checkpoints fail.</summary>
    public bool IsWritingRefused { get; init; }

    /// <summary>
    /// Why writing is not possible: it has stopped until the environment is opened again, or waits for a checkpoint that fails.
    /// Null if writing is possible.
    /// </summary>
    public string? WritingFault { get; init; }

    /// <summary>The number of damaged pages of the free-space bitmap that were rebuilt since opening.</summary>
    public int RebuiltBitmapPages { get; init; }

    /// <summary>
    /// Statistics of the scrub, which reads pages in use from the disk again; null if the environment is read-only.
    /// </summary>
    public ScrubStatistics? Scrub { get; init; }

    /// <summary>The detected properties of the system and the file system.</summary>
    public required StoragePlatform Platform { get; init; }

    /// <summary>Whether the environment is encrypted.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>The memory in bytes used by decrypted pages, including memory kept for reuse.</summary>
    public long DecryptedBytes { get; init; }

    /// <summary>
    /// Whether the system keeps decrypted pages, and those waiting for a checkpoint, out of swap; if it does not, the limit of
    /// locked memory (ulimit -l) is too low.
    /// </summary>
    public bool IsDecryptedMemoryLocked { get; init; }

    /// <summary>The id of the transaction that the oldest open reader sees; null without readers.</summary>
    public required long? OldestReaderTransactionId { get; init; }
}
