namespace Treepie.Storage;

/// <summary>How an environment is opened. Immutable; defaults are right for most uses.</summary>
public sealed record StorageOptions
{
    /// <summary>When a write is acknowledged.</summary>
    public Durability Durability { get; init; } = Durability.Durable;

    /// <summary>Opens without the right to write; no file is created or changed.</summary>
    public bool ReadOnly { get; init; }

    /// <summary>
    /// Largest data file, in bytes; that much address space (not memory) is reserved at open. 256 GiB unless told otherwise.
    /// </summary>
    public long MaxDataFileBytes { get; init; } = 256L << 30;

    /// <summary>
    /// Memory for pages not yet in the data file, in bytes: at half of it a checkpoint begins, at all of it writers wait for one.
    /// A single transaction may need more and gets it.
    /// </summary>
    public long ScratchBudgetBytes { get; init; } = 256L << 20;

    /// <summary>First journal file, in bytes. Each next one is larger, up to <see cref="MaxJournalFileBytes"/>, so that a small store stays small.</summary>
    public long FirstJournalFileBytes { get; init; } = 256L << 10;

    /// <summary>
    /// Largest journal file, in bytes; when as much was written since the last checkpoint, the next one begins (in a large store: up to four times as much,
    /// and at most half of the data file).
    /// </summary>
    public long MaxJournalFileBytes { get; init; } = 16L << 20;

    /// <summary>
    /// Most journal that may wait for a checkpoint, in bytes. Where checkpoints are slow, writers wait for one there; where they keep failing, writes
    /// are refused until one succeeds.
    /// </summary>
    public long MaxJournalBytes { get; init; } = 1L << 30;

    /// <summary>
    /// How long a <see cref="Durability.Relaxed"/> commit may wait to become durable. Relaxed environments keep no journal: a checkpoint
    /// makes many commits durable at once.
    /// </summary>
    public TimeSpan RelaxedDelay { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Whether checkpoints, and whatever else the environment does by itself, run on quiet threads (<see cref="Memory.QuietThread"/>), which get the processor time that others leave. For
    /// environments that nobody waits for: writers wait for such a checkpoint where they write more than <see cref="ScratchBudgetBytes"/>; readers never do.
    /// </summary>
    public bool IsBackgroundQuiet { get; init; }

    /// <summary>
    /// The key of an encrypted environment; null for a plain one. A new environment is encrypted if and only if one is given; that cannot be changed later but by
    /// copying everything to another. It is used while opening and may be disposed afterwards.
    /// </summary>
    public EncryptionKey? EncryptionKey { get; init; }

    /// <summary>
    /// Memory for decrypted pages of an encrypted environment, in bytes. Beyond it those that no transaction uses, and that were not used lately, are zeroed and given back; a
    /// transaction that reads more gets it, unless it says what it is done with (<see cref="Transactions.ReadTransaction.ReleasePages"/>).
    /// </summary>
    public long DecryptedBudgetBytes { get; init; } = 256L << 20;

    /// <summary>How long a decrypted page that nobody uses stays in memory at least; at most it is about three times as long. Zero: until the last transaction that used it ends, or the next look at it after.</summary>
    public TimeSpan DecryptedIdleTime { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Address space for pages not yet in the data file, in bytes.</summary>
    internal long ScratchReserveBytes { get; init; } = 64L << 30;

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxDataFileBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfLessThan(ScratchBudgetBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfLessThan(FirstJournalFileBytes, 16L << 10);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxJournalFileBytes, FirstJournalFileBytes);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxJournalBytes, MaxJournalFileBytes);
        ArgumentOutOfRangeException.ThrowIfLessThan(RelaxedDelay, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(DecryptedBudgetBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfLessThan(DecryptedIdleTime, TimeSpan.Zero);
    }
}
