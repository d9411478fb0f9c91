using Treepie.Storage.Checks;
using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>
/// Checks a directory that is not open in any process, without changing it, even if it is too damaged to be opened.
/// </summary>
public static class StorageCheck
{
    /// <summary>
    /// Checks everything in a directory; see <see cref="StorageEnvironment.Check(IProgress{CheckProgress}, CancellationToken)"/>.
    /// </summary>
    /// <param name="directory">The directory of the environment.</param>
    /// <param name="key">The key of an encrypted environment, or null.</param>
    /// <param name="progress">Receives the progress every few hundred pages, on this thread; or null.</param>
    /// <param name="cancellationToken">Cancels the check between two pages.</param>
    /// <exception cref="EnvironmentLockedException">The environment is open, here or in another process; the message says in
    /// which.</exception>
    /// <exception cref="ForeignDataException">The directory contains other data, or a newer format.</exception>
    /// <exception cref="EncryptionKeyException">The key is missing, wrong, or not needed.</exception>
    /// <exception cref="StorageException">There is no environment, or it cannot be read.</exception>
    /// <exception cref="OperationCanceledException">The check was cancelled.</exception>
    public static CheckReport Run(
        string directory, EncryptionKey? key = null, IProgress<CheckProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return Run(World.OfDisk(directory), key, progress, cancellationToken);
    }

    /// <summary>Checks in the given world.</summary>
    internal static CheckReport Run(
        World world, EncryptionKey? key, IProgress<CheckProgress>? progress, CancellationToken cancellationToken)
    {
        try
        {
            using StorageEnvironment environment = StorageEnvironment.Open(
                world,
                new StorageOptions
                {
                    ReadOnly = true,
                    EncryptionKey = key,
                    MaxDataFileBytes = RecoveredState.ReserveBytes(world.Files)
                });
            CheckReport report = environment.Check(progress, cancellationToken);
            return new DamagedCheck(world, key).AddOlderMeta(report, environment.Cipher);
        }
        catch (CorruptionException error)
        {
            return new DamagedCheck(world, key).Run(error, progress, cancellationToken);
        }
    }
}
