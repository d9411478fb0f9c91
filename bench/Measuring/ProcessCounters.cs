using System.Globalization;
using System.Runtime.CompilerServices;

namespace Treepie.Bench.Measuring;

/// <summary>What this process has used so far: processor time, bytes sent to disks, managed memory. Zero where the system does not tell.</summary>
/// <param name="CpuSeconds">User and kernel time of all threads.</param>
/// <param name="DiskBytes">Bytes this process caused to be written to storage.</param>
/// <param name="AllocatedBytes">Managed bytes allocated by all threads.</param>
internal readonly record struct ProcessCounters(double CpuSeconds, double DiskBytes, double AllocatedBytes)
{
    /// <summary>Greatest resident memory of this process, in MiB, with the file pages it has mapped.</summary>
    public static double PeakResidentMiB => Read("/proc/self/status", "VmHWM:") / 1024;

    /// <summary>Memory of this process that no file stands behind, now, in MiB.</summary>
    public static double PrivateMiB => Read("/proc/self/status", "RssAnon:") / 1024;

    public static ProcessCounters Now => new(
        Environment.CpuUsage.TotalTime.TotalSeconds, Read("/proc/self/io", "write_bytes:"), GC.GetTotalAllocatedBytes(precise: true));

    public ProcessCounters Since(ProcessCounters start) =>
        new(CpuSeconds - start.CpuSeconds, DiskBytes - start.DiskBytes, AllocatedBytes - start.AllocatedBytes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static double Read(string path, string key)
    {
        if (!File.Exists(path))
            return 0;

        string? line = File.ReadLines(path).FirstOrDefault(text => text.StartsWith(key, StringComparison.Ordinal));
        return line is null ? 0 : double.Parse(line.Split([' ', '\t'], StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture);
    }
}
