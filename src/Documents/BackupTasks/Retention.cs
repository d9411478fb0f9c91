namespace Treepie.BackupTasks;

/// <summary>
/// Determines which backups a task may delete: only whole chains, that is a full backup with all increments that continue it,
/// so that every backup that is kept can be restored. Never deleted are chains whose last part has not expired, the last
/// <see cref="BackupTask.KeepAtLeast"/> chains, the newest chain, and the newest chain with a verified backup.
/// </summary>
internal static class Retention
{
    /// <summary>
    /// Returns the backups to delete, in deletion order: the oldest chain first, the last part of each chain first, so that
    /// what remains of a chain can be restored at any time.
    /// </summary>
    /// <param name="kept">The backups that are kept, oldest first.</param>
    /// <param name="keepFor">The retention period; null: forever.</param>
    /// <param name="keepAtLeast">The number of chains that are kept regardless of their age.</param>
    /// <param name="now">The current time (UTC).</param>
    public static IReadOnlyList<KeptBackup> Deletable(
        IReadOnlyList<KeptBackup> kept, TimeSpan? keepFor, int keepAtLeast, DateTime now)
    {
        if (keepFor is not { } age)
            return [];

        var chains = new List<List<KeptBackup>>();
        foreach (KeptBackup backup in kept)
        {
            if (!backup.IsIncremental || chains.Count == 0)
                chains.Add([]);
            chains[^1].Add(backup);
        }

        List<KeptBackup>? lastProven = chains.LastOrDefault(static chain => chain.Exists(static backup => backup.IsProven));
        return
        [
            .. chains.Take(chains.Count - Math.Max(1, keepAtLeast))
                .Where(chain => chain != lastProven && now - TakenBy(kept, chain[^1]) > age)
                .SelectMany(static chain => chain.AsEnumerable().Reverse()),
        ];
    }

    /// <summary>
    /// Returns the time by which a backup was certainly taken: that of the first of those that follow it, if its own is later
    /// because the clock was ahead.
    /// </summary>
    /// <param name="kept">The backups that are kept, oldest first.</param>
    /// <param name="backup">One of them.</param>
    public static DateTime TakenBy(IReadOnlyList<KeptBackup> kept, KeptBackup backup) =>
        kept.SkipWhile(other => other != backup).Select(static other => other.TakenAt).DefaultIfEmpty(backup.TakenAt).Min();
}
