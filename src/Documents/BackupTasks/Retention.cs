namespace Treepie.BackupTasks;

/// <summary>
/// Which backups a task may delete: whole chains only, a full backup with all increments that go on from it, so that nothing kept
/// lacks a link. Never: one whose last link is not old enough, one of the last <see cref="BackupTask.KeepAtLeast"/>, the newest
/// of all, and the newest with something proven.
/// </summary>
internal static class Retention
{
    /// <summary>
    /// Those that may go, in the order in which they are to be deleted: the oldest chain first, of each its last link first, so
    /// that what is left of it is whole at any time.
    /// </summary>
    /// <param name="kept">What is kept, the oldest first.</param>
    /// <param name="keepFor">How long; null: for ever.</param>
    /// <param name="keepAtLeast">How many chains however old.</param>
    /// <param name="now">The time (UTC).</param>
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
                .Where(chain => chain != lastProven && now - chain[^1].TakenAt > age)
                .SelectMany(static chain => chain.AsEnumerable().Reverse()),
        ];
    }
}
