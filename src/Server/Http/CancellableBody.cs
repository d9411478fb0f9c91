using System.Buffers;
using System.IO.Pipelines;

namespace Treepie.Server.Http;

/// <summary>
/// The request body as a stream whose reads can be cancelled (see <see cref="PipeReaderExtensions.ReadOrCancelAsync"/>).
/// Asynchronous only.
/// </summary>
/// <param name="reader">The body.</param>
/// <param name="patience">How long a read waits for the client; null: without a limit.</param>
/// <param name="clock">The clock.</param>
internal sealed class CancellableBody(PipeReader reader, TimeSpan? patience = null, TimeProvider? clock = null)
    : BodyStream
{
    public override bool CanRead => true;

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ReadResult read = patience is { } longest
            ? await ReadAsync(longest, cancellationToken).ConfigureAwait(false)
            : await reader.ReadOrCancelAsync(cancellationToken).ConfigureAwait(false);
        int given = (int)Math.Min(buffer.Length, read.Buffer.Length);
        ReadOnlySequence<byte> taken = read.Buffer.Slice(0, given);
        taken.CopyTo(buffer.Span);
        reader.AdvanceTo(taken.End);
        return given;
    }

    private async ValueTask<ReadResult> ReadAsync(TimeSpan longest, CancellationToken cancellationToken)
    {
        using var waiting = new CancellationTokenSource(longest, clock ?? TimeProvider.System);
        using CancellationTokenRegistration link = cancellationToken.UnsafeRegister(
            static state => ((CancellationTokenSource)state!).Cancel(), waiting); // the state is the source
        try
        {
            return await reader.ReadOrCancelAsync(waiting.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw WireException.Timeout($"The client sent nothing for {longest}. Data sent before is kept.");
        }
    }
}
