using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>
/// The file calls of libc that .NET does not give, or gives without their errors. Each returns an error number, 0 for success.
/// </summary>
internal static partial class UnixFileCalls
{
    private const int FullSync = 51;
    private const int OpenReadOnly = 0;
    private const int OpenReadWrite = 2;
    private const int OpenNew = 0x80; // Linux
    private const int OpenCreate = 0x40; // Linux
    private const int OpenDataSync = 0x1000; // Linux
    private const int OpenCloseOnExec = 0x80000; // Linux
    private const int NewFileMode = 0x180; // 0600: nobody else's
    private const int ErrorNoPermission = 1;
    private const int ErrorNoEntry = 2;
    private const int ErrorNoAccess = 13;
    private const int AdviseWillNeed = 3; // Linux
    private const int ErrorInterrupted = 4;
    private const int ErrorInputOutput = 5;

    private static int CloseOnExec => OperatingSystem.IsMacOS() ? 0x1000000 : OpenCloseOnExec;

    /// <summary>O_DIRECT of Linux, which is not the same on all processors.</summary>
    private static int OpenPastCache =>
        RuntimeInformation.ProcessArchitecture is Architecture.Arm64 or Architecture.Arm ? 0x10000 : 0x4000;

    /// <summary>
    /// Makes written data durable. <c>RandomAccess.FlushToDisk</c> swallows EROFS, EINVAL and ENOTSUP; this does not.
    /// </summary>
    public static int SyncData(SafeFileHandle file) => OnFile(file, static descriptor =>
        OperatingSystem.IsMacOS() ? FileControl(descriptor, FullSync, 0) : FDataSync(descriptor));

    /// <summary>
    /// Has Linux begin to read a part of a file, just that and no more; waits for nothing. Refusal changes nothing.
    /// </summary>
    public static void Announce(SafeFileHandle file, long offset, long lengthBytes)
    {
        bool held = false;
        try
        {
            file.DangerousAddRef(ref held);
            _ = PosixFAdvise((int)file.DangerousGetHandle(), offset, lengthBytes, AdviseWillNeed);
        }
        finally
        {
            if (held)
                file.DangerousRelease();
        }
    }

    /// <summary>
    /// Opens a file of Linux for writing past the cache, each write durable when it returns; null where the file system does not
    /// do that.
    /// </summary>
    public static SafeFileHandle? OpenDirect(string path)
    {
        int descriptor = Open(path, OpenReadWrite | OpenPastCache | OpenDataSync | OpenCloseOnExec, 0);
        return descriptor < 0 ? null : new SafeFileHandle(descriptor, ownsHandle: true);
    }

    /// <summary>Opens a file of Linux for reading past the cache; null where the file system does not do that.</summary>
    public static SafeFileHandle? OpenDirectForReading(string path)
    {
        int descriptor = Open(path, OpenReadOnly | OpenPastCache | OpenCloseOnExec, 0);
        return descriptor < 0 ? null : new SafeFileHandle(descriptor, ownsHandle: true);
    }

    /// <summary>Writes all bytes at an offset.</summary>
    public static int WriteAt(SafeFileHandle file, ReadOnlySpan<byte> source, long offset)
    {
        bool held = false;
        try
        {
            file.DangerousAddRef(ref held);
            int descriptor = (int)file.DangerousGetHandle();
            while (!source.IsEmpty)
            {
                nint written = PWrite(descriptor, ref MemoryMarshal.GetReference(source), (nuint)source.Length, offset);
                int error = written >= 0 ? 0 : Marshal.GetLastPInvokeError();
                if (error != 0 && error != ErrorInterrupted)
                    return error;
                if (written == 0)
                    return ErrorInputOutput; // a file that takes no bytes and names no reason
                if (written < 0)
                    continue;

                source = source[(int)written..];
                offset += written;
            }

            return 0;
        }
        finally
        {
            if (held)
                file.DangerousRelease();
        }
    }

    /// <summary>Makes created, renamed and deleted names of a directory durable.</summary>
    public static int SyncDirectory(string path)
    {
        int descriptor = Open(path, OpenReadOnly, 0);
        if (descriptor < 0)
            return Marshal.GetLastPInvokeError();

        int error = FSync(descriptor) == 0 ? 0 : Marshal.GetLastPInvokeError();
        _ = Close(descriptor);
        return error;
    }

    /// <summary>
    /// Opens a file for reading past the locks that .NET takes on every file it opens; null where it cannot be opened.
    /// </summary>
    public static SafeFileHandle? OpenUnlocked(string path)
    {
        int descriptor = Open(path, OpenReadOnly, 0);
        return descriptor < 0 ? null : new SafeFileHandle(descriptor, ownsHandle: true);
    }

    /// <summary>Opens a file without the lock that .NET would take. Throws what .NET throws where that fails.</summary>
    public static SafeFileHandle OpenPlain(string path, bool writable, bool create, bool isNew = false)
    {
        if (create && OperatingSystem.IsMacOS())
        {
            // There the mode of a call with a variable number of arguments is passed in another way.
            new FileStream(path, new FileStreamOptions
            {
                Mode = isNew ? FileMode.CreateNew : FileMode.OpenOrCreate,
                Access = FileAccess.ReadWrite,
                Share = FileShare.ReadWrite,
                UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite,
            }).Dispose();
            create = false;
        }

        int flags = (writable ? OpenReadWrite : OpenReadOnly) | CloseOnExec | (create ? OpenCreate : 0)
            | (create && isNew ? OpenNew : 0);
        int descriptor;
        do
        {
            descriptor = Open(path, flags, NewFileMode);
        }
        while (descriptor < 0 && Marshal.GetLastPInvokeError() == ErrorInterrupted);
        if (descriptor >= 0)
            return new SafeFileHandle(descriptor, ownsHandle: true);

        int error = Marshal.GetLastPInvokeError();
        string message = $"'{path}' cannot be opened: {Marshal.GetPInvokeErrorMessage(error)}.";
        throw error switch
        {
            ErrorNoEntry => new FileNotFoundException(message, path),
            ErrorNoAccess or ErrorNoPermission => new UnauthorizedAccessException(message),
            _ => new IOException(message, error),
        };
    }

    /// <summary>Calls until the call is not interrupted by a signal.</summary>
    internal static int OnFile(SafeFileHandle file, Func<int, int> call)
    {
        bool held = false;
        try
        {
            file.DangerousAddRef(ref held);
            int descriptor = (int)file.DangerousGetHandle();
            while (call(descriptor) != 0)
            {
                int error = Marshal.GetLastPInvokeError();
                if (error != ErrorInterrupted)
                    return error;
            }

            return 0;
        }
        finally
        {
            if (held)
                file.DangerousRelease();
        }
    }

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    private static partial int FDataSync(int file);

    [LibraryImport("libc", EntryPoint = "pwrite64", SetLastError = true)]
    private static partial nint PWrite(int file, ref byte source, nuint length, long offset);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static partial int FSync(int file);

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    private static partial int FileControl(int file, int command, int argument);

    [LibraryImport("libc", EntryPoint = "posix_fadvise")]
    private static partial int PosixFAdvise(int file, long offset, long length, int advice);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags, int mode);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    private static partial int Close(int file);
}
