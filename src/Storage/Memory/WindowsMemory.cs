using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>Memory management on Windows.</summary>
internal static unsafe partial class WindowsMemory
{
    private const uint MemoryCommit = 0x1000;
    private const uint MemoryReserve = 0x2000;
    private const uint MemoryRelease = 0x8000;
    private const uint PageNoAccess = 0x01;
    private const uint PageReadWrite = 0x04;

    public static byte* Reserve(long length) => (byte*)VirtualAlloc(null, (nuint)length, MemoryReserve, PageNoAccess);

    public static bool Commit(byte* start, long length) =>
        VirtualAlloc(start, (nuint)length, MemoryCommit, PageReadWrite) != null;

    public static bool TryLock(byte* start, long length) => VirtualLock(start, (nuint)length) != 0;

    public static void Free(byte* start) => _ = VirtualFree(start, 0, MemoryRelease);

    [LibraryImport("kernel32", SetLastError = true)]
    private static partial void* VirtualAlloc(void* address, nuint size, uint type, uint protection);

    [LibraryImport("kernel32", SetLastError = true)]
    private static partial int VirtualLock(void* address, nuint size);

    [LibraryImport("kernel32", SetLastError = true)]
    private static partial int VirtualFree(void* address, nuint size, uint type);
}
