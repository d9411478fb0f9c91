using Treepie.Storage.Backups;
using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>
/// The log of an environment: the frames of its journal, kept until they have been archived
/// (<see cref="EnvironmentLogStretch"/>), for restores to any commit. Thread-safe.
/// </summary>
/// <remarks>
/// Writers never wait for archiving. The size of the kept log is bounded: beyond the budget the oldest file is reused, and the
/// log has a gap, which <see cref="EnvironmentLogStretch.Begin"/> reports and the next increment closes. A change of keys also
/// discards the kept log, since its frames are encrypted with keys that must be removed.
/// </remarks>
public static class EnvironmentLog
{
    /// <summary>The minimum budget in bytes.</summary>
    public const long MinBudgetBytes = 1 << 20;

    /// <summary>
    /// Keeps the log from now on, and what is still available of the earlier log, until the environment is closed. Call it again
    /// after opening, before the first write: the log kept at closing is still available then.
    /// </summary>
    /// <param name="environment">A durable environment, open for writing.</param>
    /// <param name="budgetBytes">The maximum size in bytes of the files that are kept, at least 1 MiB; 0: the log is no longer
    /// kept. A file has up to <see cref="StorageOptions.MaxJournalFileBytes"/>; allow for several.</param>
    /// <param name="keepsEarlier">Whether the earlier log that is still available is kept too; false if nobody has archived the
    /// log up to there.</param>
    /// <exception cref="InvalidOperationException">The environment is read-only or has no journal.</exception>
    public static void KeepLog(this StorageEnvironment environment, long budgetBytes, bool keepsEarlier = true)
    {
        ArgumentNullException.ThrowIfNull(environment);
        if (budgetBytes != 0)
            ArgumentOutOfRangeException.ThrowIfLessThan(budgetBytes, MinBudgetBytes);
        environment.ThrowIfNotWritable();
        using Lifetime.Lease lease = environment.Lifetime.Enter();
        if (environment.Journal is null)
            throw new InvalidOperationException(
                $"'{environment.State.Store.Path}' is opened with relaxed durability and has no journal: there is no log to "
                    + $"keep.");
        environment.JournalFiles.Keep(budgetBytes, keepsEarlier ? 0 : environment.Journal.Position.Use);
    }

    /// <summary>
    /// Releases the log up to a commit, once everyone who needs it has archived it durably: files with no later commits are no
    /// longer kept.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="commit">The commit; has no effect if it is no longer kept.</param>
    public static void ReleaseLog(this StorageEnvironment environment, long commit)
    {
        ArgumentNullException.ThrowIfNull(environment);
        if (!environment.JournalFiles.IsLogKept)
            return;

        using var frames = new KeptFrames(environment.World.Files, environment.StoreId, environment.Cipher);
        if (frames.FindUse(commit + 1) is { } use)
            environment.JournalFiles.ReleaseKept(use);
    }

    /// <summary>Returns whether all commits after one are kept, so that the log can be archived from there.</summary>
    public static bool HoldsLogAfter(this StorageEnvironment environment, long commit)
    {
        ArgumentNullException.ThrowIfNull(environment);
        if (!environment.JournalFiles.IsLogKept)
            return false;
        if (commit >= environment.State.Current.TransactionId)
            return true;

        using var frames = new KeptFrames(environment.World.Files, environment.StoreId, environment.Cipher);
        return frames.FindUse(commit + 1) is not null;
    }

    /// <summary>Returns the state of the kept log.</summary>
    public static EnvironmentLogState GetLogState(this StorageEnvironment environment)
    {
        ArgumentNullException.ThrowIfNull(environment);
        return environment.JournalFiles.DescribeKept();
    }
}
