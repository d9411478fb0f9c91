using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>
/// Memory management on Linux and macOS with the calls of <see cref="SystemCalls"/>. Addresses and offsets must be multiples
/// of the system's page size; lengths are rounded up by the system.
/// </summary>
internal static unsafe class UnixMemory
{
    private const int HugePageBytes = 2 << 20;
    private const int ProtectNone = 0;
    private const int ProtectRead = 1;
    private const int ProtectWrite = 2;
    private const int MapShared = 0x01;
    private const int MapPrivate = 0x02;
    private const int MapFixed = 0x10;
    private const int AdviseRandom = 1;
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

    /// <summary>
    /// Reserves addresses in whole system pages. A range of at least a huge page starts at a huge page boundary: more is
    /// reserved than needed, and the excess at both ends is released. Smaller ranges lie where the system puts them, so that
    /// they merge with their neighbours. Returns null if no addresses are left.
    /// </summary>
    public static byte* Reserve(SystemCalls calls, long length)
    {
        int flags = MapPrivate | MapAnonymous | MapNoReserve;
        nint alignment = length < HugePageBytes ? calls.PageBytes : HugePageBytes;
        nint over = alignment > Environment.SystemPageSize ? alignment : 0;
        if (calls.Map(0, length + over, ProtectNone, flags, null, 0, out nint start) != 0)
            return null;

        nint aligned = (start + alignment - 1) & ~(alignment - 1);
        if (aligned > start)
            _ = calls.Unmap(start, aligned - start);

        nint page = calls.PageBytes;
        nint end = aligned + (((nint)length + page - 1) & ~(page - 1)), reserved = start + (nint)length + over;
        if (end < reserved)
            _ = calls.Unmap(end, reserved - end);
        return (byte*)aligned;
    }

    /// <summary>Requests huge pages: one entry of the processor's page table instead of 512. Errors are ignored.</summary>
    public static void PreferHugePages(SystemCalls calls, byte* start, long length)
    {
        if (OperatingSystem.IsLinux())
            _ = calls.Advise((nint)start, length, AdviseHugePage);
    }

    public static bool Commit(SystemCalls calls, byte* start, long length) =>
        calls.Protect((nint)start, length, ProtectRead | ProtectWrite) == 0;

    /// <summary>
    /// Returns memory to the system. Kernels before 5.18 cannot discard locked memory; it stays, zeroed by its owner.
    /// </summary>
    public static void Discard(SystemCalls calls, byte* start, long length, bool isLocked)
    {
        if (!isLocked || !OperatingSystem.IsLinux() || calls.Advise((nint)start, length, AdviseDontNeedLocked) != 0)
            _ = calls.Advise((nint)start, length, AdviseDontNeed);
    }

    /// <summary>Errors are ignored: the system does not support it then.</summary>
    public static void ExcludeFromDumps(SystemCalls calls, byte* start, long length)
    {
        _ = calls.Advise((nint)start, length, AdviseDontDump);
        _ = calls.Advise((nint)start, length, AdviseWipeOnFork);
    }

    /// <summary>
    /// Locks pages when they are first accessed, so that a sparse part locks only what it uses. macOS has no such call, so
    /// nothing is locked there.
    /// </summary>
    public static bool TryLock(SystemCalls calls, byte* start, long length) =>
        OperatingSystem.IsLinux() && calls.LockMemory((nint)start, length, LockOnFault) == 0;

    public static int MapFile(SystemCalls calls, byte* start, SafeFileHandle file, long length) =>
        calls.Map((nint)start, length, ProtectRead, MapShared | MapFixed, file, 0, out _);

    public static bool MapForWriting(SystemCalls calls, byte* start, SafeFileHandle file, long offset, long length) =>
        calls.Map((nint)start, length, ProtectRead | ProtectWrite, MapShared | MapFixed, file, offset, out _) == 0;

    public static bool MapFresh(SystemCalls calls, byte* start, long length)
    {
        int flags = MapPrivate | MapAnonymous | MapNoReserve | MapFixed;
        return calls.Map((nint)start, length, ProtectRead | ProtectWrite, flags, null, 0, out _) == 0;
    }

    /// <summary>
    /// Loads pages. Reports a disk error as an error number; a plain read of the address would end the process. Since the
    /// address is page-aligned, "invalid" can only mean that the kernel does not support the advice.
    /// </summary>
    public static PopulateResult Populate(SystemCalls calls, byte* start, long length)
    {
        int error = OperatingSystem.IsLinux() ? calls.Advise((nint)start, length, AdvisePopulateRead) : 0;
        return error switch { 0 => PopulateResult.Done, ErrorInvalid => PopulateResult.Unknown, _ => PopulateResult.Failed };
    }

    /// <summary>
    /// Starts reading exactly the part of a mapped file that is not in memory, without waiting. Errors are ignored.
    /// </summary>
    public static void BeginLoad(SystemCalls calls, byte* start, long length)
    {
        if (OperatingSystem.IsLinux())
            _ = calls.Advise((nint)start, length, AdviseWillNeed);
    }

    /// <summary>
    /// Makes the system read only the accessed pages of a mapped file. Otherwise it reads as much around each as the disk's
    /// setting says, up to megabytes, and evicts pages in use for that. Errors are ignored.
    /// </summary>
    public static void ReadOnlyWhatIsTouched(SystemCalls calls, byte* start, long length)
    {
        if (OperatingSystem.IsLinux())
            _ = calls.Advise((nint)start, length, AdviseRandom);
    }

    public static void Free(SystemCalls calls, byte* start, long length) => _ = calls.Unmap((nint)start, length);
}
