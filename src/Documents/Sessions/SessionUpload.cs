using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// An attachment that the next save stores. Its stream is read once, by the first save; if that fails, the content is kept for
/// the next one.
/// </summary>
internal sealed class SessionUpload(string id, string name, string? contentType, Stream stream)
    : SessionCommand(static _ => { }, (id, new SessionChange(SessionChangeKind.AttachmentPut, name)))
{
    private const int BufferBytes = 64 * 1024;

    private AttachmentUpload? _upload;

    public override async ValueTask AddToAsync(WriteBatch batch, ISessionHost database, CancellationToken cancellationToken)
    {
        _upload ??= await ReadAsync(database, stream, cancellationToken).ConfigureAwait(false);
        batch.PutAttachment(id, name, contentType, _upload);
    }

    /// <summary>Reads a stream to its end.</summary>
    public static async Task<AttachmentUpload> ReadAsync(
        ISessionHost database, Stream stream, CancellationToken cancellationToken)
    {
        var upload = new AttachmentUpload(database.Environment, database.Options.MaxAttachmentBytes);
        try
        {
            byte[] buffer = new byte[BufferBytes];
            for (int read; (read = await stream.ReadAsync(buffer, cancellationToken).ConfigureAwait(false)) > 0;)
                await upload.WriteAsync(buffer.AsMemory(0, read), cancellationToken).ConfigureAwait(false);
            await upload.CompleteAsync(cancellationToken).ConfigureAwait(false);
            return upload;
        }
        catch
        {
            await upload.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    public override async ValueTask DisposeAsync()
    {
        if (_upload is { } upload)
            await upload.DisposeAsync().ConfigureAwait(false);
        _upload = null;
        await base.DisposeAsync().ConfigureAwait(false);
    }
}
