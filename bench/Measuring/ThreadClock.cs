using System.Runtime.InteropServices;

namespace Treepie.Bench.Measuring;

/// <summary>Processor time of the thread that asks. One look costs about a third of a microsecond.</summary>
internal static partial class ThreadClock
{
    private const int ThreadCpuTime = 3;

    /// <summary>Microseconds since the thread began.</summary>
    public static double Microseconds =>
        GetTime(ThreadCpuTime, out TimeSpec time) == 0
            ? (time.Seconds * 1e6) + (time.Nanoseconds / 1e3)
            : throw new PlatformNotSupportedException();

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int GetTime(int clock, out TimeSpec time);

    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
