using Treepie.Backups;

namespace Treepie.BackupTasks;

/// <summary>
/// Takes the next part of a backup chain: the requested kind or, if that is not possible, a fallback: an increment instead of a
/// log with a gap, a snapshot instead of an increment without a predecessor.
/// </summary>
public static class NextPart
{
    /// <summary>
    /// The maximum size in bytes of the log that is kept from now on if a log backup is requested of a database that did not keep
    /// it.
    /// </summary>
    public const long DefaultLogBudgetBytes = 1L << 30;

    /// <summary>
    /// Returns whether anything has been committed since the existing backups, so that there is a next part to take.
    /// </summary>
    /// <param name="database">The database. If a log backup is requested, it archives its log from now on.</param>
    /// <param name="wanted">The requested backup and the link it continues (null: there are no backups, and there is something to
    /// take).</param>
    public static async Task<bool> HasChangedAsync(Database database, BackupOptions wanted)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(wanted);
        await KeepLogAsync(database, wanted).ConfigureAwait(false); // first, because that is a commit too
        return wanted.Since is not { } since || !ChainPosition.IsAt(database, wanted.Kind, since);
    }

    /// <summary>Takes the next part.</summary>
    /// <param name="database">The database. If a log backup is requested, it archives its log from now on.</param>
    /// <param name="wanted">The requested backup and the link it continues (null: there are no backups).</param>
    /// <param name="attempt">Writes a backup with the specified options; called again with others if it fails before writing its
    /// first byte because the backup cannot continue the chain.</param>
    /// <returns>The report, the link that the backup continues, and the reason why it is not of the requested kind, if it is
    /// not.</returns>
    /// <exception cref="BackupException">The backup cannot be taken.</exception>
    public static async Task<(BackupReport Report, BackupLink? Since, string? Instead)> TakeAsync(
        Database database, BackupOptions wanted, Func<BackupOptions, Task<BackupReport>> attempt)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(wanted);
        ArgumentNullException.ThrowIfNull(attempt);
        await KeepLogAsync(database, wanted).ConfigureAwait(false);
        string? instead = null;
        for (BackupOptions now = wanted.Since is null && wanted.Kind == BackupKind.Log
            ? wanted with { Kind = BackupKind.Snapshot }
            : wanted; ;)
        {
            try
            {
                return (
                    await attempt(now).ConfigureAwait(false), now.Since,
                    now.Kind == wanted.Kind && (now.Since is null) == (wanted.Since is null) ? null : instead);
            }
            catch (BackupException error) when (now.Since is not null && error.Fault is BackupFault.LogGap or BackupFault.Foreign)
            {
                instead ??= error.Message;
                now = Simpler(now, error.Fault);
            }
        }
    }

    private static Task KeepLogAsync(Database database, BackupOptions wanted) =>
        wanted.Kind == BackupKind.Log && !database.GetLogStatus().IsKept
            ? database.KeepLogAsync(DefaultLogBudgetBytes)
            : Task.CompletedTask;

    private static BackupOptions Simpler(BackupOptions now, BackupFault fault) => (now.Since, fault) switch
    {
        // The log before the last snapshot or increment may be gone while the log after it is still available.
        ({ } since, BackupFault.LogGap) when now.Kind == BackupKind.Log && since.LogCommit < since.Commit =>
            now with { Since = new BackupLink(since.Hash, since.Commit, since.Stores) },
        (_, BackupFault.LogGap) => now with { Kind = BackupKind.Snapshot },
        _ => now with { Kind = BackupKind.Snapshot, Since = null },
    };
}
