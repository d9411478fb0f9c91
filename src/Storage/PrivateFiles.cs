using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>
/// Files and directories beside environments, for those who keep environments in directories of their own: closed to other
/// accounts of the machine, and durable. Thread-safe.
/// </summary>
public static class PrivateFiles
{
    /// <summary>
    /// Creates a directory, with those above it, if absent: for the account of this process alone (mode 700). Their names survive
    /// a loss of power from then on.
    /// </summary>
    /// <exception cref="StorageException">The system refuses; the message says what and why.</exception>
    public static void CreateDirectory(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        DurableDirectory.Create(Path.GetFullPath(path));
    }

    /// <summary>
    /// Opens or creates a file beside environments, without a buffer. A file that it creates can be read and written by the
    /// account of this process alone (mode 600), whatever the umask.
    /// </summary>
    /// <exception cref="IOException">The system refuses.</exception>
    /// <exception cref="UnauthorizedAccessException">The process lacks the right.</exception>
    public static FileStream CreateFile(
        string path, FileMode mode, FileAccess access = FileAccess.Write, FileShare share = FileShare.None,
        FileOptions options = FileOptions.None) =>
        OwnerOnly.OpenFile(path, mode, access, share, options);

    /// <summary>
    /// Locks a directory for this process alone, as an environment locks its own, by a file in it that is made if there is none.
    /// The system takes the lock back when the process ends, however that ends.
    /// </summary>
    /// <param name="directory">The directory.</param>
    /// <param name="lockFile">Name of the file.</param>
    /// <param name="clock">The clock, for the message that names who holds it.</param>
    /// <param name="allowMissingLocks">Whether it may be one where the file system has no locks, which is otherwise
    /// refused.</param>
    /// <returns>The lock, until it is disposed.</returns>
    /// <exception cref="EnvironmentLockedException">It is locked; the message says by whom.</exception>
    /// <exception cref="DiskFullException">There is no room for the file.</exception>
    /// <exception cref="StorageException">The system refuses, or the file system has no locks.</exception>
    public static IDisposable LockDirectory(string directory, string lockFile, TimeProvider clock, bool allowMissingLocks = false)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        ArgumentException.ThrowIfNullOrEmpty(lockFile);
        ArgumentNullException.ThrowIfNull(clock);
        var files = new DiskFileSystem(Path.GetFullPath(directory), allowMissingLocks);
        IDisposable held = files.Lock(lockFile, shared: false);
        try
        {
            files.NameHolder(held, clock.GetUtcNow());
            return held;
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Takes the rights of other accounts away from a directory that is there (mode 700), where it belongs to the account of this
    /// process.
    /// </summary>
    public static void CloseToOthers(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        OwnerOnly.Close(directory);
    }

    /// <summary>
    /// Makes names that were created, renamed or deleted in a directory durable, for those who keep environments in directories
    /// of their own: a renamed directory may otherwise have its old name again after a loss of power. One sync; nothing on
    /// Windows, where the file system sees to it.
    /// </summary>
    /// <exception cref="StorageException">The directory is not there or cannot be synced.</exception>
    public static void SyncDirectory(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        DurableDirectory.Sync(Path.GetFullPath(path));
    }
}
