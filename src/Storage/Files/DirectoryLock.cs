using Microsoft.Win32.SafeHandles;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// The lock of a directory, on Unix: the system's own on open files, so it ends with the process, however that ends, and cannot
/// be stale. It is proven when it is taken, by a second descriptor that must be refused: some mounts have no locks, or say yes to
/// everybody.
/// </summary>
/// <remarks>
/// Invariants. 1. A writer holds the lock of the lock file alone, and, on Linux, that of a byte far behind the end of the data
/// file. 2. A reader holds both shared; where there is no lock file (a copy, a read-only medium) it must hold that of the data
/// file. So a reader and a writer always meet, though somebody deletes the lock file beside them. 3. A lock of a file that has
/// been deleted is none: who took one tries again. So a lock file may be deleted by who holds it, and by nobody else.
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

    /// <summary>Whether a second opener was seen to be refused.</summary>
    public bool IsProven { get; }

    /// <summary>Whether it is a reader's.</summary>
    public bool IsShared { get; }

    /// <summary>The open lock file; null for a reader that found none.</summary>
    public SafeFileHandle? File => _file;

    /// <summary>
    /// The data file, as it was opened for its lock, for who has the lock and needs one descriptor of it and not two; null where
    /// there is none, or no longer one under that name.
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
            return null; // who opens the file by its name is told
        }
    }

    /// <summary>Takes the lock for one writer; the lock file is made if there is none. Null where somebody else has it.</summary>
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

    /// <summary>Takes the lock with other readers. Null where a writer has it.</summary>
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
    /// Takes the lock of the data file, unless it is held or there is no such file yet; false where somebody else has it.
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
        return !IsConflict(error); // where there are no such locks that of the lock file must do
    }

    public void Dispose()
    {
        if (_isDisposed)
            return;

        // A lock belongs to the open file, and a process that is just being started has a copy of each descriptor until its own
        // program
        // begins: closing this one alone would leave the directory locked for that moment. Errors are those of systems without
        // locks.
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
                    continue; // deleted between opening and locking: somebody else may have made and locked another

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
    /// Whether another descriptor of the same file is refused. A network file system may want it open for writing for that, and
    /// says so: then it knows locks.
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
