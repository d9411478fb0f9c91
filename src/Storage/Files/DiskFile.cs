using Microsoft.Win32.SafeHandles;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>A file on disk.</summary>
internal sealed class DiskFile : IFile
{
    private const int InvalidArgument = 22;

    private readonly string _path;
    private readonly DiskFileSystem _files;
    private readonly bool _isShared;
    private SafeFileHandle? _direct;
    private bool _isDirect;
    private SafeFileHandle? _pastCache;
    private bool _refusesPastCache = !OperatingSystem.IsLinux();

    /// <param name="path">The path of the file.</param>
    /// <param name="handle">The open file.</param>
    /// <param name="files">The file system.</param>
    /// <param name="isShared">Whether the handle is closed by its owner and not by this object.</param>
    internal DiskFile(string path, SafeFileHandle handle, DiskFileSystem files, bool isShared = false)
    {
        _path = path;
        _files = files;
        _isShared = isShared;
        Handle = handle;
    }

    public SafeFileHandle Handle { get; }

    public string Name => Path.GetFileName(_path);

    public long Length => RandomAccess.GetLength(Handle);

    /// <inheritdoc cref="SystemCalls.FindWriteError"/>
    public int FindWriteError() => _files.Calls.FindWriteError(Handle);

    public static DiskFile Open(string path, bool create, bool writable, DiskFileSystem files)
    {
        try
        {
            // .NET would take a lock of its own on the file, which on some network file systems conflicts with the
            // directory's.
            SafeFileHandle handle = OperatingSystem.IsWindows()
                ? File.OpenHandle(
                    path,
                    create ? FileMode.CreateNew : FileMode.Open,
                    writable ? FileAccess.ReadWrite : FileAccess.Read,
                    FileShare.ReadWrite | FileShare.Delete,
                    writable ? FileOptions.WriteThrough : FileOptions.None)
                : UnixFileCalls.OpenPlain(path, writable, create, isNew: create);
            return new DiskFile(path, handle, files);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, path, create ? "The file cannot be created" : "The file cannot be opened");
        }
    }

    public int Read(Span<byte> destination, long offset) => Read(Handle, destination, offset);

    private int Read(SafeFileHandle handle, Span<byte> destination, long offset)
    {
        int total = 0;
        while (total < destination.Length)
        {
            int read = ReadSome(handle, destination[total..], offset + total);
            if (read == 0)
                break;
            total += read;
        }

        return total;
    }

    public bool ReadsPastCache => _pastCache is not null;

    public int ReadPastCache(Span<byte> destination, long offset)
    {
        if (!_refusesPastCache)
            _pastCache ??= _files.Calls.OpenDirectForReading(_path);
        _refusesPastCache = _pastCache is null;
        if (_pastCache is not { } handle)
            return Read(destination, offset);

        try
        {
            return Read(handle, destination, offset);
        }
        catch (StorageException error) when ((error.InnerException as IOException)?.HResult == InvalidArgument)
        {
            _pastCache = null; // some file systems allow opening a file this way and then refuse to read
            _refusesPastCache = true;
            handle.Dispose();
            return Read(destination, offset);
        }
    }

    public void Announce(long offset, long lengthBytes)
    {
        if (OperatingSystem.IsLinux())
            UnixFileCalls.Announce(Handle, offset, lengthBytes);
    }

    public void Write(ReadOnlySpan<byte> source, long offset)
    {
        try
        {
            RandomAccess.Write(Handle, source, offset);
        }
        catch (IOException error)
        {
            throw FileErrors.Translate(error, _path, "The file cannot be written");
        }
    }

    public void Sync()
    {
        if (OperatingSystem.IsWindows())
        {
            try
            {
                RandomAccess.FlushToDisk(Handle);
                return;
            }
            catch (IOException failure)
            {
                throw FileErrors.Translate(failure, _path, "The file cannot be synced");
            }
        }

        int error = UnixFileCalls.SyncData(Handle);
        if (error != 0)
            throw FileErrors.FromNumber(error, _path, "The file cannot be synced");
    }

    public void WriteDurable(ReadOnlySpan<byte> source, long offset)
    {
        if (!_isDirect || _direct is not { } direct)
        {
            Write(source, offset);
            Sync();
            return;
        }

        int error = UnixFileCalls.WriteAt(direct, source, offset);
        if (error != 0)
            throw FileErrors.FromNumber(error, _path, "The file cannot be written");
    }

    public bool TryWriteDirectly(bool isDirect)
    {
        if (isDirect && _direct is null && OperatingSystem.IsLinux())
            _direct = _files.Calls.OpenDirect(_path);
        if (isDirect && _direct is null)
            return false;

        _isDirect = isDirect;
        return true;
    }

    public bool TryAllocate(long offset, long lengthBytes)
    {
        if (OperatingSystem.IsLinux())
        {
            int error = _files.Calls.Allocate(Handle, offset, lengthBytes);
            if (error == 0 || FileErrors.IsUnsupported(error))
            {
                _files.GivesBlocksAhead = error == 0;
                return error == 0;
            }

            throw FileErrors.FromNumber(error, _path, "The file cannot grow");
        }

        if (!OperatingSystem.IsWindows())
            return false; // extending the file would make it sparse

        try
        {
            RandomAccess.SetLength(Handle, offset + lengthBytes); // NTFS allocates clusters
            return true;
        }
        catch (IOException error)
        {
            throw FileErrors.Translate(error, _path, "The file cannot grow");
        }
    }

    public void Truncate(long lengthBytes)
    {
        if (Length <= lengthBytes)
            return;

        try
        {
            RandomAccess.SetLength(Handle, lengthBytes);
        }
        catch (IOException error)
        {
            throw FileErrors.Translate(error, _path, "The file cannot be made shorter");
        }
    }

    public void Dispose()
    {
        _direct?.Dispose();
        _pastCache?.Dispose();
        if (!_isShared)
            Handle.Dispose();
    }

    private int ReadSome(SafeFileHandle handle, Span<byte> destination, long offset)
    {
        try
        {
            return RandomAccess.Read(handle, destination, offset);
        }
        catch (IOException error)
        {
            throw FileErrors.Translate(error, _path, "The file cannot be read");
        }
    }
}
