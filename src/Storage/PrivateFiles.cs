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
