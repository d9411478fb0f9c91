using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>A stream followed by a few more bytes. Leaves the stream open.</summary>
internal sealed class FollowedStream(Stream inner, ReadOnlyMemory<byte> behind) : ForwardStream
{
    private ReadOnlyMemory<byte> _behind = behind;

    public override bool CanRead => true;

    public override int Read(Span<byte> buffer) =>
        buffer.IsEmpty ? 0 : inner.Read(buffer) is > 0 and var read ? read : ReadBehind(buffer);

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        buffer.IsEmpty
            ? 0
            : await inner.ReadAsync(buffer, cancellationToken).ConfigureAwait(false) is > 0 and var read
            ? read
            : ReadBehind(buffer.Span);

    private int ReadBehind(Span<byte> buffer)
    {
        int given = Math.Min(buffer.Length, _behind.Length);
        _behind.Span[..given].CopyTo(buffer);
        _behind = _behind[given..];
        return given;
    }
}
