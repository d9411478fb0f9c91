using System.IO.Pipelines;

namespace Treepie.Server.Http;

/// <summary>Reading from a connection so that it can be given up.</summary>
internal static class PipeReaderExtensions
{
    /// <summary>
    /// Reads; at the token's cancellation gives up the read, not the reader. A token handed to <see cref="PipeReader.ReadAsync"/> itself would
    /// leave the read open for ever, and Kestrel could not read the rest of the request away after the answer.
    /// </summary>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static async ValueTask<ReadResult> ReadOrCancelAsync(this PipeReader reader, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(
            static state => ((PipeReader)state!).CancelPendingRead(), reader); // the reader is the state
        while (true)
        {
            ReadResult read = await reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
            if (!read.IsCanceled)
                return read;

            reader.AdvanceTo(read.Buffer.Start);
            cancellationToken.ThrowIfCancellationRequested();
        }
    }
}
