using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Attachments of documents. Changes are made by the next save; reads see what is saved.</summary>
public sealed class SessionAttachments
{
    private readonly DocumentSession _session;

    internal SessionAttachments(DocumentSession session) => _session = session;

    /// <summary>
    /// Puts an attachment with the next save, which reads the stream; it stays open, and yours to dispose after that.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The name cannot be one.</exception>
    public void Store(string documentId, string name, Stream content, string? contentType = null)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(content);
        KindNames.Encode("an attachment", name);
        _session.Defer(new SessionUpload(documentId, name, contentType, content));
    }

    /// <summary>As <see cref="Store(string, string, Stream, string?)"/>, of an object's document.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public void Store(object entity, string name, Stream content, string? contentType = null) =>
        Store(_session.IdOf(entity), name, content, contentType);

    /// <summary>Deletes an attachment with the next save.</summary>
    /// <exception cref="InvalidDocumentException">The name cannot be one.</exception>
    public void Delete(string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        KindNames.Encode("an attachment", name);
        _session.Defer(new SessionCommand(batch => batch.DeleteAttachment(documentId, name)));
    }

    /// <summary>Whether there is an attachment.</summary>
    public bool Exists(string documentId, string name) => Find(documentId, name) is not null;

    /// <summary>What is known of an attachment; null where there is none.</summary>
    public AttachmentValue? Find(string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(name);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.Database.BeginRead();
        return snapshot.Attachment(documentId, name);
    }

    /// <summary>All attachments of a document, in order of their names.</summary>
    public IReadOnlyList<AttachmentValue> List(string documentId)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.Database.BeginRead();
        return [.. snapshot.Attachments(documentId)];
    }

    /// <summary>
    /// Copies the content of an attachment; false where there is none. In the memory of a piece, however long it is.
    /// </summary>
    public async Task<bool> CopyToAsync(
        string documentId, string name, Stream destination, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(destination);
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(name);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.Database.BeginRead();
        if (snapshot.Attachment(documentId, name) is not { } attachment)
            return false;
        for (long offset = 0; offset < attachment.SizeBytes;)
        {
            byte[] piece = snapshot.Content(attachment, offset).ToArray();
            snapshot.ReleasePages();
            await destination.WriteAsync(piece, cancellationToken).ConfigureAwait(false);
            offset += piece.Length;
        }

        return true;
    }
}
