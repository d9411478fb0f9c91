using System.Runtime.InteropServices;

namespace Treepie.Storage.Files;

/// <summary>Classifies errors of the system.</summary>
internal static class FileErrors
{
    private const string RoomIsNeeded =
        "Nothing of this write was kept; reads and deletes still work. Free some space and try again.";
    private const string LimitIsNeeded =
        "the process, or the machine, has reached its limit of open files. Nothing of this was kept. Close other environments, "
            + "or raise the limit (ulimit -n).";
    private const int MachineFileLimit = 23;
    private const int ProcessFileLimit = 24;
    private const int NoSpace = 28;
    private const int ReadOnlyFileSystem = 30;
    private const int NoSuchCall = 38;
    private const int NotSupportedLinux = 95;
    private const int QuotaExceededLinux = 122;
    private const int QuotaExceededBsd = 69;
    private const int WindowsDiskFull = unchecked((int)0x80070070);
    private const int WindowsHandleDiskFull = unchecked((int)0x80070027);
    private const int WindowsQuotaExceeded = unchecked((int)0x8007050F);

    private static OSPlatform ThisSystem =>
        OperatingSystem.IsWindows() ? OSPlatform.Windows
        : OperatingSystem.IsMacOS() ? OSPlatform.OSX
        : OperatingSystem.IsFreeBSD() ? OSPlatform.FreeBSD
        : OSPlatform.Linux;

    /// <summary>Whether the disk (or the quota) was full.</summary>
    public static bool IsDiskFull(IOException error) => IsDiskFull(error.HResult, ThisSystem);

    /// <summary>Whether an error number, as an <see cref="IOException"/> has it on a system, says that it is full.</summary>
    public static bool IsDiskFull(int number, OSPlatform system)
    {
        if (system == OSPlatform.Windows)
            return number is WindowsDiskFull or WindowsHandleDiskFull or WindowsQuotaExceeded;
        bool isBsd = system == OSPlatform.OSX || system == OSPlatform.FreeBSD;
        return number == NoSpace || number == (isBsd ? QuotaExceededBsd : QuotaExceededLinux);
    }

    /// <summary>Whether the file system is read-only.</summary>
    public static bool IsReadOnly(IOException error) => !OperatingSystem.IsWindows() && error.HResult == ReadOnlyFileSystem;

    /// <summary>Returns the exception for an error number of a libc call.</summary>
    public static Exception FromNumber(int number, string file, string what)
    {
        string message = $"{what}: '{file}' (error {number}: {Marshal.GetPInvokeErrorMessage(number)}).";
        if (IsFileLimit(number))
            return new OpenFileLimitException($"{what}: '{file}': {LimitIsNeeded}", new IOException(message, number));
        return IsDiskFull(number, ThisSystem)
            ? new DiskFullException($"{message} {RoomIsNeeded}")
            : new StorageException(message, new IOException(message, number));
    }

    /// <summary>
    /// Returns an exception that names the file: <see cref="DiskFullException"/>, <see cref="OpenFileLimitException"/> or,
    /// for other errors, <see cref="StorageException"/>.
    /// </summary>
    public static StorageException Translate(Exception error, string file, string what) => error switch
    {
        IOException io when IsDiskFull(io) =>
            new DiskFullException($"{what}: the disk of '{file}' is full. {RoomIsNeeded}", error),
        IOException io when !OperatingSystem.IsWindows() && IsFileLimit(io.HResult) =>
            new OpenFileLimitException($"{what}: '{file}': {LimitIsNeeded}", error),
        _ => new StorageException($"{what}: '{file}': {error.Message}", error),
    };

    /// <summary>Whether a call is not available: the kernel or the file system does not support it.</summary>
    public static bool IsUnsupported(int number) => number is NoSuchCall or NotSupportedLinux;

    private static bool IsFileLimit(int number) => number is ProcessFileLimit or MachineFileLimit;
}
