using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Import;

/// <summary>A file of JSON lines. Empty lines are skipped.</summary>
internal sealed class JsonLines(Stream content) : IDocumentLines
{
    private readonly LineReader _reader = new(content);

    /// <inheritdoc/>
    public long LineNumber => _reader.LineNumber;

    /// <inheritdoc/>
    public ReadOnlyMemory<byte> Line => _reader.Line;

    /// <inheritdoc/>
    public string? Problem =>
        _reader.IsTooLong ? $"longer than {LineReader.DefaultMaxLineBytes / 1024 / 1024} MiB" : null;

    /// <inheritdoc/>
    public async ValueTask<bool> ReadAsync(CancellationToken cancellationToken)
    {
        while (await _reader.ReadAsync(cancellationToken))
            if (_reader.Line.Span.IndexOfAnyExcept(" \t"u8) >= 0)
                return true;
        return false;
    }
}
