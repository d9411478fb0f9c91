namespace Treepie.Storage.Backups;

/// <summary>The contents of a chain, up to the requested point.</summary>
/// <param name="Commit">The commit that was reached.</param>
/// <param name="CommittedAt">When that commit was made; null if unknown.</param>
/// <param name="Hash">The hash of the last snapshot or increment, in hexadecimal.</param>
/// <param name="Parts">The number of parts that were needed.</param>
/// <param name="Stores">The number of stores in it.</param>
/// <param name="Pages">The total number of pages, without the log.</param>
/// <param name="LogCommits">The number of commits (merged batches) of the log after the pages.</param>
public sealed record BackupChainReport(
    long Commit, DateTimeOffset? CommittedAt, string Hash, int Parts, int Stores, long Pages, long LogCommits)
{
    /// <summary>The manifest of the last snapshot or increment; empty if it has none.</summary>
    public ReadOnlyMemory<byte> Manifest { get; init; }

    /// <summary>
    /// The description of the log part that ends with <see cref="Commit"/>; empty if there is none: there is no log, or the point
    /// at which to stop is within a part.
    /// </summary>
    public ReadOnlyMemory<byte> LogDescription { get; init; }
}
