using System.Globalization;
using System.Text;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>The real disk.</summary>
internal sealed class DiskFileSystem(string path) : IFileSystem
{
    /// <summary>Bytes of the lock's text, filled up with blanks: a block of the file system, which need not be read to be written as a whole.</summary>
    private const int HolderBytes = 4_096;

    public string Path { get; } = System.IO.Path.GetFullPath(path);

    public void CreateDirectory() => DurableDirectory.Create(Path);

    public IReadOnlyList<string> List()
    {
        if (!Directory.Exists(Path))
            return [];

        return [.. Directory.EnumerateFiles(Path).Select(file => System.IO.Path.GetFileName(file))];
    }

    public IFile Open(string name, bool create, bool writable) => DiskFile.Open(Full(name), create, writable);

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

    public void SyncDirectory() => DurableDirectory.Sync(Path);

    /// <summary>
    /// The lock is the system's own on an open file, so it ends with the process, however that ends, and a stale one
    /// cannot be: what the file says is only for the error message of the second opener.
    /// </summary>
    public IDisposable Lock(string name, bool shared)
    {
        string file = Full(name);
        if (shared && !File.Exists(file))
            return EmptyLock.Instance; // a directory on read-only media that nobody can write to

        try
        {
            var stream = shared
                ? new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.Read, bufferSize: 0)
                : new FileStream(file, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None, bufferSize: 0);
            return stream;
        }
        catch (UnauthorizedAccessException error)
        {
            throw new StorageException(
                $"The directory '{Path}' cannot be written: {error.Message} Give the process the right to write, or open with StorageOptions.ReadOnly.", error);
        }
        catch (IOException error) when (error is not FileNotFoundException and not DirectoryNotFoundException)
        {
            if (FileErrors.IsDiskFull(error))
                throw FileErrors.Translate(error, file, "The lock file cannot be written");
            if (FileErrors.IsReadOnly(error))
                throw new StorageException($"The directory '{Path}' is on read-only media; open with StorageOptions.ReadOnly.", error);

            throw new EnvironmentLockedException(
                $"The directory '{Path}' is open elsewhere: {ReadHolder(file)}. Close it there first; one process at a time may have it open.", error);
        }
    }

    public void NameHolder(IDisposable fileLock, DateTimeOffset now)
    {
        if (fileLock is not FileStream { CanWrite: true } stream)
            return;

        try
        {
            WriteHolder(stream, now);
        }
        catch (IOException error)
        {
            throw FileErrors.Translate(error, stream.Name, "The lock file cannot be written");
        }
    }

    public IFileMap Map(IFile file, long reserveBytes) =>
        OperatingSystem.IsLinux() && file is DiskFile disk ? new MappedFile(disk, reserveBytes) : new CopiedFile(file, reserveBytes);

    private string Full(string name) => System.IO.Path.Combine(Path, name);

    /// <summary>The moment is that of opening: when a process began the system says in a file for each of its threads, and reading those takes longer than everything else in opening.</summary>
    private static void WriteHolder(FileStream stream, DateTimeOffset now)
    {
        string program = System.IO.Path.GetFileNameWithoutExtension(Environment.ProcessPath) ?? "unknown";
        string holder = string.Create(CultureInfo.InvariantCulture, $"process {Environment.ProcessId} ({program}) on {Environment.MachineName}, since {now.UtcDateTime:yyyy-MM-dd HH:mm:ss}Z");
        byte[] text = new byte[HolderBytes];
        text.AsSpan().Fill((byte)' ');
        Encoding.UTF8.TryGetBytes(holder, text, out _);

        // A file that is cut waits for the file system's journal, some milliseconds where others write: it is written over instead.
        if (stream.Length > text.Length)
            stream.SetLength(text.Length);
        stream.Write(text);
        stream.Flush();
    }

    private static string ReadHolder(string file)
    {
        try
        {
            using Microsoft.Win32.SafeHandles.SafeFileHandle? handle = OperatingSystem.IsWindows() ? null : UnixFileCalls.OpenUnlocked(file);
            var text = new byte[512];
            int length = handle is null ? 0 : RandomAccess.Read(handle, text, 0);
            return length == 0 ? "by an unnamed process" : "by " + Encoding.UTF8.GetString(text, 0, length).TrimEnd();
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return "by an unknown process";
        }
    }

    private sealed class EmptyLock : IDisposable
    {
        public static readonly EmptyLock Instance = new();

        public void Dispose()
        {
        }
    }
}
