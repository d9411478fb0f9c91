using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>
/// System calls whose results differ between kernels, machines and file systems, and the size of a system page. An object, so
/// that tests can simulate larger pages or a file system without fallocate or locks. Each returns an error number, 0 for
/// success.
/// </summary>
internal abstract partial class SystemCalls
{
    private const int LockShared = 1;
    private const int LockExclusive = 2;
    private const int LockWithoutWaiting = 4;
    private const int LockNone = 8;
    private const int AskRangeLock = 36; // of the open file, not of the process: Linux 3.15 and later
    private const int SetRangeLock = 37;
    private const int RangeRead = 0;
    private const int RangeWrite = 1;
    private const int RangeFree = 2;
    private const int RangeLockBytes = 32;
    private const int RangeStartOffset = 8;
    private const int RangeLengthOffset = 16;
    private const int ErrorIo = 5;
    private const int ErrorNoAccess = 13;
    private const int ErrorNoSpace = 28;
    private const int ErrorQuota = 122;
    private const int EmptyPath = 0x1000;
    private const uint AskLinks = 4;
    private const uint WaitBefore = 1;
    private const int StatusBytes = 256;
    private const int LinksOffset = 16;

    /// <summary>The calls of this machine.</summary>
    public static SystemCalls Default { get; } = new ThisMachine();

    /// <summary>The size of a system page in bytes. Addresses and offsets of mapping calls must be multiples of it.</summary>
    public virtual int PageBytes => Environment.SystemPageSize;

    /// <summary>Whether numbers have the same byte order in memory as in files.</summary>
    public virtual bool IsLittleEndian => BitConverter.IsLittleEndian;

    /// <summary>
    /// Throws if files cannot be read or written: pages are used directly as stored, and their numbers are little-endian.
    /// Must be called before a directory is read or changed.
    /// </summary>
    /// <exception cref="StorageException">The machine is big-endian.</exception>
    public void RequireLittleEndian()
    {
        if (!IsLittleEndian)
        {
            throw new StorageException(
                "This machine is big-endian, and the files of a store are little-endian: it cannot be opened or created here. "
                + "Nothing was changed. Use a little-endian machine (x64, Arm64).");
        }
    }

    /// <summary>
    /// Allocates blocks for a part of a file. Linux only. The C library's emulation for file systems without the call is not
    /// used.
    /// </summary>
    public virtual int Allocate(SafeFileHandle file, long offset, long lengthBytes) =>
        UnixFileCalls.OnFile(file, descriptor => FAllocate(descriptor, 0, offset, lengthBytes));

    /// <summary>Returns the name of the file system that a path lies on; empty if the system does not tell.</summary>
    public virtual string NameFileSystem(string path)
    {
        try
        {
            return new DriveInfo(path).DriveFormat;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return "";
        }
    }

    /// <summary>
    /// Returns the error if a page of a file could not be written back since the last call. Each error is returned once. Waits
    /// at most for the first page. Linux only.
    /// </summary>
    public virtual int FindWriteError(SafeFileHandle file)
    {
        int error = UnixFileCalls.OnFile(file, static descriptor => SyncRange(descriptor, 0, 1, WaitBefore));
        return error is ErrorIo or ErrorNoSpace or ErrorQuota ? error : 0; // others: the file system has no such call
    }

    /// <summary>Makes the creation, renaming and deletion of names in a directory durable. Not on Windows.</summary>
    public virtual int SyncDirectory(string path) => UnixFileCalls.SyncDirectory(path);

    /// <summary>
    /// Opens a file for writing without the cache; see <see cref="UnixFileCalls.OpenDirect"/>. Linux only. Null: refused.
    /// </summary>
    public virtual SafeFileHandle? OpenDirect(string path) => UnixFileCalls.OpenDirect(path);

    /// <summary>Opens a file for reading without the cache. Linux only. Null: refused.</summary>
    public virtual SafeFileHandle? OpenDirectForReading(string path) => UnixFileCalls.OpenDirectForReading(path);

    /// <summary>
    /// Takes the system's lock of an open file without waiting. It ends when the file is closed or the process ends.
    /// </summary>
    public virtual int LockFile(SafeFileHandle file, bool shared) =>
        UnixFileCalls.OnFile(file, descriptor => FLock(descriptor, (shared ? LockShared : LockExclusive) | LockWithoutWaiting));

    /// <summary>Releases the lock of <see cref="LockFile"/>, also for copies of the descriptor in other processes.</summary>
    public virtual int UnlockFile(SafeFileHandle file) =>
        UnixFileCalls.OnFile(file, static descriptor => FLock(descriptor, LockNone));

    /// <summary>
    /// Takes the lock of one byte of an open file for this descriptor, without waiting. Linux only; the byte need not exist.
    /// With <paramref name="asks"/>, only tests whether another descriptor holds a lock that conflicts with a writer's, and
    /// then returns the error of a conflict.
    /// </summary>
    public virtual int LockByte(SafeFileHandle file, long offset, bool shared, bool asks = false)
    {
        byte[] request = new byte[RangeLockBytes];
        MemoryMarshal.Write(request, (short)(shared && !asks ? RangeRead : RangeWrite));
        MemoryMarshal.Write(request.AsSpan(RangeStartOffset), offset);
        MemoryMarshal.Write(request.AsSpan(RangeLengthOffset), 1L);
        int error = UnixFileCalls.OnFile(
            file, descriptor => FileControl(descriptor, asks ? AskRangeLock : SetRangeLock, ref request[0]));
        return error != 0 || !asks || MemoryMarshal.Read<short>(request) == RangeFree ? error : ErrorNoAccess;
    }

