using Treepie.Storage.Backups;

namespace Treepie.Backups;

/// <summary>The contents of a backup, and the result of an operation on it.</summary>
public sealed record BackupReport
{
    private readonly IReadOnlyList<BackupSection>? _sections;

    /// <summary>The kind of backup; for a chain, that of its first part.</summary>
    public BackupKind Kind { get; init; }

    /// <summary>Whether the backup is incremental.</summary>
    public bool IsIncremental { get; init; }

    /// <summary>
    /// The link from which the next incremental or log backup continues; null if none can: for a logical backup of a part of the
    /// database, or one by another program.
    /// </summary>
    public BackupLink? Link { get; init; }

    /// <summary>
    /// For snapshots and logs: the last commit in the backup, or the commit at which a restore stopped. 0 for a logical backup.
    /// </summary>
    public long LastCommit { get; init; }

    /// <summary>When that commit was made (UTC), if known.</summary>
    public DateTime? LastCommitAt { get; init; }

    /// <summary>For a log: the number of commits in it. For a restore: the number of commits replayed from logs.</summary>
    public long LogCommits { get; init; }

    /// <summary>
    /// For a chain that was read: the commit to whose state <see cref="Counts"/> and <see cref="LastEtag"/> refer. Equal to
    /// <see cref="LastCommit"/>, unless a chain was only verified up to a commit within a log part, which has counts only for its
    /// end: then the commit of the newest snapshot or increment. 0 for a logical backup.
    /// </summary>
    public long CountedAtCommit { get; init; }

    /// <summary>The number of 8 KiB pages in the backup.</summary>
    public long Pages { get; init; }

    /// <summary>The name of the source database; null for a backup by another program.</summary>
    public string? DatabaseName { get; init; }

    /// <summary>The id of the source database; null for a backup by another program.</summary>
    public Guid? DatabaseId { get; init; }

    /// <summary>When the backup was taken (UTC); null for one by another program.</summary>
    public DateTime? TakenAt { get; init; }

    /// <summary>The etag of the last change in the backup; 0 for one by another program.</summary>
    public long LastEtag { get; init; }

    /// <summary>
    /// The number of documents in the database when the backup was taken, whether they are in this backup or in those it
    /// continues; 0 for a backup of a part of a database or by another program.
    /// </summary>
    public long TotalDocuments { get; init; }

    /// <summary>The number of items of each kind.</summary>
    public BackupCounts Counts { get; init; } = new(0, 0, 0, 0, 0);

    /// <summary>
    /// The hash of the contents (<c>docs/internals/backup-format.md</c>), in hexadecimal: equal for backups of the same state,
    /// however they are compressed or encrypted. Null for a backup by another program.
    /// </summary>
    public string? ContentHash { get; init; }

    /// <summary>The algorithm of <see cref="ContentHash"/>.</summary>
    internal BackupHashKind Hash { get; init; }

    /// <summary>Whether the backup contains everything that the database had.</summary>
    public bool IsWhole { get; init; }

    /// <summary>The compression: zstd, gzip or none.</summary>
    public required string Compression { get; init; }

    /// <summary>Whether the backup is encrypted.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>The size of its JSON in bytes.</summary>
    public long JsonBytes { get; init; }

    /// <summary>The size of the backup in bytes.</summary>
    public long StoredBytes { get; init; }

    /// <summary>
    /// The number of items restored and skipped for each non-empty section. For pages, which are restored as a whole, their
    /// contents.
    /// </summary>
    public IReadOnlyList<BackupSection> Sections
    {
        get => _sections ?? Counts.AsSections();
        init => _sections = value;
    }

    /// <summary>The number of parts that were read: the full backup and those that continue it.</summary>
    public int PartCount { get; init; } = 1;

    /// <summary>
    /// For a chain of logical backups that was read: the counts of its last part. Null for others.
    /// </summary>
    internal BackupCounts? LastPart { get; init; }

    /// <summary>The number of skipped items by kind: those that are not supported or were not requested.</summary>
    public IReadOnlyDictionary<string, long> Skipped { get; init; } = new Dictionary<string, long>();

    /// <summary>The number of invalid documents that were skipped, if that was allowed.</summary>
    public long RefusedDocuments { get; init; }

    /// <summary>The errors of the first hundred of them.</summary>
    public IReadOnlyList<string> Refusals { get; init; } = [];
}

/// <summary>The number of items of each kind in a backup.</summary>
/// <param name="Documents">The number of documents.</param>
/// <param name="Tombstones">The number of tombstones.</param>
/// <param name="Indexes">The number of index definitions.</param>
/// <param name="Identities">The number of identities.</param>
/// <param name="Collections">The number of collections, including empty ones.</param>
public sealed record BackupCounts(long Documents, long Tombstones, long Indexes, long Identities, long Collections)
{
    /// <summary>The number of items of related data, such as counters and attachments, including their deletions.</summary>
    public long Beside { get; init; }

    internal IReadOnlyList<BackupSection> AsSections() =>
    [
        .. new BackupSection[]
        {
            new(nameof(Documents), Documents, 0), new(nameof(Tombstones), Tombstones, 0), new(nameof(Indexes), Indexes, 0),
            new(nameof(Identities), Identities, 0), new(nameof(Beside), Beside, 0)
        }
            .Where(static section => section.Taken > 0),
    ];
}
