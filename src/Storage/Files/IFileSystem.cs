using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// The seam to the world: everything the store does to files goes through here, so that a simulated disk can stand in.
/// Names are without a directory: one file system is one environment's directory. Methods raise typed errors:
/// <see cref="DiskFullException"/> where there is no room, otherwise a <see cref="StorageException"/> that names the file (a
/// simulated disk: <see cref="IOException"/>).
/// </summary>
internal interface IFileSystem
{
    /// <summary>The system below.</summary>
    SystemCalls Calls => SystemCalls.Default;

    /// <summary>What was found of the file system so far.</summary>
    StoragePlatform Describe(IDisposable fileLock) =>
        new() { SystemPageBytes = Calls.PageBytes, IsLockProven = true };

    /// <summary>The directory, for error messages.</summary>
    string Path { get; }

    /// <summary>Creates the directory, and those above it, if absent; their names are durable then.</summary>
    void CreateDirectory();

    /// <summary>Names of all plain files, in no order; empty if the directory is absent.</summary>
    IReadOnlyList<string> List();

    /// <summary>Opens a file; <paramref name="create"/> makes it, empty, and fails if it exists.</summary>
    IFile Open(string name, bool create, bool writable);

    /// <summary>Removes a file.</summary>
    void Delete(string name);

    /// <summary>Gives a file another name, replacing one that has it.</summary>
    void Rename(string from, string to);

    /// <summary>Makes creation, renaming and deletion durable.</summary>
    void SyncDirectory();

    /// <summary>
    /// Takes the lock of the directory, for one writer or for readers, until disposed or the process ends.
    /// Throws <see cref="EnvironmentLockedException"/> naming the holder.
    /// </summary>
    IDisposable Lock(string name, bool shared);

    /// <summary>
    /// Writes into a lock taken for writing who holds it since when, for the error message of a second opener. Done last in
    /// opening, so that a directory which is refused stays as it was.
    /// </summary>
    void NameHolder(IDisposable fileLock, DateTimeOffset now)
    {
    }

    /// <summary>Whether there can be a file behind memory; see <see cref="CreateSpill"/>.</summary>
    bool CanSpill => false;

    /// <summary>
    /// Creates a file without a name, for memory beyond a budget, in parts of this size; null where there is none.
    /// </summary>
    SpillFile? CreateSpill(long partBytes) => null;

    /// <summary>
    /// Deletes a lock file that this opening made and that is still held, so that a directory which is refused stays as it was.
    /// Where a second opener could not tell that its lock is of a deleted file, the file stays.
    /// </summary>
    void Unmake(IDisposable fileLock, string name) => Delete(name);

    /// <summary>A read-only view of a file as memory, of up to <paramref name="reserveBytes"/>.</summary>
    IFileMap Map(IFile file, long reserveBytes);
}
