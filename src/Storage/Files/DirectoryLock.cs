using Microsoft.Win32.SafeHandles;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// The lock of a directory on Unix. Uses the system's locks on open files, so it ends with the process, however that ends,
/// and is never stale. When it is taken, it is verified with a second descriptor, which must be refused: some mounts have no
/// locks or grant every request.
/// </summary>
/// <remarks>
/// Invariants. 1. A writer holds the exclusive lock of the lock file and, on Linux, that of a byte far beyond the end of the
/// data file. 2. A reader holds both as shared locks; without a lock file (a copy, read-only media) it must hold that of the
/// data file. So a reader and a writer always conflict, even if the lock file is deleted meanwhile. 3. The lock of a deleted
/// file does not count: whoever took it tries again. So only the holder of a lock file may delete it.
/// </remarks>
internal sealed class DirectoryLock : IDisposable
{
    private const int Attempts = 16;
    private const int WouldBlock = 11;
    private const int WouldBlockMac = 35;
    private const int NoAccess = 13;
    private const int BadDescriptor = 9;
    private const long FarByte = 1L << 62;

    private readonly SystemCalls _calls;
    private readonly SafeFileHandle? _file;
    private SafeFileHandle? _data;
    private bool _isDisposed;

    private DirectoryLock(SystemCalls calls, SafeFileHandle? file, SafeFileHandle? data, bool isShared, bool isProven)
    {
        _calls = calls;
        _file = file;
        _data = data;
        IsShared = isShared;
        IsProven = isProven;
    }

    /// <summary>Whether the lock was verified: a second request was refused.</summary>
    public bool IsProven { get; }

    /// <summary>Whether this is a reader's lock.</summary>
    public bool IsShared { get; }

    /// <summary>The open lock file, or null for a reader if there is none.</summary>
    public SafeFileHandle? File => _file;

    /// <summary>
    /// Returns the data file as opened for its lock, so that the lock holder needs only one descriptor for it. Returns null
    /// if there is none, if it was deleted meanwhile, or if it was opened with different access.
    /// </summary>
    public SafeFileHandle? FindData(string dataFile, bool writable, SystemCalls calls)
    {
        if (_isDisposed || writable == IsShared)
            return null;

        try
        {
            return TryTakeData(dataFile, calls, out _) && _data is { } data && calls.CountLinks(data) > 0 ? data : null;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return null; // opening the file by its name reports the error
        }
    }

    /// <summary>
    /// Takes the exclusive lock. Creates the lock file if there is none. Returns null if the lock is held elsewhere.
    /// </summary>
    public static DirectoryLock? TryTakeAlone(string lockFile, string dataFile, SystemCalls calls, bool mayBeUnproven)
    {
        if (TryTake(lockFile, create: true, shared: false, calls, mayBeUnproven) is not { } taken)
            return null;

        var held = new DirectoryLock(calls, taken.File, null, isShared: false, taken.IsProven);
        try
        {
            if (held.TryTakeData(dataFile, calls, out _))
                return held;
        }
        catch
        {
            held.Dispose();
            throw;
        }

        held.Dispose();
        return null;
    }

    /// <summary>Takes a shared lock. Returns null if a writer holds the lock.</summary>
    public static DirectoryLock? TryTakeShared(string lockFile, string dataFile, SystemCalls calls, bool mayBeUnproven)
    {
        (SafeFileHandle File, bool IsProven)? taken = null;
        if (System.IO.File.Exists(lockFile))
        {
            taken = TryTake(lockFile, create: false, shared: true, calls, mayBeUnproven);
            if (taken is null)
                return null;
        }

        var held = new DirectoryLock(calls, taken?.File, null, isShared: true, taken?.IsProven ?? true);
        try
        {
            bool isFree = held.TryTakeData(dataFile, calls, out bool isProven);
            if (isFree && (isProven || mayBeUnproven || taken is not null))
                return taken is null && !isProven
                    ? new DirectoryLock(calls, null, held._data, isShared: true, isProven: false)
                    : held;
            if (isFree)
                throw Refuse(dataFile, 0);
        }
        catch
        {
            held.Dispose();
            throw;
        }

        held.Dispose();
        return null;
    }

