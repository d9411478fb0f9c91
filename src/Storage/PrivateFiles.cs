using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>
/// Creates files and directories beside environments that are durable and inaccessible to other accounts of the machine.
/// Thread-safe.
/// </summary>
public static class PrivateFiles
{
    /// <summary>
    /// Creates a directory and its missing parents, accessible to the account of this process only (mode 700). Durable when the
    /// method returns.
    /// </summary>
    /// <exception cref="StorageException">The system denies it; the message says what and why.</exception>
    public static void CreateDirectory(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        DurableDirectory.Create(Path.GetFullPath(path));
    }

    /// <summary>
    /// Opens or creates a file without a buffer. A file that it creates is accessible to the account of this process only (mode
    /// 600), whatever the umask.
    /// </summary>
    /// <exception cref="IOException">The file cannot be opened or created.</exception>
    /// <exception cref="UnauthorizedAccessException">The process lacks the permission.</exception>
    public static FileStream CreateFile(
        string path, FileMode mode, FileAccess access = FileAccess.Write, FileShare share = FileShare.None,
        FileOptions options = FileOptions.None) =>
        OwnerOnly.OpenFile(path, mode, access, share, options);

    /// <summary>
    /// Locks a directory for this process, as an environment locks its own, by a file in it that is created if it does not exist.
    /// The system releases the lock when the process ends, in whatever way.
    /// </summary>
    /// <param name="directory">The directory.</param>
    /// <param name="lockFile">The name of the lock file.</param>
    /// <param name="clock">The clock, for the message that names the holder.</param>
    /// <param name="allowMissingLocks">Whether to allow file systems without locks, which are otherwise rejected.</param>
    /// <returns>The lock, held until it is disposed.</returns>
    /// <exception cref="EnvironmentLockedException">The directory is locked; the message says by whom.</exception>
    /// <exception cref="DiskFullException">There is no space for the file.</exception>
    /// <exception cref="StorageException">The system denies it, or the file system has no locks.</exception>
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
    /// Removes the permissions of other accounts from an existing directory (mode 700), if it belongs to the account of this
    /// process.
    /// </summary>
    public static void CloseToOthers(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        OwnerOnly.Close(directory);
    }

    /// <summary>
    /// Renames a directory within its parent. Durable when the method returns: otherwise the directory may have its old name
    /// again after a power failure.
    /// </summary>
    /// <exception cref="IOException">The directory cannot be renamed.</exception>
    /// <exception cref="UnauthorizedAccessException">The process lacks the permission to rename it.</exception>
    /// <exception cref="StorageException">The parent cannot be synced: the directory has its new name, but may lose it in a power
    /// failure.</exception>
    public static void MoveDirectory(string from, string to)
    {
        ArgumentException.ThrowIfNullOrEmpty(from);
        ArgumentException.ThrowIfNullOrEmpty(to);
        DurableDirectory.Move(Path.GetFullPath(from), Path.GetFullPath(to));
    }
}
