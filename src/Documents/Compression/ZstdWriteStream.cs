using Treepie.Storage.Files;
using Treepie.Storage.Memory;

namespace Treepie.Compression;

/// <summary>
/// Compresses what is written to it as one zstd frame with a checksum. <see cref="CompleteAsync"/> ends the frame; without it the
/// frame stays incomplete, which its reader detects. Compresses on low-priority threads, so that threads that serve requests go
/// first. Buffers the beginning until it is long enough to choose a level. Memory: that of the library for its threads (see
/// <see cref="ZstdLibrary.JobBytes"/>), and 1 MiB until the level is chosen. Not thread-safe.
/// </summary>
internal sealed class ZstdWriteStream : ForwardStream
{
    public override bool CanWrite => true;

    private const int OutputBytes = 128 * 1024;

    private readonly Stream _destination;
    private readonly ZstdLibrary _library;
    private readonly ZstdLevels _levels;
    private readonly ZstdContext _context;
    private readonly byte[] _output = new byte[OutputBytes];
    private byte[]? _sample;
    private int _sampled;

    /// <summary>
    /// Compresses at one of several levels (1 is the fastest, up to 19), on other threads if <paramref name="workers"/> is not 0
    /// and the library supports threads. Disposing the stream leaves the destination open.
    /// </summary>
    public ZstdWriteStream(Stream destination, ZstdLibrary library, ZstdLevels levels, int workers)
    {
        _destination = destination;
        _library = library;
        _levels = levels;
        _context = library.CreateCompressor(levels.Choices[0], ref workers);
        Workers = workers;
        Level = levels.Choices[0];
        _sample = levels.Choices.Count > 1 ? new byte[ZstdLevels.SampleBytes] : null;
        if (_sample is null)
            Begin();
    }

    /// <summary>The number of compression threads besides the caller's; 0 if the content ends within the sample.</summary>
    public int Workers { get; private set; }

    /// <summary>The level, once it is chosen.</summary>
    public int Level { get; private set; }

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        if (_sample is not null)
        {
            buffer = buffer[Sample(buffer)..];
            if (_sampled < _sample.Length)
                return;
            CompressSync(Chosen().Span);
        }

        CompressSync(buffer);
    }

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_sample is not null)
        {
            buffer = buffer[Sample(buffer.Span)..];
            if (_sampled < _sample.Length)
                return;
            await CompressAsync(Chosen(), cancellationToken).ConfigureAwait(false);
        }

        await CompressAsync(buffer, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Writes the end of the frame.</summary>
    public async ValueTask CompleteAsync(CancellationToken cancellationToken)
    {
        if (_sample is not null)
        {
            Workers = _library.SetWorkers(_context, 0); // all content is buffered already
            await CompressAsync(Chosen(), cancellationToken).ConfigureAwait(false);
        }

        long left;
        do
        {
            left = _library.Compress(_context, default, _output, ZstdOperation.End, out _, out int produced);
            await _destination.WriteAsync(_output.AsMemory(0, produced), cancellationToken).ConfigureAwait(false);
        }
        while (left > 0);
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _context.Dispose();
        base.Dispose(disposing);
    }

    private int Sample(ReadOnlySpan<byte> buffer)
    {
        int taken = Math.Min(buffer.Length, _sample!.Length - _sampled); // not null: checked by the caller
        buffer[..taken].CopyTo(_sample.AsSpan(_sampled));
        _sampled += taken;
        return taken;
    }

    /// <summary>Chooses the level and returns the buffered beginning.</summary>
    private ReadOnlyMemory<byte> Chosen()
    {
        ReadOnlyMemory<byte> sample = _sample.AsMemory(0, _sampled);
        _sample = null;
        Level = _levels.Choose(_library, sample.Span);
        _library.SetLevel(_context, Level);
        Begin();
        return sample;
    }

    /// <summary>
    /// Makes the first call of the library on a low-priority thread: the library starts its threads in that call, and they
    /// inherit the priority.
    /// </summary>
    private void Begin()
    {
        if (Workers > 0)
            QuietThread.Run(
                () => _library.Compress(_context, default, _output, ZstdOperation.Continue, out _, out _), QuietThread.Steady);
    }

    private void CompressSync(ReadOnlySpan<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            _library.Compress(_context, buffer, _output, ZstdOperation.Continue, out int consumed, out int produced);
            buffer = buffer[consumed..];
            if (produced > 0)
                _destination.Write(_output.AsSpan(0, produced));
        }
    }

    private async ValueTask CompressAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken)
    {
        while (!buffer.IsEmpty)
        {
            _library.Compress(_context, buffer.Span, _output, ZstdOperation.Continue, out int consumed, out int produced);
            buffer = buffer[consumed..];
            if (produced > 0)
                await _destination.WriteAsync(_output.AsMemory(0, produced), cancellationToken).ConfigureAwait(false);
        }
    }
}