    /// <summary>
    /// Takes the lock of the data file, unless it is held already or the file does not exist yet. Returns false if it is held
    /// elsewhere.
    /// </summary>
    public bool TryTakeData(string dataFile, SystemCalls calls, out bool isProven)
    {
        isProven = false;
        if (_data is not null || !OperatingSystem.IsLinux() || !System.IO.File.Exists(dataFile))
            return true;

        SafeFileHandle data = UnixFileCalls.OpenPlain(dataFile, writable: !IsShared, create: false);
        int error = calls.LockByte(data, FarByte, IsShared);
        if (error == 0)
        {
            _data = data;
            using SafeFileHandle second = UnixFileCalls.OpenPlain(dataFile, writable: !IsShared, create: false);
            isProven = IsConflict(calls.LockByte(second, FarByte, IsShared, asks: true));
            return true;
        }

        data.Dispose();
        return !IsConflict(error); // without such locks, the lock of the lock file must suffice
    }

    public void Dispose()
    {
        if (_isDisposed)
            return;

        // A lock belongs to the open file, and a child process being started has a copy of each descriptor until it runs its
        // own program: closing only this one would leave the directory locked until then. Errors come from systems without
        // locks and are ignored.
        _isDisposed = true;
        if (_data is { IsClosed: false })
            _ = _calls.UnlockByte(_data, FarByte);
        if (_file is { IsClosed: false })
            _ = _calls.UnlockFile(_file);
        _data?.Dispose();
        _file?.Dispose();
    }

    private static bool IsConflict(int error) => error is WouldBlock or NoAccess;

    private static (SafeFileHandle File, bool IsProven)? TryTake(
        string path, bool create, bool shared, SystemCalls calls, bool mayBeUnproven)
    {
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            SafeFileHandle file = UnixFileCalls.OpenPlain(path, writable: create, create);
            bool isTaken = false;
            try
            {
                int error = calls.LockFile(file, shared);
                if (error is WouldBlock or WouldBlockMac)
                    return null;
                if (error == 0 && calls.CountLinks(file) == 0)
                    continue; // deleted between opening and locking: another process may have created and locked a new one

                bool isProven = error == 0 && IsRefusedTwice(path, shared, writable: create, calls);
                if (!isProven && !mayBeUnproven)
                    throw Refuse(path, error);

                isTaken = true;
                return (file, isProven);
            }
            finally
            {
                if (!isTaken)
                    file.Dispose();
            }
        }

        return null;
    }

    /// <summary>
    /// Whether another descriptor of the same file is refused. A network file system may report that it requires a file open
    /// for writing; then it supports locks, too.
    /// </summary>
    private static bool IsRefusedTwice(string path, bool shared, bool writable, SystemCalls calls)
    {
        using SafeFileHandle second = UnixFileCalls.OpenPlain(path, writable, create: false);
        int error = calls.LockFile(second, shared: false);
        return error is WouldBlock or WouldBlockMac || (shared && error == BadDescriptor);
    }

    private static StorageException Refuse(string path, int error)
    {
        string found = error == 0
            ? "a second lock of the same file was granted"
            : $"error {error}: {System.Runtime.InteropServices.Marshal.GetPInvokeErrorMessage(error)}";
        return new StorageException(
            $"The file system of '{path}' has no file locks ({found}), so two processes could write to the directory and destroy "
            + $"it. Nothing was written. "
            + "Put the directory on another file system, or mount this one with locks; "
            + $"if nothing else can open it, set {nameof(StorageOptions)}.{nameof(StorageOptions.AllowMissingLocks)}.");
    }
}
