namespace Treepie.Server.Http;

/// <summary>
/// Base of streams over the bodies of requests and responses: forward only, and asynchronous only, unlike the forward-only
/// streams of the storage, which the server does not use. A readable stream overrides <see cref="CanRead"/> and
/// <see cref="ReadAsync(Memory{byte}, CancellationToken)"/>, a writable one <see cref="CanWrite"/> and
/// <see cref="WriteAsync(ReadOnlyMemory{byte}, CancellationToken)"/>.
/// </summary>
internal abstract class BodyStream : Stream
{
    public override bool CanRead => false;

    public override bool CanWrite => false;

    public sealed override bool CanSeek => false;

    public sealed override long Length => throw new NotSupportedException();

    public sealed override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        throw new NotSupportedException();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        throw new NotSupportedException();

    public sealed override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public sealed override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public sealed override int Read(byte[] buffer, int offset, int count) => throw Blocking();

    public sealed override void Write(byte[] buffer, int offset, int count) => throw Blocking();

    /// <summary>Does nothing for a readable stream.</summary>
    public sealed override void Flush()
    {
        if (CanWrite)
            throw Blocking();
    }

    public sealed override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public sealed override void SetLength(long value) => throw new NotSupportedException();

    private static NotSupportedException Blocking() =>
        new("The bodies of requests and responses are read and written asynchronously.");
}
