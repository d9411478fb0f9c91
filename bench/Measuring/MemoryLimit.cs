using System.Diagnostics;
using System.Globalization;

namespace Treepie.Bench.Measuring;

/// <summary>
/// A limit of memory for a process and for what it leaves in the system's cache: a control group of Linux, version 1 or 2, which
/// this process must be allowed to make.
/// </summary>
internal sealed class MemoryLimit : IDisposable
{
    private readonly string _group;

    private MemoryLimit(string group) => _group = group;

    /// <summary>Makes a group with the limit, or null where the system does not let us.</summary>
    public static MemoryLimit? TryCreate(long bytes)
    {
        foreach ((string root, string file) in new[]
        {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"),
        })
        {
            string group = Path.Combine(root, $"treepie-bench-{Environment.ProcessId}");
            try
            {
                if (!File.Exists(Path.Combine(root, "cgroup.procs")))
                    continue;

                Directory.CreateDirectory(group);
                File.WriteAllText(Path.Combine(group, file), bytes.ToString(CultureInfo.InvariantCulture));
                return new MemoryLimit(group);
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException)
            {
                if (Directory.Exists(group))
                    Directory.Delete(group);
            }
        }

        return null;
    }

    /// <summary>How to start a program that is within the limit from its first instruction on.</summary>
    public ProcessStartInfo Start(string program, IEnumerable<string> arguments) => new(
        "/bin/sh",
        ["-c", "echo $$ > \"$0\" && exec \"$@\"", Path.Combine(_group, "cgroup.procs"), program, .. arguments]);

    public void Dispose()
    {
        if (Directory.Exists(_group))
            Directory.Delete(_group);
    }
}
