using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// What the system has read from disks for the calling thread so far, by the map or by calls: what was in memory is not in it,
/// what was read ahead is.
/// </summary>
internal static unsafe partial class DiskReads
{
    private const int BlockBytes = 512;
    private const int ThisThread = 1;

    /// <summary>Bytes of the system's struct: two times, then fourteen numbers of 8 bytes.</summary>
    private const int UsageBytes = 32 + (14 * sizeof(long));

    /// <summary>The seventh number behind maxrss: blocks of 512 bytes that were read.</summary>
    private const int BlocksOffset = 32 + (7 * sizeof(long));

    /// <summary>Bytes read; -1 where the system does not say.</summary>
    public static long OfThread()
    {
        if (!OperatingSystem.IsLinux() || !Environment.Is64BitProcess)
            return -1;
        byte* usage = stackalloc byte[UsageBytes];
        return GetUsage(ThisThread, usage) == 0 ? *(long*)(usage + BlocksOffset) * BlockBytes : -1;
    }

    [LibraryImport("libc", EntryPoint = "getrusage")]
    private static partial int GetUsage(int who, byte* usage);
}
