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
        _session.Defer(
            new SessionCommand(batch => batch.DeleteAttachment(documentId, name), Goes(documentId, name)));
    }

    /// <summary>As <see cref="Delete(string, string)"/>, of an object's document.</summary>
    /// <exception cref="InvalidOperationException">The object is not of this session.</exception>
    public void Delete(object entity, string name) => Delete(_session.IdOf(entity), name);

    /// <summary>Copies an attachment with the next save, which there must be then; its content is kept once.</summary>
    /// <exception cref="InvalidDocumentException">An id or name cannot be one.</exception>
    public void Copy(string documentId, string name, string destinationId, string destinationName)
    {
        Check(documentId, name, destinationId, destinationName);
        _session.Defer(
            new SessionCommand(
                batch => batch.CopyAttachment(documentId, name, destinationId, destinationName),
                (destinationId, new SessionChange(SessionChangeKind.AttachmentPut, destinationName))));
    }

    /// <summary>Moves an attachment with the next save, to another document or name; there must be one then.</summary>
    /// <exception cref="InvalidDocumentException">An id or name cannot be one.</exception>
    public void Move(string documentId, string name, string destinationId, string destinationName)
    {
        Check(documentId, name, destinationId, destinationName);
        _session.Defer(
            new SessionCommand(
                batch => batch.MoveAttachment(documentId, name, destinationId, destinationName),
                Goes(documentId, name),
                (destinationId, new SessionChange(SessionChangeKind.AttachmentPut, destinationName))));
    }

    /// <summary>Gives an attachment another name with the next save; there must be one then.</summary>
    /// <exception cref="InvalidDocumentException">A name cannot be one.</exception>
    public void Rename(string documentId, string name, string newName) => Move(documentId, name, documentId, newName);

    /// <summary>The content of an attachment with what is known of it; null where there is none. To be disposed.</summary>
    public AttachmentContent? Get(string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(name);
        _session.RequireOpen();
        DatabaseSnapshot snapshot = _session.BeginRead();
        if (snapshot.Attachment(documentId, name) is { } attachment)
            return new AttachmentContent(snapshot, attachment);
        snapshot.Dispose();
        return null;
    }

    /// <summary>As <see cref="Get"/>: reads complete at once.</summary>
    public ValueTask<AttachmentContent?> GetAsync(
        string documentId, string name, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get(documentId, name));
    }

    /// <summary>
    /// The content of an attachment that a document had at the revision of a change vector; null where there is none. To be
    /// disposed.
    /// </summary>
    public AttachmentContent? GetRevision(string documentId, string name, string changeVector)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(changeVector);
        _session.RequireOpen();
        DatabaseSnapshot snapshot = _session.Database.BeginRead();
        if (snapshot.RevisionAttachment(documentId, name, changeVector) is { } attachment)
            return new AttachmentContent(snapshot, attachment);
        snapshot.Dispose();
        return null;
    }

    /// <summary>As <see cref="GetRevision"/>: reads complete at once.</summary>
    public ValueTask<AttachmentContent?> GetRevisionAsync(
        string documentId, string name, string changeVector, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetRevision(documentId, name, changeVector));
    }

    /// <summary>Whether there is an attachment.</summary>
    public bool Exists(string documentId, string name) => Find(documentId, name) is not null;

    /// <summary>What is known of an attachment; null where there is none.</summary>
    public AttachmentValue? Find(string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(name);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.Attachment(documentId, name);
    }

    /// <summary>All attachments of a document, in order of their names.</summary>
    public IReadOnlyList<AttachmentValue> List(string documentId)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return [.. snapshot.Attachments(documentId)];
    }

    private static (string Id, SessionChange Change) Goes(string documentId, string name) =>
        (documentId, new SessionChange(SessionChangeKind.AttachmentDeleted, name));

    private void Check(string documentId, string name, string destinationId, string destinationName)
    {
        int most = _session.Database.Options.MaxIdBytes;
        AttachmentPlace.Of(documentId, name, most);
        AttachmentPlace.Of(destinationId, destinationName, most);
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
        using AttachmentContent? content = Get(documentId, name);
        if (content is null)
            return false;
        await content.Stream.CopyToAsync(destination, cancellationToken).ConfigureAwait(false);
        return true;
    }
}
