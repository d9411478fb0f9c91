using Treepie.Storage.Backups;

namespace Treepie.Backups;

/// <summary>What is in a backup, and what was done with it.</summary>
public sealed record BackupReport
{
    private readonly IReadOnlyList<BackupSection>? _sections;

    /// <summary>What it is made of; of a chain, its first part.</summary>
    public BackupKind Kind { get; init; }

    /// <summary>Whether it holds only what came since another.</summary>
    public bool IsIncremental { get; init; }

    /// <summary>
    /// What the next increment or log goes on from; null where nothing can: for a logical backup of a part of the database, or of
    /// another program.
    /// </summary>
    public BackupLink? Link { get; init; }

    /// <summary>
    /// Of snapshots and logs: the last commit in it, or the one that a restore landed on. 0 for a logical backup.
    /// </summary>
    public long LastCommit { get; init; }

    /// <summary>When that commit was made (UTC), as far as is known.</summary>
    public DateTime? LastCommitAt { get; init; }

    /// <summary>Of a log: commits in it. Of a restore: commits that were made again from logs.</summary>
    public long LogCommits { get; init; }

    /// <summary>
    /// Of a chain that was read: the commit whose state <see cref="Counts"/> and <see cref="LastEtag"/> speak of. That is
    /// <see cref="LastCommit"/>, except where a chain was only verified up to a commit within a part of the log, which says what
    /// there is at its end only: then that of its newest snapshot or increment. 0 for a logical backup.
    /// </summary>
    public long CountedAtCommit { get; init; }

    /// <summary>Pages of 8 KiB in it.</summary>
    public long Pages { get; init; }

    /// <summary>Name of the database it was taken of; null for one of another program.</summary>
    public string? DatabaseName { get; init; }

    /// <summary>Id of the database it was taken of; null for one of another program.</summary>
    public Guid? DatabaseId { get; init; }

    /// <summary>When it was taken (UTC); null for one of another program.</summary>
    public DateTime? TakenAt { get; init; }

    /// <summary>Etag of the last change in it; 0 for one of another program.</summary>
    public long LastEtag { get; init; }

    /// <summary>
    /// Documents the database had at that moment, whether they are in it or in what it goes on from; 0 for a part of a database,
    /// and for one of another program.
    /// </summary>
    public long TotalDocuments { get; init; }

    /// <summary>How much of each kind is in it.</summary>
    public BackupCounts Counts { get; init; } = new(0, 0, 0, 0, 0);

    /// <summary>
    /// The hash of everything in it (<c>docs/internals/backup-format.md</c>), in hexadecimal: equal for backups of the same
    /// state, however compressed or sealed. Null for one of another program, which says nothing to compare with.
    /// </summary>
    public string? ContentHash { get; init; }

    /// <summary>What that is.</summary>
    internal BackupHashKind Hash { get; init; }

    /// <summary>Whether it holds everything the database had.</summary>
    public bool IsWhole { get; init; }

    /// <summary>How it is compressed: zstd, gzip or none.</summary>
    public required string Compression { get; init; }

    /// <summary>Whether it is sealed with a key.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>Bytes of its JSON.</summary>
    public long JsonBytes { get; init; }

    /// <summary>Bytes of the backup itself.</summary>
    public long StoredBytes { get; init; }

    /// <summary>
    /// What was taken and left out of each section that has anything. Of pages, which are taken as a whole, what they hold.
    /// </summary>
    public IReadOnlyList<BackupSection> Sections
    {
        get => _sections ?? Counts.AsSections();
        init => _sections = value;
    }

    /// <summary>How many parts were read: the full backup, and what goes on from it up to the last.</summary>
    public int PartCount { get; init; } = 1;

    /// <summary>
    /// Of a chain of logical backups that was read: how much of each kind is in its last part. Null for others.
    /// </summary>
    internal BackupCounts? LastPart { get; init; }

    /// <summary>Items that were left out, by kind: what this program does not have, or was not asked for.</summary>
    public IReadOnlyDictionary<string, long> Skipped { get; init; } = new Dictionary<string, long>();

    /// <summary>Documents that were refused, if that was allowed.</summary>
    public long RefusedDocuments { get; init; }

    /// <summary>What was wrong with the first hundred of them.</summary>
    public IReadOnlyList<string> Refusals { get; init; } = [];
}

/// <summary>How much of each kind.</summary>
/// <param name="Documents">Documents.</param>
/// <param name="Tombstones">Deletions.</param>
/// <param name="Indexes">Definitions of indexes.</param>
/// <param name="Identities">Identities.</param>
/// <param name="Collections">Collections, those without documents included.</param>
public sealed record BackupCounts(long Documents, long Tombstones, long Indexes, long Identities, long Collections)
{
    /// <summary>Values beside documents, of every kind, and deletions of such.</summary>
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
