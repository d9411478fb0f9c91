namespace Treepie.Storage;

/// <summary>Figures of an environment at one moment. Cheap to collect: nothing is walked.</summary>
public sealed record StorageStatistics
{
    /// <summary>Bytes of the data file.</summary>
    public required long DataFileBytes { get; init; }

    /// <summary>Bytes of all journal files.</summary>
    public required long JournalBytes { get; init; }

    /// <summary>Bytes of journal that a recovery would read now.</summary>
    public long JournalBytesSinceCheckpoint { get; init; }

    /// <summary>Bytes of pages in memory: those that no checkpoint has written, and those that readers still hold.</summary>
    public required long ScratchBytes { get; init; }

    /// <summary>How journal frames are made durable.</summary>
    public JournalSyncMethod JournalSyncMethod { get; init; }

    /// <summary>Bytes of journal frames written since opening, each a multiple of 4 KiB.</summary>
    public long JournalBytesWritten { get; init; }

    /// <summary>Journal frames written since opening: each is one merged batch and one sync.</summary>
    public long JournalFramesWritten { get; init; }

    /// <summary>Bytes among these that a checkpoint still has to write.</summary>
    public long UnwrittenBytes { get; init; }

    /// <summary>
    /// Memory taken for these pages, in steps of 2 MiB: up to <see cref="StorageOptions.MemoryBudgetBytes"/> where what is over
    /// can lie in a file.
    /// </summary>
    public long ScratchResidentBytes { get; init; }

    /// <summary>Bytes of the temporary file in which pages lie that are beyond the budget of memory.</summary>
    public long SpilledBytes { get; init; }

    /// <summary>Pages of 8 KiB that hold nothing anyone can see; they are used before the file grows.</summary>
    public required long FreePages { get; init; }

    /// <summary>Number of the last durable transaction.</summary>
    public required long LastTransactionId { get; init; }

    /// <summary>Open read transactions.</summary>
    public required int OpenReaders { get; init; }

    /// <summary>Open read transactions, the one with the oldest snapshot first.</summary>
    public IReadOnlyList<ReaderInfo> Readers { get; init; } = [];

    /// <summary>The reader with the oldest snapshot, or null without readers.</summary>
    public ReaderInfo? OldestReader => Readers.Count == 0 ? null : Readers[0];

    /// <summary>
    /// Bytes of the data file that hold what only open readers see, as of the last commit or checkpoint. At most one version of
    /// each page for each snapshot that readers have open, however much is written meanwhile.
    /// </summary>
    public long BytesHeldByReaders { get; init; }

    /// <summary>Named snapshots.</summary>
    public int NamedSnapshots { get; init; }

    /// <summary>Bytes of the data file that hold what only named snapshots see.</summary>
    public long BytesHeldBySnapshots { get; init; }

    /// <summary>Checkpoints written since opening.</summary>
    public long Checkpoints { get; init; }

    /// <summary>Time since the last checkpoint that was written; null if none was since opening.</summary>
    public TimeSpan? SinceLastCheckpoint { get; init; }

    /// <summary>
    /// Alarm: attempts in a row that failed. Nothing is lost, they are repeated with growing waits, the journal keeps everything
    /// meanwhile. 0 when all is well.
    /// </summary>
    public int CheckpointFailures { get; init; }

    /// <summary>
    /// Why the last checkpoint failed, or null if it did not. Nothing is lost then: the journal stays until one succeeds.
    /// </summary>
    public string? LastCheckpointError { get; init; }

    /// <summary>Whether writes are refused because too much waits for a checkpoint while they fail.</summary>
    public bool IsWritingRefused { get; init; }

    /// <summary>
    /// Why nothing can be written, or null: writing has stopped for good, until the environment is opened again, or waits for a
    /// checkpoint that fails.
    /// </summary>
    public string? WritingFault { get; init; }

    /// <summary>Pages of the free-space bitmap that were damaged since opening and worked out again.</summary>
    public int RebuiltBitmapPages { get; init; }

    /// <summary>The scrub, which reads pages in use again from the disk; null where the environment is read-only.</summary>
    public ScrubStatistics? Scrub { get; init; }

    /// <summary>What was found of the system and the file system, and so how the environment works.</summary>
    public required StoragePlatform Platform { get; init; }

    /// <summary>Whether what is on the disk is encrypted.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>Bytes of memory that decrypted pages take, and that is kept for the next ones.</summary>
    public long DecryptedBytes { get; init; }

    /// <summary>
    /// Whether the system keeps decrypted pages, and those that wait for a checkpoint, out of swap; where it does not, the limit
    /// of locked memory (ulimit -l) is too low.
    /// </summary>
    public bool IsDecryptedMemoryLocked { get; init; }

    /// <summary>Transaction number the oldest open reader sees, or null without readers.</summary>
    public required long? OldestReaderTransactionId { get; init; }
}
