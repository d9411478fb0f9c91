using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// The number of bytes that the system has read from disks for the calling thread, through maps or calls. Includes
/// read-ahead, but not reads served from memory.
/// </summary>
internal static unsafe partial class DiskReads
{
    private const int BlockBytes = 512;
    private const int ThisThread = 1;

    /// <summary>The size of the system's struct: two times, then fourteen numbers of 8 bytes.</summary>
    private const int UsageBytes = 32 + (14 * sizeof(long));

    /// <summary>The offset of the seventh number after maxrss: the blocks of 512 bytes read.</summary>
    private const int BlocksOffset = 32 + (7 * sizeof(long));

    /// <summary>Returns the number of bytes read, or -1 if the system does not tell.</summary>
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
