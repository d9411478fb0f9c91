namespace Treepie.Server.Http;

/// <summary>The response body as a write-only stream, with the limits for slow readers. Asynchronous only.</summary>
internal sealed class AnswerStream(ResponseBody output) : BodyStream
{
    public override bool CanWrite => true;

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        output.Write(buffer.Span);
        await output.FlushAsync(cancellationToken).ConfigureAwait(false);
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => output.FlushAsync(cancellationToken).AsTask();
}
