using System.IO.Pipelines;

namespace Treepie.Server.Http;

/// <summary>Reads from a connection in a cancellable way.</summary>
internal static class PipeReaderExtensions
{
    /// <summary>
    /// Reads; cancelling the token cancels the read but leaves the reader usable. A token passed to
    /// <see cref="PipeReader.ReadAsync"/> itself would leave the read unfinished, and Kestrel could not drain the rest of the
    /// request after the response.
    /// </summary>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="WireException">The body is malformed or truncated.</exception>
    public static async ValueTask<ReadResult> ReadOrCancelAsync(this PipeReader reader, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(
            static state => ((PipeReader)state!).CancelPendingRead(), reader); // the state is the reader
        while (true)
        {
            ReadResult read = await ReadAsync(reader).ConfigureAwait(false);
            if (!read.IsCanceled)
                return read;

            reader.AdvanceTo(read.Buffer.Start);
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    /// <summary>Reads what has arrived already; returns false if there is nothing.</summary>
    /// <exception cref="WireException">The body is malformed or truncated.</exception>
    public static bool TryReadBody(this PipeReader reader, out ReadResult read)
    {
        try
        {
            if (!reader.TryRead(out read))
                return false;
        }
        catch (Exception exception) when (IsMalformed(exception))
        {
            throw Malformed(exception);
        }

        if (!read.IsCanceled)
            return true;
        reader.AdvanceTo(read.Buffer.Start);
        return false;
    }

    private static async ValueTask<ReadResult> ReadAsync(PipeReader reader)
    {
        try
        {
            return await reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
        }
        catch (Exception exception) when (IsMalformed(exception))
        {
            throw Malformed(exception);
        }
    }

    // Kestrel reports some malformed chunks as read errors, as if they were the server's fault.
    private static bool IsMalformed(Exception exception) => exception is IOException and not BadHttpRequestException;

    private static WireException Malformed(Exception exception) =>
        WireException.BadRequest($"The request's body cannot be read: {exception.Message}", exception);
}
