namespace Treepie.Backups;

/// <summary>A stream and, behind its end, a few bytes more. Leaves the stream open.</summary>
internal sealed class FollowedStream(Stream inner, ReadOnlyMemory<byte> behind) : Stream
{
    private ReadOnlyMemory<byte> _behind = behind;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override int Read(Span<byte> buffer) => buffer.IsEmpty ? 0 : inner.Read(buffer) is > 0 and var read ? read : ReadBehind(buffer);

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) => ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        buffer.IsEmpty ? 0 : await inner.ReadAsync(buffer, cancellationToken).ConfigureAwait(false) is > 0 and var read ? read : ReadBehind(buffer.Span);

    public override void Flush()
    {
    }

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    private int ReadBehind(Span<byte> buffer)
    {
        int given = Math.Min(buffer.Length, _behind.Length);
        _behind.Span[..given].CopyTo(buffer);
        _behind = _behind[given..];
        return given;
    }
}
