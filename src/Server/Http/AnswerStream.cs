namespace Treepie.Server.Http;

/// <summary>The response body as a write-only stream, with the limits for slow readers. Asynchronous only.</summary>
internal sealed class AnswerStream(ResponseBody output) : Stream
{
    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        output.Write(buffer.Span);
        await output.FlushAsync(cancellationToken).ConfigureAwait(false);
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => output.FlushAsync(cancellationToken).AsTask();

    public override void Flush() => throw new NotSupportedException("The body of an answer is written asynchronously.");

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException(
        "The body of an answer is written asynchronously.");

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
