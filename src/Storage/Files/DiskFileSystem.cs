using System.Globalization;
using System.Text;
using Microsoft.Win32.SafeHandles;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>The real file system.</summary>
/// <param name="path">The directory.</param>
/// <param name="allowMissingLocks">Whether a directory may be opened on a file system without locks.</param>
/// <param name="calls">The system calls, or null for this machine's.</param>
internal sealed class DiskFileSystem(string path, bool allowMissingLocks = false, SystemCalls? calls = null) : IFileSystem
{
    /// <summary>
    /// The size of the lock file's text, padded with spaces: a whole block of the file system, which can be written without
    /// reading it first.
    /// </summary>
    private const int HolderBytes = 4_096;

    private DirectoryLock? _lock;

    /// <summary>
    /// Not on a copy-on-write file system: there a page that was written out needs a new block when it changes, and a full disk
    /// would end the process.
    /// </summary>
    public bool CanSpill => OperatingSystem.IsLinux() && !StoragePlatform.IsCopyOnWriteName(Calls.NameFileSystem(Path));

    public SystemCalls Calls { get; } = calls ?? SystemCalls.Default;

    /// <summary>Whether blocks were allocated in advance when a file last grew, or null if none has grown.</summary>
    internal bool? GivesBlocksAhead { get; set; }

    /// <summary>Whether mapped pages are loaded by a call that returns I/O errors, or null if no file is mapped.</summary>
    internal bool? PopulatesMaps { get; set; }

    public string Path { get; } = System.IO.Path.GetFullPath(path);

    public void CreateDirectory()
    {
        if (Directory.Exists(Path) && !File.Exists(Full(FormatLimits.DataFileName)))
            DurableDirectory.MakeNameDurable(Path, Calls);
        else
            DurableDirectory.Create(Path, Calls);
    }

