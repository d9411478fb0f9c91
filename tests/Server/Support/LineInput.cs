using System.Collections.Concurrent;

namespace Treepie.Server.Tests.Support;

/// <summary>Standard input that a test writes to.</summary>
internal sealed class LineInput : TextReader
{
    private readonly BlockingCollection<string> _lines = [];

    public void Send(string line) => _lines.Add(line);

    public override string? ReadLine() => _lines.TryTake(out string? line, Timeout.Infinite) ? line : null;

    protected override void Dispose(bool disposing)
    {
        _lines.CompleteAdding();
        base.Dispose(disposing);
    }
}
