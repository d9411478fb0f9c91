using System.Globalization;
using System.Text;

namespace Treepie.Bench.Suites.Indexing;

/// <summary>Figures that the system keeps of the thread that made this: how often its processor was taken from it, and pages it touched that were not there. Zero where the system does not tell.</summary>
internal sealed class ThreadFigures : IDisposable
{
    private readonly FileStream? status;
    private readonly FileStream? stat;
    private readonly byte[] buffer = new byte[8_192];

    public ThreadFigures()
    {
        const string Self = "/proc/thread-self/";
        if (!File.Exists(Self + "status"))
            return;
        status = new FileStream(Self + "status", FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0);
        stat = new FileStream(Self + "stat", FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0);
    }

    public (long Switches, long Faults) Read() => (Number(Text(status), "nonvoluntary_ctxt_switches:"u8), Field(Text(stat), 10));

    public void Dispose()
    {
        status?.Dispose();
        stat?.Dispose();
    }

    private ReadOnlySpan<byte> Text(FileStream? file)
    {
        if (file is null)
            return default;
        file.Position = 0;
        return buffer.AsSpan(0, file.Read(buffer));
    }

    private static long Number(ReadOnlySpan<byte> text, ReadOnlySpan<byte> name)
    {
        int at = text.IndexOf(name);
        return at < 0 || !long.TryParse(Encoding.ASCII.GetString(text[(at + name.Length)..]).Split('\n')[0], NumberStyles.AllowLeadingWhite, CultureInfo.InvariantCulture, out long number) ? 0 : number;
    }

    /// <summary>A field by its number, from 1; the second is a name in parentheses.</summary>
    private static long Field(ReadOnlySpan<byte> text, int number)
    {
        int end = text.LastIndexOf((byte)')');
        return end < 0 ? 0 : long.Parse(Encoding.ASCII.GetString(text[(end + 2)..]).Split(' ')[number - 3], CultureInfo.InvariantCulture);
    }
}
