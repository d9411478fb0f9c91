using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// The file system interface: all file access of the store goes through it, so that a disk can be simulated. Names have no
/// directory: a file system is the directory of one environment. Methods throw typed errors: <see cref="DiskFullException"/>
/// if there is not enough space, otherwise a <see cref="StorageException"/> that names the file (a simulated disk:
/// <see cref="IOException"/>).
/// </summary>
internal interface IFileSystem
{
    /// <summary>The system calls used.</summary>
    SystemCalls Calls => SystemCalls.Default;

    /// <summary>Returns what is known about the file system.</summary>
    StoragePlatform Describe(IDisposable fileLock) =>
        new() { SystemPageBytes = Calls.PageBytes, IsLockProven = true };

    /// <summary>The directory, for error messages.</summary>
    string Path { get; }

    /// <summary>Creates the directory and its missing parents, with durable names.</summary>
    void CreateDirectory();

    /// <summary>Returns the names of all regular files, unordered; empty if the directory does not exist.</summary>
    IReadOnlyList<string> List();

    /// <summary>Opens a file. With <paramref name="create"/>, creates an empty one and fails if it exists.</summary>
    IFile Open(string name, bool create, bool writable);

    /// <summary>Deletes a file.</summary>
    void Delete(string name);

    /// <summary>Renames a file, replacing an existing one.</summary>
    void Rename(string from, string to);

    /// <summary>Makes the creation, renaming and deletion of files durable.</summary>
    void SyncDirectory();

    /// <summary>
    /// Takes the lock of the directory, exclusive or shared, until it is disposed or the process ends. Throws
    /// <see cref="EnvironmentLockedException"/> with the holder.
    /// </summary>
    IDisposable Lock(string name, bool shared);

    /// <summary>
    /// Writes the holder and the time into an exclusive lock, for the error message of a second opener. Done as the last step
    /// of opening, so that a directory that cannot be opened is not changed.
    /// </summary>
    void NameHolder(IDisposable fileLock, DateTimeOffset now)
    {
    }

    /// <summary>Whether <see cref="CreateSpill"/> is supported.</summary>
    bool CanSpill => false;

    /// <summary>
    /// Creates an unnamed file for memory beyond a budget, in parts of this size. Returns null if there is none.
    /// </summary>
    SpillFile? CreateSpill(long partBytes) => null;

    /// <summary>
    /// Deletes a lock file that this opening created and still holds, so that a directory that cannot be opened is not
    /// changed. Keeps it if a second opener could not detect that its lock is of a deleted file.
    /// </summary>
    void Unmake(IDisposable fileLock, string name) => Delete(name);

    /// <summary>Creates a read-only view of a file as memory, of up to <paramref name="reserveBytes"/>.</summary>
    IFileMap Map(IFile file, long reserveBytes);
}
