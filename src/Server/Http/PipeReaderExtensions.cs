using System.IO.Pipelines;

namespace Treepie.Server.Http;

/// <summary>Reading from a connection so that it can be given up.</summary>
internal static class PipeReaderExtensions
{
    /// <summary>
    /// Reads; at the token's cancellation gives up the read, not the reader. A token handed to <see cref="PipeReader.ReadAsync"/>
    /// itself would leave the read open for ever, and Kestrel could not read the rest of the request away after the answer.
    /// </summary>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="WireException">What arrives is no body, or ends before its end.</exception>
    public static async ValueTask<ReadResult> ReadOrCancelAsync(this PipeReader reader, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(
            static state => ((PipeReader)state!).CancelPendingRead(), reader); // the reader is the state
        while (true)
        {
            ReadResult read = await ReadAsync(reader).ConfigureAwait(false);
            if (!read.IsCanceled)
                return read;

            reader.AdvanceTo(read.Buffer.Start);
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    // Kestrel says of some broken chunks that reading failed, as if that were the server's fault.
    private static async ValueTask<ReadResult> ReadAsync(PipeReader reader)
    {
        try
        {
            return await reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is IOException and not BadHttpRequestException)
        {
            throw WireException.BadRequest($"The request's body cannot be read: {exception.Message}", exception);
        }
    }
}
