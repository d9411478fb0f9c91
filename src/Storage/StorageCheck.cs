using Treepie.Storage.Checks;
using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>Checks a directory that no process has open, changing nothing in it, also where it is too damaged to be opened.</summary>
public static class StorageCheck
{
    /// <summary>Walks everything in a directory: see <see cref="StorageEnvironment.Check(IProgress{CheckProgress}, CancellationToken)"/>.</summary>
    /// <param name="directory">The environment's directory.</param>
    /// <param name="progress">Told every few hundred pages, on this thread, or null.</param>
    /// <param name="cancellationToken">Ends it between two pages.</param>
    /// <exception cref="EnvironmentLockedException">It is open, here or in another process; the message names who has it.</exception>
    /// <exception cref="ForeignDataException">It holds something else, or a newer format.</exception>
    /// <exception cref="StorageException">There is no store, or it cannot be read.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public static CheckReport Run(string directory, IProgress<CheckProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return Run(World.OfDisk(directory), progress, cancellationToken);
    }

    /// <summary>On a given world.</summary>
    internal static CheckReport Run(World world, IProgress<CheckProgress>? progress, CancellationToken cancellationToken)
    {
        try
        {
            using StorageEnvironment environment = StorageEnvironment.Open(world, new StorageOptions { ReadOnly = true, MaxDataFileBytes = RecoveredState.ReserveBytes(world.Files) });
            CheckReport report = environment.Check(progress, cancellationToken);
            return new DamagedCheck(world.Files).AddOlderMeta(report);
        }
        catch (CorruptionException error)
        {
            return new DamagedCheck(world.Files).Run(error, progress, cancellationToken);
        }
    }
}
