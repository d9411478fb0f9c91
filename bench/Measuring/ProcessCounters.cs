using System.Globalization;

namespace Treepie.Bench.Measuring;

/// <summary>
/// What was used so far: processor time, bytes written by the disk, managed memory. Zero where the system does not tell.
/// </summary>
/// <param name="CpuSeconds">User and kernel time of all threads.</param>
/// <param name="DiskBytes">
/// Bytes written by the device of the temporary files, whoever wrote them: a quiet machine is assumed. The kernel's figure for a
/// process would count a whole folio, up to a megabyte, where 4 KB of it were written.
/// </param>
/// <param name="AllocatedBytes">Managed bytes allocated by all threads.</param>
internal readonly record struct ProcessCounters(double CpuSeconds, double DiskBytes, double AllocatedBytes)
{
    private const int SectorBytes = 512;

    private static readonly Lazy<string> _device = new(FindDevice);

    /// <summary>Greatest resident memory of this process, in MiB, with the file pages it has mapped.</summary>
    public static double PeakResidentMiB => Read("/proc/self/status", "VmHWM:") / 1024;

    /// <summary>Memory of this process that no file stands behind, now, in MiB.</summary>
    public static double PrivateMiB => Read("/proc/self/status", "RssAnon:") / 1024;

    public static ProcessCounters Now => new(
        Environment.CpuUsage.TotalTime.TotalSeconds, DeviceBytes(), GC.GetTotalAllocatedBytes(precise: true));

    public ProcessCounters Since(ProcessCounters start) =>
        new(CpuSeconds - start.CpuSeconds, DiskBytes - start.DiskBytes, AllocatedBytes - start.AllocatedBytes);

    /// <summary>Sectors written are the seventh figure of a block device.</summary>
    private static double DeviceBytes()
    {
        string path = $"/sys/dev/block/{_device.Value}/stat";
        return _device.Value.Length > 0 && File.Exists(path)
            ? double.Parse(
                File.ReadAllText(path).Split(' ', StringSplitOptions.RemoveEmptyEntries)[6],
                CultureInfo.InvariantCulture) * SectorBytes
            : 0;
    }

    /// <summary>
    /// Major and minor number of the device: the third field of the mount whose place, the fifth, is the longest beginning of the
    /// path.
    /// </summary>
    private static string FindDevice()
    {
        const string Mounts = "/proc/self/mountinfo";
        string temporary = Path.GetTempPath();
        return File.Exists(Mounts)
            ? File.ReadLines(Mounts)
                .Select(line => line.Split(' '))
                .Where(fields => temporary.StartsWith(fields[4], StringComparison.Ordinal))
                .MaxBy(fields => fields[4].Length)?[2] ?? ""
            : "";
    }

    private static double Read(string path, string key)
    {
        if (!File.Exists(path))
            return 0;

        string? line = File.ReadLines(path).FirstOrDefault(text => text.StartsWith(key, StringComparison.Ordinal));
        return line is null
            ? 0
            : double.Parse(line.Split([' ', '\t'], StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture);
    }
}
