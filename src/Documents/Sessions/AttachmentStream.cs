using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>A stream of an attachment's content, read from a snapshot that it disposes.</summary>
internal sealed class AttachmentStream(DatabaseSnapshot snapshot, AttachmentValue attachment) : Stream
{
    private long _position;
    private bool _disposed;

    public override bool CanRead => !_disposed;

    public override bool CanSeek => !_disposed;

    public override bool CanWrite => false;

    public override long Length => attachment.SizeBytes;

    public override long Position
    {
        get => _position;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    public override int Read(Span<byte> buffer)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (buffer.IsEmpty || _position >= Length)
            return 0;
        ReadOnlySpan<byte> piece = snapshot.Content(attachment, _position);
        int length = Math.Min(piece.Length, buffer.Length);
        piece[..length].CopyTo(buffer);
        snapshot.ReleasePages();
        _position += length;
        return length;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override int ReadByte()
    {
        Span<byte> one = stackalloc byte[1];
        return Read(one) == 1 ? one[0] : -1;
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Read(buffer.Span));
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override long Seek(long offset, SeekOrigin origin) => Position = origin switch
    {
        SeekOrigin.Begin => offset,
        SeekOrigin.Current => _position + offset,
        _ => Length + offset,
    };

    public override void Flush()
    {
    }

    public override void SetLength(long value) => throw new NotSupportedException("An attachment is read as it is.");

    public override void Write(byte[] buffer, int offset, int count) =>
        throw new NotSupportedException("An attachment is read as it is.");

    protected override void Dispose(bool disposing)
    {
        if (disposing && !_disposed)
        {
            _disposed = true;
            snapshot.Dispose();
        }

        base.Dispose(disposing);
    }
}
