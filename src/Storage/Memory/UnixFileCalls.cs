using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>File calls of libc that .NET lacks or whose errors it hides. Each returns an error number, 0 for success.</summary>
internal static partial class UnixFileCalls
{
    private const int FullSync = 51;
    private const int OpenReadOnly = 0;
    private const int OpenReadWrite = 2;
    private const int OpenNew = 0x80; // Linux
    private const int OpenCreate = 0x40; // Linux
    private const int OpenDataSync = 0x1000; // Linux
    private const int OpenCloseOnExec = 0x80000; // Linux
    private const int NewFileMode = 0x180; // 0600: only the owner
    private const int ErrorNoPermission = 1;
    private const int ErrorNoEntry = 2;
    private const int ErrorNoAccess = 13;
    private const int AdviseWillNeed = 3; // Linux
    private const int ErrorInterrupted = 4;
    private const int ErrorInputOutput = 5;

    private static int CloseOnExec => OperatingSystem.IsMacOS() ? 0x1000000 : OpenCloseOnExec;

    /// <summary>O_DIRECT on Linux; the value depends on the processor architecture.</summary>
    private static int OpenPastCache =>
        RuntimeInformation.ProcessArchitecture is Architecture.Arm64 or Architecture.Arm ? 0x10000 : 0x4000;

    /// <summary>
    /// Makes written data durable. Unlike <c>RandomAccess.FlushToDisk</c>, it does not ignore EROFS, EINVAL and ENOTSUP.
    /// </summary>
    public static int SyncData(SafeFileHandle file) => OnFile(file, static descriptor =>
        OperatingSystem.IsMacOS() ? FileControl(descriptor, FullSync, 0) : FDataSync(descriptor));

    /// <summary>Makes Linux start reading exactly a part of a file, without waiting. Errors are ignored.</summary>
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
    /// Opens a file on Linux for writing without the cache; each write is durable when it returns. Returns null if the file
    /// system does not support it.
    /// </summary>
    public static SafeFileHandle? OpenDirect(string path)
    {
        int descriptor = Open(path, OpenReadWrite | OpenPastCache | OpenDataSync | OpenCloseOnExec, 0);
        return descriptor < 0 ? null : new SafeFileHandle(descriptor, ownsHandle: true);
    }

    /// <summary>
    /// Opens a file on Linux for reading without the cache. Returns null if the file system does not support it.
    /// </summary>
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
                    return ErrorInputOutput; // the file accepts no bytes and gives no reason
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

    /// <summary>Makes the creation, renaming and deletion of names in a directory durable.</summary>
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
    /// Opens a file for reading, ignoring the locks that .NET takes on every file it opens. Returns null if it cannot be
    /// opened.
    /// </summary>
    public static SafeFileHandle? OpenUnlocked(string path)
    {
        int descriptor = Open(path, OpenReadOnly, 0);
        return descriptor < 0 ? null : new SafeFileHandle(descriptor, ownsHandle: true);
    }

    /// <summary>Opens a file without the lock that .NET would take. Throws the same exceptions as .NET.</summary>
    public static SafeFileHandle OpenPlain(string path, bool writable, bool create, bool isNew = false)
    {
        if (create && OperatingSystem.IsMacOS())
        {
            // On macOS, the mode argument of a variadic call is passed differently.
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

    /// <summary>Repeats a call until it is not interrupted by a signal. Returns its error number.</summary>
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
