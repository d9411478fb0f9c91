using System.Buffers;
using System.IO.Pipelines;

namespace Treepie.Server.Http;

/// <summary>
/// The request body as a stream whose reads can be cancelled (see <see cref="PipeReaderExtensions.ReadOrCancelAsync"/>).
/// Asynchronous only.
/// </summary>
internal sealed class CancellableBody(PipeReader reader) : Stream
{
    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ReadResult read = await reader.ReadOrCancelAsync(cancellationToken).ConfigureAwait(false);
        int given = (int)Math.Min(buffer.Length, read.Buffer.Length);
        ReadOnlySequence<byte> taken = read.Buffer.Slice(0, given);
        taken.CopyTo(buffer.Span);
        reader.AdvanceTo(taken.End);
        return given;
    }

    public override int Read(byte[] buffer, int offset, int count) =>
        throw new NotSupportedException("The body of a request is read asynchronously.");

    public override void Flush()
    {
    }

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
