namespace Treepie.Storage.Backups;

/// <summary>What a chain holds, up to the point that was asked for.</summary>
/// <param name="Commit">The commit it leads to.</param>
/// <param name="CommittedAt">When that was made; null where nobody knows.</param>
/// <param name="Hash">Hash of the snapshot or increment in it that was taken last, in hexadecimal.</param>
/// <param name="Parts">Parts that were needed.</param>
/// <param name="Stores">Stores in it.</param>
/// <param name="Pages">Pages of them all, before the log.</param>
/// <param name="LogCommits">Commits (merged batches) of the log that follow the pages.</param>
public sealed record BackupChainReport(
    long Commit, DateTimeOffset? CommittedAt, string Hash, int Parts, int Stores, long Pages, long LogCommits)
{
    /// <summary>What the snapshot or increment that was taken last says of its state; empty where it says nothing.</summary>
    public ReadOnlyMemory<byte> Manifest { get; init; }

    /// <summary>
    /// The description of the part of the log that ends with <see cref="Commit"/>; empty where none does: there is no log, or the
    /// point to stop at lies within a part.
    /// </summary>
    public ReadOnlyMemory<byte> LogDescription { get; init; }
}
