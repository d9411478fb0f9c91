using Treepie.Storage.Backups;
using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>
/// The log of an environment: frames of its journal, kept until somebody has archived them (<see cref="EnvironmentLogStretch"/>),
/// for a restore to any commit. Thread-safe.
/// </summary>
/// <remarks>
/// Writers never wait for the archive. What waits is bounded: beyond the budget the oldest file is used again, and the log has a
/// gap, which <see cref="EnvironmentLogStretch.Begin"/> names and the next increment closes. A change of keys gives up what waits
/// too: its frames are sealed with keys that have to go.
/// </remarks>
public static class EnvironmentLog
{
    /// <summary>Least budget.</summary>
    public const long MinBudgetBytes = 1 << 20;

    /// <summary>
    /// Keeps the log from now on, and what is still there of it from before. It lasts until the environment is closed; whoever
    /// opens it again says so again, before the first write: what was kept at closing is still there then.
    /// </summary>
    /// <param name="environment">A durable environment, open for writing.</param>
    /// <param name="budgetBytes">Most bytes of files that wait, at least 1 MiB; 0: nothing is kept any more. A file has up to
    /// <see cref="StorageOptions.MaxJournalFileBytes"/>: several of them make sense.</param>
    /// <param name="keepsEarlier">Whether what is still there from before counts too; false where nobody has archived up to
    /// there.</param>
    /// <exception cref="InvalidOperationException">It was opened read-only, or has no journal.</exception>
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
    /// Says that everybody who wants them has archived all commits up to one, durably: files that hold nothing else need not be
    /// kept any longer.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="commit">The commit; one that is not kept any more changes nothing.</param>
    public static void ReleaseLog(this StorageEnvironment environment, long commit)
    {
        ArgumentNullException.ThrowIfNull(environment);
        if (!environment.JournalFiles.IsLogKept)
            return;

        using var frames = new KeptFrames(environment.World.Files, environment.StoreId, environment.Cipher);
        if (frames.FindUse(commit + 1) is { } use)
            environment.JournalFiles.ReleaseKept(use);
    }

    /// <summary>Whether all commits after one are kept, so that a log can go on from it.</summary>
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

    /// <summary>What waits.</summary>
    public static EnvironmentLogState GetLogState(this StorageEnvironment environment)
    {
        ArgumentNullException.ThrowIfNull(environment);
        return environment.JournalFiles.DescribeKept();
    }
}
