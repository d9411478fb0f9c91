using Treepie.Store;

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
    /// <param name="hasExpired">Whether the retention period of a backup is over.</param>
    /// <param name="keepAtLeast">The number of chains that are kept regardless of their age.</param>
    public static IReadOnlyList<KeptBackup> Deletable(
        IReadOnlyList<KeptBackup> kept, Predicate<KeptBackup> hasExpired, int keepAtLeast)
    {
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
                .Where(chain => chain != lastProven && hasExpired(chain[^1]))
                .SelectMany(static chain => chain.AsEnumerable().Reverse()),
        ];
    }

    /// <summary>
    /// Returns how many backups, from the first on, have certainly expired; see <see cref="RecordedTimes"/> for wrong times.
    /// </summary>
    /// <param name="kept">All backups of the task that are kept, in the order in which they were taken.</param>
    /// <param name="since">When the task was created, before all its backups (UTC).</param>
    /// <param name="keepFor">The retention period; null: forever.</param>
    /// <param name="now">The current time (UTC).</param>
    public static int Expired(IReadOnlyList<KeptBackup> kept, DateTime since, TimeSpan? keepFor, DateTime now)
    {
        int expired = 0;
        var times = new RecordedTimes(since.Ticks, now.Ticks);
        for (int i = 0; i < kept.Count && keepFor is { } age; i++)
        {
            if (!times.IsRight(kept[i].TakenAt.Ticks))
                continue;
            if (now - kept[i].TakenAt <= age)
                break;
            expired = i + 1;
        }

        return expired;
    }
}
