namespace Treepie.CommandLine.Http;

/// <summary>
/// Splits a stream into lines, using only as much memory as the longest line needs, up to a limit. A longer line is skipped and
/// marked. A line ends with LF or CRLF; a byte order mark at the start is dropped; the last line needs no terminator.
/// </summary>
internal sealed class LineReader(Stream stream, int maxLineBytes = LineReader.DefaultMaxLineBytes)
{
    /// <summary>64 MiB: twice the default maximum size of a document on a server.</summary>
    public const int DefaultMaxLineBytes = 64 * 1024 * 1024;

    private const int InitialBytes = 128 * 1024;

    private byte[] _buffer = new byte[Math.Min(InitialBytes, maxLineBytes + 2)];
    private int _start;
    private int _end;
    private bool _ended;

    /// <summary>Number of the line, from 1; 0 before the first.</summary>
    public long LineNumber { get; private set; }

    /// <summary>The line without its terminator. Valid until the next read.</summary>
    public ReadOnlyMemory<byte> Line { get; private set; }

    /// <summary>Whether the line exceeds the limit; <see cref="Line"/> then holds only its beginning.</summary>
    public bool IsTooLong { get; private set; }

    /// <summary>Reads the next line. Returns false at the end of the stream.</summary>
    public async ValueTask<bool> ReadAsync(CancellationToken cancellationToken)
    {
        IsTooLong = false;
        int searched = 0;
        while (true)
        {
            int at = _buffer.AsSpan(_start + searched, _end - _start - searched).IndexOf((byte)'\n');
            if (at >= 0)
                return Take(searched + at, 1);

            searched = _end - _start;
            if (_ended)
                return searched > 0 && Take(searched, 0);

            if (searched > maxLineBytes)
                return await PassOverAsync(cancellationToken);

            await FillAsync(cancellationToken);
        }
    }

    private bool Take(int length, int endLength)
    {
        ReadOnlyMemory<byte> line = _buffer.AsMemory(_start, length);
        _start += length + endLength;
        LineNumber++;
        if (line.Span.EndsWith("\r"u8))
            line = line[..^1];

        if (LineNumber == 1 && line.Span.StartsWith("\uFEFF"u8))
            line = line[3..];

        IsTooLong = line.Length > maxLineBytes;
        Line = IsTooLong ? line[..100] : line;
        return true;
    }

    /// <summary>Skips to the end of a line that is too long and keeps only its beginning.</summary>
    private async ValueTask<bool> PassOverAsync(CancellationToken cancellationToken)
    {
        byte[] beginning = _buffer.AsSpan(_start, Math.Min(100, _end - _start)).ToArray();
        while (true)
        {
            int at = _buffer.AsSpan(_start, _end - _start).IndexOf((byte)'\n');
            if (at >= 0 || _ended)
            {
                _start = at >= 0 ? _start + at + 1 : _end;
                LineNumber++;
                Line = beginning;
                IsTooLong = true;
                return true;
            }

            _start = _end;
            await FillAsync(cancellationToken);
        }
    }

    private async ValueTask FillAsync(CancellationToken cancellationToken)
    {
        if (_start > 0)
        {
            _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
            _end -= _start;
            _start = 0;
        }

        if (_end == _buffer.Length)
            Array.Resize(ref _buffer, (int)Math.Min(_buffer.Length * 2L, maxLineBytes + 2L));

        int read = await stream.ReadAsync(_buffer.AsMemory(_end), cancellationToken);
        _end += read;
        _ended = read == 0;
    }
}
