using Treepie.Storage.Checks;
using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>
/// Brings what can still be read of a damaged environment into a new one. The source is only read. What is found in its place is
/// copied as it is; where roots or branches are gone, leaves that nothing refers to any more are looked for in the whole file.
/// What the files prove to be of the newest state comes back exactly; what may be older than that comes back too and is counted
/// as doubtful; what is gone is named by its range of keys.
/// </summary>
public static class Salvage
{
    /// <summary>Reads <paramref name="source"/> and writes <paramref name="target"/>.</summary>
    /// <param name="source">The damaged directory. No process may have it open.</param>
    /// <param name="target">A directory that is absent or empty. When the run fails or is cancelled, what was written to it is
    /// deleted again.</param>
    /// <param name="key">The key of an encrypted source; the target is encrypted with it too. Null for a plain one.</param>
    /// <param name="progress">Told every few hundred pages, on this thread, or null.</param>
    /// <param name="cancellationToken">Ends it between two pages.</param>
    /// <returns>What was recovered, what is lost and what is doubtful, tree by tree.</returns>
    /// <exception cref="EnvironmentLockedException">The source is open; the message names who has it.</exception>
    /// <exception cref="EncryptionKeyException">The key is missing, wrong, or not needed.</exception>
    /// <exception cref="ForeignDataException">The source is of a newer format.</exception>
    /// <exception cref="DiskFullException">There is no room for the target.</exception>
    /// <exception cref="StorageException">There is no store in the source, or the target is not empty.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public static SalvageReport Run(
        string source, string target, EncryptionKey? key = null, IProgress<CheckProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(source);
        ArgumentException.ThrowIfNullOrEmpty(target);
        return Run(World.OfDisk(source), World.OfDisk(target), key, progress, cancellationToken);
    }

    /// <summary>From one world to another.</summary>
    internal static SalvageReport Run(
        World source, World target, EncryptionKey? key, IProgress<CheckProgress>? progress, CancellationToken cancellationToken)
    {
        if (target.Files.List().Count > 0)
            throw new StorageException(
                $"'{target.Files.Path}' is not empty: a salvage writes to a directory of its own. Nothing was written.");

        var problems = new List<CheckProblem>();
        using RecoveredState state = RecoveredState.Open(source, key, problems.Add);
        try
        {
            using StorageEnvironment environment = StorageEnvironment.Open(
                target, TargetOptions(source.Files) with { EncryptionKey = key });
            SalvageReport report = new SalvageRun(state, environment, problems, progress, cancellationToken).Run();
            environment.Checkpoint(cancellationToken);
            return report;
        }
        catch
        {
            foreach (string name in target.Files.List())
                target.Files.Delete(name);
            throw;
        }
    }

    /// <summary>No journal: the last checkpoint makes all of it durable at once, and before that it is worth nothing.</summary>
    private static StorageOptions TargetOptions(IFileSystem source) =>
        new()
        {
            Durability = Durability.Relaxed,
            MaxDataFileBytes = 2 * RecoveredState.ReserveBytes(source),
            ScratchBudgetBytes = 64 << 20
        };
}
