namespace Treepie.Storage;

/// <summary>How an environment is opened. Immutable; defaults are right for most uses.</summary>
public sealed record StorageOptions
{
    /// <summary>Default of <see cref="MemoryBudgetBytes"/>: 64 MiB, what a small program can spare.</summary>
    public const long DefaultMemoryBudgetBytes = 64L << 20;

    /// <summary>When a write is acknowledged.</summary>
    public Durability Durability { get; init; } = Durability.Durable;

    /// <summary>Opens without the right to write; no file is created or changed.</summary>
    public bool ReadOnly { get; init; }

    /// <summary>
    /// Largest data file, in bytes. 64 TiB unless told otherwise: half of the addresses that a process has, and more than most
    /// file systems allow. Addresses are reserved as the file grows.
    /// </summary>
    public long MaxDataFileBytes { get; init; } = 64L << 40;

    /// <summary>
    /// Memory of the environment, in bytes: pages not yet in the data file, pages that open readers hold, what is kept for
    /// undoing, and decrypted pages together. What is over lies in a temporary file of the directory, which the system keeps in
    /// memory while nobody else needs it. In an encrypted environment, and where the system cannot map a file for writing, there
    /// is no such file: there checkpoints begin earlier, and what one transaction or open readers hold may be more. When nothing
    /// was written for <see cref="IdleDelay"/>, what is not in use goes back to the system. 64 MiB unless told otherwise.
    /// </summary>
    public long MemoryBudgetBytes { get; init; } = DefaultMemoryBudgetBytes;

    /// <summary>How long nothing is written before memory that is not needed goes back to the system.</summary>
    public TimeSpan IdleDelay { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>
    /// Most bytes of pages that are not in the data file yet: at half of it a checkpoint begins, at all of it writers wait for
    /// one. The more of them there may be, the more changes of a page are written at once. Beyond <see cref="MemoryBudgetBytes"/>
    /// they lie in a temporary file; where there is none, that budget counts instead. A single transaction may need more and gets
    /// it.
    /// </summary>
    public long ScratchBudgetBytes { get; init; } = 256L << 20;

    /// <summary>
    /// First journal file, in bytes. Each next one is larger, up to <see cref="MaxJournalFileBytes"/>, so that a small store
    /// stays small.
    /// </summary>
    public long FirstJournalFileBytes { get; init; } = 256L << 10;

    /// <summary>
    /// Largest journal file, in bytes; when as much was written since the last checkpoint, the next one begins (in a large store:
    /// up to four times as much, and at most half of the data file).
    /// </summary>
    public long MaxJournalFileBytes { get; init; } = 16L << 20;

    /// <summary>
    /// Most journal that may wait for a checkpoint, in bytes. Where checkpoints are slow, writers wait for one there; where they
    /// keep failing, writes are refused until one succeeds.
    /// </summary>
    public long MaxJournalBytes { get; init; } = 1L << 30;

    /// <summary>
    /// How long a <see cref="Durability.Relaxed"/> commit may wait to become durable. Relaxed environments keep no journal: a
    /// checkpoint makes many commits durable at once.
    /// </summary>
    public TimeSpan RelaxedDelay { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Whether checkpoints, and whatever else the environment does by itself, run on quiet threads
    /// (<see cref="Memory.QuietThread"/>), which get the processor time that others leave. For environments that nobody waits
    /// for: writers wait for such a checkpoint where they write more than <see cref="ScratchBudgetBytes"/>; readers never do.
    /// </summary>
    public bool IsBackgroundQuiet { get; init; }

    /// <summary>
    /// The key of an encrypted environment; null for a plain one. A new environment is encrypted if and only if one is given;
    /// that cannot be changed later but by copying everything to another. It is used while opening and may be disposed
    /// afterwards.
    /// </summary>
    public EncryptionKey? EncryptionKey { get; init; }

    /// <summary>
    /// Most of <see cref="MemoryBudgetBytes"/> that decrypted pages of an encrypted environment may take, in bytes. Beyond it, or
    /// beyond what unwritten pages leave, those that no transaction uses, and that were not used lately, are zeroed and given
    /// back; a transaction that reads more gets it, unless it says what it is done with
    /// (<see cref="Transactions.ReadTransaction.ReleasePages"/>).
    /// </summary>
    public long DecryptedBudgetBytes { get; init; } = 256L << 20;

    /// <summary>
    /// How long a decrypted page that nobody uses stays in memory at least; at most it is about three times as long. Zero: until
    /// the last transaction that used it ends, or the next look at it after.
    /// </summary>
    public TimeSpan DecryptedIdleTime { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Most bytes a second that the scrub reads: it goes through the pages in use in the background, reads them again from the
    /// disk, and makes those that are damaged an error before anyone needs them. 0: it does not run by itself. A read-only
    /// environment has none.
    /// </summary>
    public long ScrubBytesPerSecond { get; init; } = 4L << 20;

    /// <summary>
    /// Time from the beginning of one scrub to that of the next, up to 45 days; a scrub that takes longer is followed by the next
    /// at once. The first begins at a random moment of this time after opening, so that the environments of a process are not all
    /// read together.
    /// </summary>
    public TimeSpan ScrubInterval { get; init; } = TimeSpan.FromDays(1);

    /// <summary>
    /// Opens a directory on a file system that has no file locks, or grants the same one twice; otherwise that is refused. Who
    /// sets it sees to it that nothing else has the directory open: two writers destroy it.
    /// </summary>
    public bool AllowMissingLocks { get; init; }

    /// <summary>Free bytes of a small data file from which on closing makes it shorter.</summary>
    internal long ClosingShrinkBytes { get; init; } = 32L << 20;

    /// <summary>
    /// Address space that is reserved for the data file at open, in bytes, where the file is not larger; there is more when the
    /// file grows over it.
    /// </summary>
    internal long FirstReserveBytes { get; init; } = 256L << 20;

    /// <summary>Most address space for pages not yet in the data file, in bytes; reserved in parts, as it is needed.</summary>
    internal long ScratchReserveBytes { get; init; } = 64L << 30;

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxDataFileBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfLessThan(MemoryBudgetBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfLessThan(IdleDelay, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(ScratchBudgetBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfLessThan(FirstJournalFileBytes, 16L << 10);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxJournalFileBytes, FirstJournalFileBytes);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxJournalBytes, MaxJournalFileBytes);
        ArgumentOutOfRangeException.ThrowIfLessThan(RelaxedDelay, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(DecryptedBudgetBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfLessThan(DecryptedIdleTime, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfNegative(ScrubBytesPerSecond);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(ScrubInterval, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(ScrubInterval, TimeSpan.FromDays(45));
    }
}
