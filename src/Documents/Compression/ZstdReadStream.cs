using Treepie.Storage.Files;

namespace Treepie.Compression;

/// <summary>
/// Decompresses one or more consecutive zstd frames. A damaged or truncated frame causes an exception rather than an early end of
/// the stream. Not thread-safe.
/// </summary>
internal sealed class ZstdReadStream : ForwardStream
{
    public override bool CanRead => true;

    private const int InputBytes = 128 * 1024;

    private readonly Stream _source;
    private readonly ZstdLibrary _library;
    private readonly ZstdContext _context;
    private readonly byte[] _input = new byte[InputBytes];
    private int _at;
    private int _filled;
    private bool _withinFrame = true;
    private bool _mayHoldMore;

    /// <summary>Creates the stream; disposing it leaves the source open.</summary>
    public ZstdReadStream(Stream source, ZstdLibrary library)
    {
        _source = source;
        _library = library;
        _context = library.CreateDecompressor();
    }

    public override int Read(Span<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            if (NeedsInput && !Filled(_source.Read(_input)))
                return 0;
            int produced = Decompress(buffer);
            if (produced > 0)
                return produced;
        }

        return 0;
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (!buffer.IsEmpty)
        {
            if (NeedsInput && !Filled(await _source.ReadAsync(_input, cancellationToken).ConfigureAwait(false)))
                return 0;
            int produced = Decompress(buffer.Span);
            if (produced > 0)
                return produced;
        }

        return 0;
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _context.Dispose();
        base.Dispose(disposing);
    }

    private bool NeedsInput => _at == _filled && !_mayHoldMore;

    private bool Filled(int read)
    {
        (_at, _filled) = (0, read);
        if (read == 0 && _withinFrame)
            throw new InvalidDataException("zstd: the compressed data is cut off.");
        return read > 0;
    }

    private int Decompress(Span<byte> buffer)
    {
        long wanted = _library.Decompress(
            _context, _input.AsSpan(_at, _filled - _at), buffer, out int consumed, out int produced);
        _at += consumed;
        _withinFrame = wanted != 0;
        _mayHoldMore = produced == buffer.Length && _withinFrame; // if the output is full, more may be buffered inside
        return produced;
    }
}
