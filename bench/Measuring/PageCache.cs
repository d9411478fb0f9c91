using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Treepie.Bench.Measuring;

/// <summary>What the system keeps of files in memory.</summary>
internal static class PageCache
{
    private const int DontNeed = 4;

    /// <summary>
    /// Has the system forget the files of a folder, as far as nobody maps them; where it cannot be told, nothing happens.
    /// </summary>
    public static void Drop(string folder)
    {
        if (!OperatingSystem.IsLinux())
            return;

        foreach (string file in Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories))
        {
            using SafeFileHandle handle = File.OpenHandle(file, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);
            RandomAccess.FlushToDisk(handle);
            _ = posix_fadvise(handle, 0, 0, DontNeed);
        }
    }

#pragma warning disable SYSLIB1054 // the runtime's own marshalling is short to read
    [DllImport("libc")]
    private static extern int posix_fadvise(SafeFileHandle file, long offset, long length, int advice);
#pragma warning restore SYSLIB1054
}
