namespace Treepie.Storage;

/// <summary>Options of an environment. Immutable; the defaults suit most uses.</summary>
public sealed record StorageOptions
{
    /// <summary>The default of <see cref="MemoryBudgetBytes"/>: 64 MiB.</summary>
    public const long DefaultMemoryBudgetBytes = 64L << 20;

    /// <summary>When writes are acknowledged.</summary>
    public Durability Durability { get; init; } = Durability.Durable;

    /// <summary>Opens the environment read-only; no file is created or changed.</summary>
    public bool ReadOnly { get; init; }

    /// <summary>
    /// The maximum size of the data file in bytes. Default: 64 TiB, half of the address space of a process, and more than most
    /// file systems allow. Address space is reserved as the file grows.
    /// </summary>
    public long MaxDataFileBytes { get; init; } = 64L << 40;

    /// <summary>
    /// The memory budget of the environment in bytes, for pages not yet in the data file, pages held by open readers, undo data
    /// and decrypted pages. Pages beyond it are moved to a temporary file in the directory, which the system caches as long as
    /// memory is available. In an encrypted environment, and where the system cannot map a file for writing, there is no such
    /// file, nor on a copy-on-write file system: checkpoints start earlier, and one transaction or open readers may exceed the
    /// budget. The journal frame of a transaction comes on top until the transaction is committed. When nothing has been written
    /// for <see cref="IdleDelay"/>, unused memory is returned to the system. Default: 64 MiB.
    /// </summary>
    public long MemoryBudgetBytes { get; init; } = DefaultMemoryBudgetBytes;

    /// <summary>The time without writes after which unused memory is returned to the system.</summary>
    public TimeSpan IdleDelay { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>
    /// The maximum size in bytes of pages not yet in the data file: at half of it a checkpoint starts, at all of it writers wait
    /// for one. With a larger value, more changes of a page are combined into one write. Pages beyond
    /// <see cref="MemoryBudgetBytes"/> are moved to a temporary file; where there is none, that budget applies instead. A single
    /// transaction may exceed it.
    /// </summary>
    public long ScratchBudgetBytes { get; init; } = 256L << 20;

    /// <summary>
    /// The size of the first journal file in bytes. Each following file is larger, up to <see cref="MaxJournalFileBytes"/>, so
    /// that small stores stay small.
    /// </summary>
    public long FirstJournalFileBytes { get; init; } = 64L << 10;

    /// <summary>
    /// The maximum size of a journal file in bytes. When that much has been written since the last checkpoint, the next one
    /// starts (in a large store, at up to four times as much, and at most half of the size of the data file).
    /// </summary>
    public long MaxJournalFileBytes { get; init; } = 16L << 20;

    /// <summary>
    /// The maximum size in bytes of the journal that is waiting for a checkpoint. If checkpoints are slow, writers then wait for
    /// one; if they keep failing, writes are rejected until one succeeds.
    /// </summary>
    public long MaxJournalBytes { get; init; } = 1L << 30;

    /// <summary>
    /// The maximum time until a <see cref="Durability.Relaxed"/> commit becomes durable. Relaxed environments have no journal: a
    /// checkpoint makes many commits durable at once.
    /// </summary>
    public TimeSpan RelaxedDelay { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Whether checkpoints and other background work run on low-priority threads (<see cref="Memory.QuietThread"/>). For
    /// environments that nobody waits for: writers wait for such a checkpoint if they write more than
    /// <see cref="ScratchBudgetBytes"/>; readers never wait.
    /// </summary>
    public bool IsBackgroundQuiet { get; init; }

    /// <summary>
    /// The key of an encrypted environment; null for an unencrypted one. A new environment is encrypted if and only if a key is
    /// given, which can only be changed later by copying all data to another environment. The key is used only while opening and
    /// can be disposed afterwards.
    /// </summary>
    public EncryptionKey? EncryptionKey { get; init; }

    /// <summary>
    /// The part of <see cref="MemoryBudgetBytes"/>, in bytes, that decrypted pages of an encrypted environment may use. Beyond
    /// it, or beyond what unwritten pages leave, pages that no transaction uses and that have not been used recently are zeroed
    /// and released. A transaction that reads more may exceed it, unless it releases pages that it no longer needs
    /// (<see cref="Transactions.ReadTransaction.ReleasePages"/>). While a transaction is open and has released none since, pages
    /// that others read stay as well: do not leave one open that you do not use.
    /// </summary>
    public long DecryptedBudgetBytes { get; init; } = 256L << 20;

    /// <summary>
    /// The minimum time that an unused decrypted page stays in memory; the maximum is about three times as long. Zero: until the
    /// last transaction that used it ends, or the first sweep afterwards.
    /// </summary>
    public TimeSpan DecryptedIdleTime { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The maximum rate, in bytes per second, of the background scrub, which reads the pages in use from the disk again and
    /// reports damaged pages before anyone needs them. 0: no background scrub. A read-only environment has none.
    /// </summary>
    public long ScrubBytesPerSecond { get; init; } = 4L << 20;

    /// <summary>
    /// The time from the start of one scrub to the start of the next, at most 45 days; a scrub that takes longer is followed by
    /// the next immediately. The first starts at a random time within this interval after opening, so that the environments of a
    /// process are not all scrubbed at once.
    /// </summary>
    public TimeSpan ScrubInterval { get; init; } = TimeSpan.FromDays(1);

    /// <summary>
    /// Allows opening a directory on a file system without working file locks, which is otherwise rejected. The caller must
    /// ensure that nothing else has the directory open: two writers would destroy the data.
    /// </summary>
    public bool AllowMissingLocks { get; init; }

    /// <summary>The number of free bytes in a small data file from which closing shrinks it.</summary>
    internal long ClosingShrinkBytes { get; init; } = 32L << 20;

    /// <summary>
    /// The address space in bytes reserved for the data file when it is opened, unless the file is larger. More is reserved
    /// as the file grows.
    /// </summary>
    internal long FirstReserveBytes { get; init; } = 256L << 20;

    /// <summary>The maximum address space in bytes for pages not yet in the data file. Reserved in parts as needed.</summary>
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
