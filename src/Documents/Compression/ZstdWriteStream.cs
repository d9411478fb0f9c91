namespace Treepie.Compression;

/// <summary>
/// Compresses what is written to it as one zstd frame with a checksum. <see cref="CompleteAsync"/> ends the frame; without it the frame stays without an end, and who
/// reads it learns that it was broken off. One caller at a time.
/// </summary>
internal sealed class ZstdWriteStream : WritingStream
{
    private const int OutputBytes = 128 * 1024;

    private readonly Stream _destination;
    private readonly ZstdLibrary _library;
    private readonly ZstdContext _context;
    private readonly byte[] _output = new byte[OutputBytes];

    /// <summary>Compresses at a level (1 fastest, up to 19), by other threads if <paramref name="workers"/> is not 0 and the library has them. Leaves the destination open.</summary>
    public ZstdWriteStream(Stream destination, ZstdLibrary library, int level, int workers)
    {
        _destination = destination;
        _library = library;
        _context = library.CreateCompressor(level, ref workers);
        Workers = workers;
    }

    /// <summary>Threads that compress beside the caller's.</summary>
    public int Workers { get; }

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            _library.Compress(_context, buffer, _output, ZstdOperation.Continue, out int consumed, out int produced);
            buffer = buffer[consumed..];
            if (produced > 0)
                _destination.Write(_output.AsSpan(0, produced));
        }
    }

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (!buffer.IsEmpty)
        {
            _library.Compress(_context, buffer.Span, _output, ZstdOperation.Continue, out int consumed, out int produced);
            buffer = buffer[consumed..];
            if (produced > 0)
                await _destination.WriteAsync(_output.AsMemory(0, produced), cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Writes the end of the frame.</summary>
    public async ValueTask CompleteAsync(CancellationToken cancellationToken)
    {
        long left;
        do
        {
            left = _library.Compress(_context, default, _output, ZstdOperation.End, out _, out int produced);
            await _destination.WriteAsync(_output.AsMemory(0, produced), cancellationToken).ConfigureAwait(false);
        }
        while (left > 0);
    }

    public override void Flush()
    {
        // what is inside comes out when there is enough of it
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _context.Dispose();
        base.Dispose(disposing);
    }
}