    public IReadOnlyList<string> List()
    {
        if (!Directory.Exists(Path))
            return [];

        try
        {
            return [.. Directory.EnumerateFiles(Path).Select(file => System.IO.Path.GetFileName(file))];
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, Path, "The directory cannot be listed");
        }
    }

    /// <summary>
    /// The holder of the directory lock has already opened the data file; reusing it saves a descriptor, of which a process
    /// has a limited number.
    /// </summary>
    public IFile Open(string name, bool create, bool writable) =>
        !create && name == FormatLimits.DataFileName && _lock?.FindData(Full(name), writable, Calls) is { } data
            ? new DiskFile(Full(name), data, this, isShared: true)
            : DiskFile.Open(Full(name), create, writable, this);

    public void Delete(string name)
    {
        try
        {
            File.Delete(Full(name));
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, Full(name), "The file cannot be deleted");
        }
    }

    public void Rename(string from, string to)
    {
        try
        {
            File.Move(Full(from), Full(to), overwrite: true);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, Full(from), $"The file cannot be renamed to '{to}'");
        }
    }

    public void SyncDirectory() => DurableDirectory.Sync(Path, Calls);

    /// <summary>
    /// The text in the lock file is only for the error message of a second opener. See <see cref="DirectoryLock"/>.
    /// </summary>
    public IDisposable Lock(string name, bool shared)
    {
        string file = Full(name), data = Full(FormatLimits.DataFileName);
        try
        {
            if (OperatingSystem.IsWindows())
                return LockOnWindows(file, shared);

            DirectoryLock? taken = shared
                ? DirectoryLock.TryTakeShared(file, data, Calls, allowMissingLocks)
                : DirectoryLock.TryTakeAlone(file, data, Calls, allowMissingLocks);
            return _lock = taken ?? throw Locked(file, null);
        }
        catch (FileNotFoundException error)
        {
            throw new StorageException(
                $"There is no store in '{Path}': neither '{name}' nor '{FormatLimits.DataFileName}' is there.", error);
        }
        catch (UnauthorizedAccessException error)
        {
            throw new StorageException(
                $"The directory '{Path}' cannot be written: {error.Message} Give the process the right to write, or open with "
                    + $"StorageOptions.ReadOnly.", error);
        }
        catch (IOException error) when (error is not DirectoryNotFoundException)
        {
            if (FileErrors.IsDiskFull(error))
                throw FileErrors.Translate(error, file, "The lock file cannot be written");
            if (FileErrors.IsReadOnly(error))
                throw new StorageException(
                    $"The directory '{Path}' is on read-only media; open with StorageOptions.ReadOnly.", error);
            if (OperatingSystem.IsWindows())
                throw Locked(file, error);

            throw FileErrors.Translate(error, file, "The lock file cannot be opened");
        }
    }

    public void NameHolder(IDisposable fileLock, DateTimeOffset now)
    {
        string path = Full(FormatLimits.LockFileName);
        try
        {
            if (fileLock is DirectoryLock { IsShared: false, File: { } file } held)
            {
                WriteHolder(file, now);
                _ = held.TryTakeData(Full(FormatLimits.DataFileName), Calls, out _); // the store may have been created meanwhile
            }
            else if (fileLock is FileStream { CanWrite: true } stream)
                WriteHolder(stream.SafeFileHandle, now);
        }
        catch (IOException error) when (!FileErrors.IsDiskFull(error))
        {
            throw FileErrors.Translate(error, path, "The lock file cannot be written");
        }
        catch (IOException)
        {
            // The text only tells others who holds the directory, and deleting must be possible on a full disk.
        }
    }

    public void Unmake(IDisposable fileLock, string name)
    {
        // On other systems a waiting process could not detect that the file was deleted, so it is kept and reused.
        if (fileLock is DirectoryLock { File: { } file } && Calls.CountLinks(file) > 0)
            Delete(name);
    }

    public StoragePlatform Describe(IDisposable fileLock) => new()
    {
        SystemPageBytes = Calls.PageBytes,
        FileSystem = Calls.NameFileSystem(Path),
        IsLockProven = fileLock is not DirectoryLock { IsProven: false },
        GivesBlocksAhead = GivesBlocksAhead,
        IsMapGuarded = PopulatesMaps,
    };

    public IFileMap Map(IFile file, long reserveBytes) =>
        OperatingSystem.IsLinux() && file is DiskFile disk
            ? new MappedFile(disk, reserveBytes, this)
            : new CopiedFile(file, reserveBytes, Calls);

    /// <summary>
    /// Deletes the name of the file before it has content: no other process can open it, and it ends with the process.
    /// </summary>
    public SpillFile? CreateSpill(long partBytes)
    {
        if (!CanSpill)
            return null;

        string name = Full(FormatLimits.SpillFileName);
        DiskFile? file = null;
        try
        {
            File.Delete(name); // left by a process that was killed between the next two lines
            file = DiskFile.Open(name, create: true, writable: true, this);
            File.Delete(name);
            return new SpillFile(file, partBytes);
        }
        catch (Exception error) when (error is StorageException or IOException or UnauthorizedAccessException)
        {
            file?.Dispose();
            return null;
        }
    }

    private string Full(string name) => System.IO.Path.Combine(Path, name);

    /// <summary>
    /// Writes the holder, with the time of opening. To get the start time of a process, the system reads a file for each of
    /// its threads, which takes longer than everything else in opening.
    /// </summary>
    private static void WriteHolder(SafeFileHandle file, DateTimeOffset now)
    {
        string program = System.IO.Path.GetFileNameWithoutExtension(Environment.ProcessPath) ?? "unknown";
        string holder = string.Create(
            CultureInfo.InvariantCulture,
            $"process {Environment.ProcessId} ({program}) on {Environment.MachineName}, since "
                + $"{now.UtcDateTime:yyyy-MM-dd HH:mm:ss}Z");
        byte[] text = new byte[HolderBytes];
        text.AsSpan().Fill((byte)' ');
        Encoding.UTF8.TryGetBytes(holder, text, out _);

        // Truncating a file waits for the file system's journal, some milliseconds if others are writing, so it is
        // overwritten instead.
        if (RandomAccess.GetLength(file) > text.Length)
            RandomAccess.SetLength(file, text.Length);
        RandomAccess.Write(file, text, 0);
    }

    private static FileStream LockOnWindows(string file, bool shared)
    {
        FileMode mode = shared && !File.Exists(file) ? FileMode.Open : FileMode.OpenOrCreate;
        return shared
            ? new FileStream(file, mode, FileAccess.Read, FileShare.Read, bufferSize: 0)
            : new FileStream(file, mode, FileAccess.ReadWrite, FileShare.None, bufferSize: 0);
    }

    private EnvironmentLockedException Locked(string file, Exception? error) =>
        new(
            $"The directory '{Path}' is open elsewhere: {ReadHolder(file)}. Close it there first; one process at a time may have "
                + $"it open.",
            error);

    private static string ReadHolder(string file)
    {
        try
        {
            using SafeFileHandle? handle = OperatingSystem.IsWindows() ? null : UnixFileCalls.OpenUnlocked(file);
            var text = new byte[512];
            int length = handle is null ? 0 : RandomAccess.Read(handle, text, 0);
            return length == 0 ? "by an unnamed process" : "by " + Encoding.UTF8.GetString(text, 0, length).TrimEnd();
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return "by an unknown process";
        }
    }
}
