using Microsoft.Win32.SafeHandles;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>A file of the real disk.</summary>
internal sealed class DiskFile : IFile
{
    private readonly string _path;
    private SafeFileHandle? _direct;
    private bool _isDirect;

    private DiskFile(string path, SafeFileHandle handle)
    {
        _path = path;
        Handle = handle;
    }

    public SafeFileHandle Handle { get; }

    public string Name => Path.GetFileName(_path);

    public long Length => RandomAccess.GetLength(Handle);

    public static DiskFile Open(string path, bool create, bool writable)
    {
        try
        {
            SafeFileHandle handle = File.OpenHandle(
                path,
                create ? FileMode.CreateNew : FileMode.Open,
                writable ? FileAccess.ReadWrite : FileAccess.Read,
                FileShare.ReadWrite | FileShare.Delete,
                OperatingSystem.IsWindows() && writable ? FileOptions.WriteThrough : FileOptions.None);
            return new DiskFile(path, handle);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, path, create ? "The file cannot be created" : "The file cannot be opened");
        }
    }

    public int Read(Span<byte> destination, long offset)
    {
        int total = 0;
        while (total < destination.Length)
        {
            int read = ReadSome(destination[total..], offset + total);
            if (read == 0)
                break;
            total += read;
        }

        return total;
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
            _direct = UnixFileCalls.OpenDirect(_path);
        if (isDirect && _direct is null)
            return false;

        _isDirect = isDirect;
        return true;
    }

    public void Allocate(long lengthBytes)
    {
        if (Length >= lengthBytes)
            return;

        if (OperatingSystem.IsLinux())
        {
            int error = UnixFileCalls.Allocate(Handle, lengthBytes);
            if (error != 0)
                throw FileErrors.FromNumber(error, _path, "The file cannot grow");
            return;
        }

        try
        {
            RandomAccess.SetLength(Handle, lengthBytes);
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
        Handle.Dispose();
    }

    private int ReadSome(Span<byte> destination, long offset)
    {
        try
        {
            return RandomAccess.Read(Handle, destination, offset);
        }
        catch (IOException error)
        {
            throw FileErrors.Translate(error, _path, "The file cannot be read");
        }
    }
}
