using System.Threading.Channels;
using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>
/// Reads a stream ahead on a thread of its own, so that a backup is decrypted and decompressed while what was read before is
/// parsed. Memory use is a fixed number of buffers. An error of the stream is thrown after the bytes before it have been read.
/// Disposing ends the thread and leaves the stream open. Not thread-safe.
/// </summary>
internal sealed class ReadAheadStream : ForwardStream
{
    /// <summary>One buffer is read and one filled; two absorb differences in speed.</summary>
    public const int Buffers = 4;

    public const int BufferBytes = 256 * 1024;

    private readonly Channel<byte[]> _free = Channel.CreateBounded<byte[]>(Buffers);
    private readonly Channel<ArraySegment<byte>> _filled = Channel.CreateBounded<ArraySegment<byte>>(Buffers);
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _work;
    private ArraySegment<byte> _piece = ArraySegment<byte>.Empty;
    private int _at;

    public ReadAheadStream(Stream source)
    {
        for (int buffer = 0; buffer < Buffers; buffer++)
            _free.Writer.TryWrite(new byte[BufferBytes]);
        _work = WorkThread.RunAsync(() => Task.FromResult(Fill(source)));
    }

    public override bool CanRead => true;

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (_at == _piece.Count)
        {
            if (_piece.Count > 0)
                _free.Writer.TryWrite(_piece.Array ?? []); // there is room for every buffer
            (_piece, _at) = (ArraySegment<byte>.Empty, 0);
            if (_filled.Reader.TryRead(out ArraySegment<byte> next))
                _piece = next;
            else if (!await _filled.Reader.WaitToReadAsync(cancellationToken).ConfigureAwait(false))
                return 0;
        }

        int read = Math.Min(buffer.Length, _piece.Count - _at);
        _piece.AsSpan(_at, read).CopyTo(buffer.Span);
        _at += read;
        return read;
    }

    public override async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _work.ConfigureAwait(false);
        _stop.Dispose();
        await base.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Reads until the end, an error, or <see cref="DisposeAsync"/>; returns the number of bytes.</summary>
    private long Fill(Stream source)
    {
        long total = 0;
        try
        {
            for (int read = -1; read != 0; total += read)
            {
                byte[] buffer = BlockingStream.Wait(_free.Reader.ReadAsync(_stop.Token));
                read = BlockingStream.Wait(source.ReadAsync(buffer, _stop.Token));
                if (read > 0)
                    _filled.Writer.TryWrite(new ArraySegment<byte>(buffer, 0, read)); // there is room for every buffer
            }

            _filled.Writer.Complete();
        }
        catch (Exception error)
        {
            _filled.Writer.Complete(error); // whatever it is, it belongs to the reader
        }

        return total;
    }
}
