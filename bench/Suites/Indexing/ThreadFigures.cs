using System.Buffers.Text;

namespace Treepie.Bench.Suites.Indexing;

/// <summary>
/// Figures that the system keeps of the thread that made this: how often its processor was taken from it, how long it waited for
/// one, and pages it touched that were not there. Zero where the system does not tell. Reading them makes no garbage: collections
/// are among what is looked for.
/// </summary>
internal sealed class ThreadFigures : IDisposable
{
    private readonly FileStream? _status = Open("status");
    private readonly FileStream? _stat = Open("stat");
    private readonly FileStream? _schedule = Open("schedstat");
    private readonly byte[] _buffer = new byte[8_192];

    public (long Switches, double WaitMicroseconds, long Faults) Read()
    {
        ReadOnlySpan<byte> name = "nonvoluntary_ctxt_switches:"u8, text = Text(_status);
        int at = text.IndexOf(name);
        long switches = at < 0 ? 0 : Number(text[(at + name.Length)..], 0);
        double wait = Number(Text(_schedule), 1) / 1e3;
        text = Text(_stat);
        const int FaultsBehindName = 8; // the tenth, and the second is a name in parentheses
        return (switches, wait, Number(text[(text.LastIndexOf((byte)')') + 1)..].TrimStart((byte)' '), FaultsBehindName - 1));
    }

    public void Dispose()
    {
        _status?.Dispose();
        _stat?.Dispose();
        _schedule?.Dispose();
    }

    private static FileStream? Open(string file)
    {
        string path = "/proc/thread-self/" + file;
        return File.Exists(path)
            ? new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0)
            : null;
    }

    private ReadOnlySpan<byte> Text(FileStream? file)
    {
        if (file is null)
            return default;
        file.Position = 0;
        return _buffer.AsSpan(0, file.Read(_buffer));
    }

    /// <summary>A number among those that spaces divide, from 0.</summary>
    private static long Number(ReadOnlySpan<byte> text, int place)
    {
        for (; place > 0; place--)
            text = text[(text.IndexOf((byte)' ') + 1)..];
        return Utf8Parser.TryParse(text.TrimStart(" \t"u8), out long number, out _) ? number : 0;
    }
}
