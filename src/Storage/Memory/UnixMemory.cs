using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>The memory calls of libc, for Linux and macOS.</summary>
internal static unsafe partial class UnixMemory
{
    private const int HugePageBytes = 2 << 20;
    private const int ProtectNone = 0;
    private const int ProtectRead = 1;
    private const int ProtectWrite = 2;
    private const int MapShared = 0x01;
    private const int MapPrivate = 0x02;
    private const int MapFixed = 0x10;
    private const int AdviseWillNeed = 3;
    private const int AdviseDontNeed = 4;
    private const int AdviseHugePage = 14;
    private const int AdvisePopulateRead = 22;
    private const int AdviseDontDump = 16;
    private const int AdviseWipeOnFork = 18;
    private const int AdviseDontNeedLocked = 24;
    private const uint LockOnFault = 1;
    private const int ErrorInvalid = 22;

    private static int MapAnonymous => OperatingSystem.IsMacOS() ? 0x1000 : 0x20;

    private static int MapNoReserve => OperatingSystem.IsMacOS() ? 0x40 : 0x4000;

    /// <summary>Addresses that begin where a huge page may: more are asked for than needed, and what is over at both ends is given back.</summary>
    public static byte* Reserve(long length)
    {
        void* start = MMap(null, (nuint)(length + HugePageBytes), ProtectNone, MapPrivate | MapAnonymous | MapNoReserve, -1, 0);
        if ((nint)start == -1)
            return null;

        byte* aligned = (byte*)(((nuint)start + HugePageBytes - 1) & ~(nuint)(HugePageBytes - 1));
        nuint before = (nuint)(aligned - (byte*)start);
        if (before > 0)
            _ = MUnmap(start, before);

        nuint page = (nuint)Environment.SystemPageSize;
        byte* end = aligned + (((nuint)length + page - 1) & ~(page - 1));
        byte* reserved = (byte*)start + length + HugePageBytes;
        if (end < reserved)
            _ = MUnmap(end, (nuint)(reserved - end));
        return aligned;
    }

    /// <summary>Asks for huge pages where the system has them: one entry of the processor's address table for 512 pages. Refusal changes nothing.</summary>
    public static void PreferHugePages(byte* start, long length)
    {
        if (OperatingSystem.IsLinux())
            _ = MAdvise(start, (nuint)length, AdviseHugePage);
    }

    public static bool Commit(byte* start, long length) => MProtect(start, (nuint)length, ProtectRead | ProtectWrite) == 0;

    public static void Discard(byte* start, long length) => _ = MAdvise(start, (nuint)length, AdviseDontNeed);

    /// <summary>Large pages where they are to be had; without them all goes on.</summary>
    public static void AdviseLargePages(byte* start, long length) => _ = MAdvise(start, (nuint)length, AdviseHugePage);

    /// <summary>Refusal changes nothing: then the system has no such thing.</summary>
    public static void ExcludeFromDumps(byte* start, long length)
    {
        _ = MAdvise(start, (nuint)length, AdviseDontDump);
        _ = MAdvise(start, (nuint)length, AdviseWipeOnFork);
    }

    /// <summary>Pages are locked as they are touched, so that a sparse part costs what it holds. macOS has no such form: there nothing is locked.</summary>
    public static bool TryLock(byte* start, long length) => OperatingSystem.IsLinux() && MLock2(start, (nuint)length, LockOnFault) == 0;

    /// <summary>Kernels before 5.18 do not discard what is locked; there it stays, zeroed by its owner.</summary>
    public static void DiscardLocked(byte* start, long length)
    {
        if (!OperatingSystem.IsLinux() || MAdvise(start, (nuint)length, AdviseDontNeedLocked) != 0)
            Discard(start, length);
    }

    public static int MapFile(byte* start, SafeFileHandle file, long offset, long length)
    {
        bool held = false;
        try
        {
            file.DangerousAddRef(ref held);
            void* mapped = MMap(start, (nuint)length, ProtectRead, MapShared | MapFixed, (int)file.DangerousGetHandle(), offset);
            return (nint)mapped == -1 ? Marshal.GetLastPInvokeError() : 0;
        }
        finally
        {
            if (held)
                file.DangerousRelease();
        }
    }

    /// <summary>
    /// A disk error becomes an error number here; a plain read of the address would end the process. Kernels before
    /// 5.14 do not know the advice and answer "invalid": there the read is the only way.
    /// </summary>
    public static bool Populate(byte* start, long length) =>
        !OperatingSystem.IsLinux() || MAdvise(start, (nuint)length, AdvisePopulateRead) == 0 || Marshal.GetLastPInvokeError() == ErrorInvalid;

    /// <summary>Begins to read what of a mapped file is not in memory, just that and no more, and waits for nothing. Refusal changes nothing.</summary>
    public static void BeginLoad(byte* start, long length)
    {
        if (OperatingSystem.IsLinux())
            _ = MAdvise(start, (nuint)length, AdviseWillNeed);
    }

    public static void Free(byte* start, long length) => _ = MUnmap(start, (nuint)length);

    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    private static partial void* MMap(void* address, nuint length, int protection, int flags, int file, long offset);

    [LibraryImport("libc", EntryPoint = "munmap", SetLastError = true)]
    private static partial int MUnmap(void* address, nuint length);

    [LibraryImport("libc", EntryPoint = "mprotect", SetLastError = true)]
    private static partial int MProtect(void* address, nuint length, int protection);

    [LibraryImport("libc", EntryPoint = "mlock2", SetLastError = true)]
    private static partial int MLock2(void* address, nuint length, uint flags);

    [LibraryImport("libc", EntryPoint = "madvise", SetLastError = true)]
    private static partial int MAdvise(void* address, nuint length, int advice);
}
