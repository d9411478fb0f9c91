using Treepie.Storage.Checks;
using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>
/// Recovers what can still be read of a damaged environment into a new one. Only reads the source. Copies trees that are intact;
/// where roots or branches are lost, searches the whole file for leaves that nothing refers to any more. Data that the files
/// prove to be part of the newest state is recovered exactly; data that may be older is recovered as well and counted as
/// doubtful; lost data is reported by its range of keys.
/// </summary>
public static class Salvage
{
    /// <summary>Salvages <paramref name="source"/> to <paramref name="target"/>.</summary>
    /// <param name="source">The damaged directory. It must not be open in any process.</param>
    /// <param name="target">A directory that does not exist or is empty. If the operation fails or is cancelled, what was written
    /// to it is deleted.</param>
    /// <param name="key">The key of an encrypted source, with which the target is encrypted too; null for an unencrypted
    /// one.</param>
    /// <param name="progress">Receives the progress every few hundred pages, on this thread; or null.</param>
    /// <param name="cancellationToken">Cancels the operation between two pages.</param>
    /// <returns>What was recovered, lost and is doubtful, by tree.</returns>
    /// <exception cref="EnvironmentLockedException">The source is open; the message says in which process.</exception>
    /// <exception cref="EncryptionKeyException">The key is missing, wrong, or not needed.</exception>
    /// <exception cref="ForeignDataException">The source has a newer format.</exception>
    /// <exception cref="DiskFullException">There is not enough space for the target.</exception>
    /// <exception cref="StorageException">There is no environment in the source, or the target is not empty.</exception>
    /// <exception cref="OperationCanceledException">The operation was cancelled.</exception>
    public static SalvageReport Run(
        string source, string target, EncryptionKey? key = null, IProgress<CheckProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(source);
        ArgumentException.ThrowIfNullOrEmpty(target);
        return Run(World.OfDisk(source), World.OfDisk(target), key, progress, cancellationToken);
    }

    /// <summary>Salvages from one world to another.</summary>
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

    /// <summary>
    /// Without a journal: the last checkpoint makes everything durable at once, and nothing before it needs to be.
    /// </summary>
    private static StorageOptions TargetOptions(IFileSystem source) =>
        new()
        {
            Durability = Durability.Relaxed,
            MaxDataFileBytes = 2 * RecoveredState.ReserveBytes(source),
            ScratchBudgetBytes = 64 << 20
        };
}
