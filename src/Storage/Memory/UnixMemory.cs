using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>
/// What Linux and macOS do about memory, by the calls of <see cref="SystemCalls"/>. Addresses and offsets are multiples of the
/// system's page; lengths need not be, and the system rounds them up.
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
    /// Addresses in whole system pages. As many as fill a huge page begin where one may: more are reserved than needed, and what
    /// is over at both ends is given back. Fewer lie where the system has them, so that they join their neighbours. Null where
    /// there are none left.
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

    /// <summary>
    /// Asks for huge pages where the system has them: one entry of the processor's address table for 512 pages. Refusal
    /// changes nothing.
    /// </summary>
    public static void PreferHugePages(SystemCalls calls, byte* start, long length)
    {
        if (OperatingSystem.IsLinux())
            _ = calls.Advise((nint)start, length, AdviseHugePage);
    }

    public static bool Commit(SystemCalls calls, byte* start, long length) =>
        calls.Protect((nint)start, length, ProtectRead | ProtectWrite) == 0;

    /// <summary>
    /// Gives memory back. Kernels before 5.18 do not discard what is locked; there it stays, zeroed by its owner.
    /// </summary>
    public static void Discard(SystemCalls calls, byte* start, long length, bool isLocked)
    {
        if (!isLocked || !OperatingSystem.IsLinux() || calls.Advise((nint)start, length, AdviseDontNeedLocked) != 0)
            _ = calls.Advise((nint)start, length, AdviseDontNeed);
    }

    /// <summary>Refusal changes nothing: then the system has no such thing.</summary>
    public static void ExcludeFromDumps(SystemCalls calls, byte* start, long length)
    {
        _ = calls.Advise((nint)start, length, AdviseDontDump);
        _ = calls.Advise((nint)start, length, AdviseWipeOnFork);
    }

    /// <summary>
    /// Pages are locked as they are touched, so that a sparse part costs what it holds. macOS has no such form: there nothing
    /// is locked.
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
    /// A disk error becomes an error number here; a plain read of the address would end the process. Because the address
    /// begins a page, "invalid" can only mean that the kernel does not know the advice.
    /// </summary>
    public static PopulateResult Populate(SystemCalls calls, byte* start, long length)
    {
        int error = OperatingSystem.IsLinux() ? calls.Advise((nint)start, length, AdvisePopulateRead) : 0;
        return error switch { 0 => PopulateResult.Done, ErrorInvalid => PopulateResult.Unknown, _ => PopulateResult.Failed };
    }

    /// <summary>
    /// Begins to read what of a mapped file is not in memory, just that and no more, and waits for nothing. Refusal changes
    /// nothing.
    /// </summary>
    public static void BeginLoad(SystemCalls calls, byte* start, long length)
    {
        if (OperatingSystem.IsLinux())
            _ = calls.Advise((nint)start, length, AdviseWillNeed);
    }

    /// <summary>
    /// Has the system read only the pages of a mapped file that are touched. Otherwise it reads as much around each of them
    /// as the disk's setting says, up to megabytes, and pages that are in use leave memory for it. Refusal changes nothing.
    /// </summary>
    public static void ReadOnlyWhatIsTouched(SystemCalls calls, byte* start, long length)
    {
        if (OperatingSystem.IsLinux())
            _ = calls.Advise((nint)start, length, AdviseRandom);
    }

    public static void Free(SystemCalls calls, byte* start, long length) => _ = calls.Unmap((nint)start, length);
}