    /// <summary>Releases the lock of <see cref="LockByte"/>, also for copies of the descriptor in other processes.</summary>
    public virtual int UnlockByte(SafeFileHandle file, long offset)
    {
        byte[] request = new byte[RangeLockBytes];
        MemoryMarshal.Write(request, (short)RangeFree);
        MemoryMarshal.Write(request.AsSpan(RangeStartOffset), offset);
        MemoryMarshal.Write(request.AsSpan(RangeLengthOffset), 1L);
        return UnixFileCalls.OnFile(file, descriptor => FileControl(descriptor, SetRangeLock, ref request[0]));
    }

    /// <summary>
    /// Returns the number of names that an open file has in the file system: 0 if it was deleted, -1 if unknown.
    /// </summary>
    public virtual int CountLinks(SafeFileHandle file)
    {
        if (!OperatingSystem.IsLinux())
            return -1;

        byte[] status = new byte[StatusBytes];
        int error = UnixFileCalls.OnFile(file, descriptor => StatusOf(descriptor, "", EmptyPath, AskLinks, ref status[0]));
        return error == 0 ? (int)Math.Min(int.MaxValue, MemoryMarshal.Read<uint>(status.AsSpan(LinksOffset))) : -1;
    }

    /// <summary>Maps a file, or anonymous memory if it is null, and returns the address.</summary>
    public virtual int Map(
        nint address, long lengthBytes, int protection, int flags, SafeFileHandle? file, long offset, out nint mapped)
    {
        bool held = false;
        try
        {
            file?.DangerousAddRef(ref held);
            mapped = MMap(
                address, (nuint)lengthBytes, protection, flags, file is null ? -1 : (int)file.DangerousGetHandle(), offset);
            return mapped == -1 ? Marshal.GetLastPInvokeError() : 0;
        }
        finally
        {
            if (held)
                file!.DangerousRelease(); // held implies not null
        }
    }

    /// <summary>Removes a mapping.</summary>
    public virtual int Unmap(nint address, long lengthBytes) =>
        MUnmap(address, (nuint)lengthBytes) == 0 ? 0 : Marshal.GetLastPInvokeError();

    /// <summary>Changes the access permissions of memory.</summary>
    public virtual int Protect(nint address, long lengthBytes, int protection) =>
        MProtect(address, (nuint)lengthBytes, protection) == 0 ? 0 : Marshal.GetLastPInvokeError();

    /// <summary>
    /// Gives advice about memory. The system rounds the length up to a whole page, so a part to discard must not end inside a
    /// page.
    /// </summary>
    public virtual int Advise(nint address, long lengthBytes, int advice) =>
        MAdvise(address, (nuint)lengthBytes, advice) == 0 ? 0 : Marshal.GetLastPInvokeError();

    /// <summary>Returns whether each system page is in memory (bit 0 of one byte per page). Linux only.</summary>
    public virtual int FindResident(nint address, long lengthBytes, Span<byte> resident) =>
        MInCore(address, (nuint)lengthBytes, ref MemoryMarshal.GetReference(resident)) == 0 ? 0 : Marshal.GetLastPInvokeError();

    /// <summary>Locks memory, so that it is not swapped out.</summary>
    public virtual int LockMemory(nint address, long lengthBytes, uint flags) =>
        MLock2(address, (nuint)lengthBytes, flags) == 0 ? 0 : Marshal.GetLastPInvokeError();

    [LibraryImport("libc", EntryPoint = "fallocate", SetLastError = true)]
    private static partial int FAllocate(int file, int mode, long offset, long length);

    [LibraryImport("libc", EntryPoint = "sync_file_range", SetLastError = true)]
    private static partial int SyncRange(int file, long offset, long length, uint flags);

    [LibraryImport("libc", EntryPoint = "flock", SetLastError = true)]
    private static partial int FLock(int file, int operation);

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    private static partial int FileControl(int file, int command, ref byte request);

    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int StatusOf(int file, string path, int flags, uint mask, ref byte status);

    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    private static partial nint MMap(nint address, nuint length, int protection, int flags, int file, long offset);

    [LibraryImport("libc", EntryPoint = "munmap", SetLastError = true)]
    private static partial int MUnmap(nint address, nuint length);

    [LibraryImport("libc", EntryPoint = "mprotect", SetLastError = true)]
    private static partial int MProtect(nint address, nuint length, int protection);

    [LibraryImport("libc", EntryPoint = "mlock2", SetLastError = true)]
    private static partial int MLock2(nint address, nuint length, uint flags);

    [LibraryImport("libc", EntryPoint = "madvise", SetLastError = true)]
    private static partial int MAdvise(nint address, nuint length, int advice);

    [LibraryImport("libc", EntryPoint = "mincore", SetLastError = true)]
    private static partial int MInCore(nint address, nuint length, ref byte vector);

    private sealed class ThisMachine : SystemCalls;
}
