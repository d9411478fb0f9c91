using Treepie.Backups;

namespace Treepie.BackupTasks;

/// <summary>
/// Takes the next part of a chain: what is wanted, or where that cannot go on from what is there, what can: an increment in place
/// of a log with a gap, a snapshot in place of what has nothing before it.
/// </summary>
public static class NextPart
{
    /// <summary>Most bytes of log that wait for somebody who asks for it without having had it kept before: 1 GiB.</summary>
    public const long DefaultLogBudgetBytes = 1L << 30;

    /// <summary>Whether anything was committed since what is there, so that there is a next part to take.</summary>
    /// <param name="database">The database; its log is kept from now on, where it is asked for.</param>
    /// <param name="wanted">What is wanted, and what it goes on from (null: nothing is there, and there is something to
    /// take).</param>
    public static async Task<bool> HasChangedAsync(Database database, BackupOptions wanted)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(wanted);
        await KeepLogAsync(database, wanted).ConfigureAwait(false); // first: that is a commit too
        return wanted.Since is not { } since || !ChainPosition.IsAt(database, wanted.Kind, since);
    }

    /// <summary>Takes it.</summary>
    /// <param name="database">The database; its log is kept from now on, where it is asked for.</param>
    /// <param name="wanted">What is wanted, and what it goes on from (null: nothing is there).</param>
    /// <param name="attempt">Writes a backup by these options; called again with others where it fails before its first byte
    /// because it cannot go on.</param>
    /// <returns>What was written, what it goes on from, and why it is not what was wanted, where it is not.</returns>
    /// <exception cref="BackupException">It cannot be taken.</exception>
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
        // The log before the last snapshot or increment may be gone, and that after it still there.
        ({ } since, BackupFault.LogGap) when now.Kind == BackupKind.Log && since.LogCommit < since.Commit =>
            now with { Since = new BackupLink(since.Hash, since.Commit, since.Stores) },
        (_, BackupFault.LogGap) => now with { Kind = BackupKind.Snapshot },
        _ => now with { Kind = BackupKind.Snapshot, Since = null },
    };
}
