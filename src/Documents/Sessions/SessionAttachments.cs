using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Attachments of documents. Changes are made by the next save; reads see only what is saved.</summary>
public sealed class SessionAttachments
{
    private readonly DocumentSession _session;

    internal SessionAttachments(DocumentSession session) => _session = session;

    /// <summary>
    /// Stores an attachment with the next save, which reads the stream. The stream stays open; the caller disposes it after the
    /// save.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The name is not valid.</exception>
    public void Store(string documentId, string name, Stream content, string? contentType = null)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(content);
        KindNames.Encode("an attachment", name);
        _session.Defer(new SessionUpload(documentId, name, contentType, content));
    }

    /// <summary>Same as <see cref="Store(string, string, Stream, string?)"/>, for the document of an entity.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public void Store(object entity, string name, Stream content, string? contentType = null) =>
        Store(_session.IdOf(entity), name, content, contentType);

    /// <summary>Deletes an attachment with the next save.</summary>
    /// <exception cref="InvalidDocumentException">The name is not valid.</exception>
    public void Delete(string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        KindNames.Encode("an attachment", name);
        _session.Defer(
            new SessionCommand(batch => batch.DeleteAttachment(documentId, name), Goes(documentId, name)));
    }

    /// <summary>Same as <see cref="Delete(string, string)"/>, for the document of an entity.</summary>
    /// <exception cref="InvalidOperationException">The session does not track the entity.</exception>
    public void Delete(object entity, string name) => Delete(_session.IdOf(entity), name);

    /// <summary>
    /// Copies an attachment with the next save, when it must exist. Its content is stored only once.
    /// </summary>
    /// <exception cref="InvalidDocumentException">An id or name is not valid.</exception>
    public void Copy(string documentId, string name, string destinationId, string destinationName)
    {
        Check(documentId, name, destinationId, destinationName);
        _session.Defer(
            new SessionCommand(
                batch => batch.CopyAttachment(documentId, name, destinationId, destinationName),
                (destinationId, new SessionChange(SessionChangeKind.AttachmentPut, destinationName))));
    }

    /// <summary>Moves an attachment to another document or name with the next save, when it must exist.</summary>
    /// <exception cref="InvalidDocumentException">An id or name is not valid.</exception>
    public void Move(string documentId, string name, string destinationId, string destinationName)
    {
        Check(documentId, name, destinationId, destinationName);
        _session.Defer(
            new SessionCommand(
                batch => batch.MoveAttachment(documentId, name, destinationId, destinationName),
                Goes(documentId, name),
                (destinationId, new SessionChange(SessionChangeKind.AttachmentPut, destinationName))));
    }

    /// <summary>Renames an attachment with the next save, when it must exist.</summary>
    /// <exception cref="InvalidDocumentException">A name is not valid.</exception>
    public void Rename(string documentId, string name, string newName) => Move(documentId, name, documentId, newName);

    /// <summary>Opens the content of an attachment; returns null if it does not exist. The result must be disposed.</summary>
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

    /// <summary>Same as <see cref="Get"/>; completes synchronously.</summary>
    public ValueTask<AttachmentContent?> GetAsync(
        string documentId, string name, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get(documentId, name));
    }

    /// <summary>
    /// Opens the content that an attachment had in the document's revision with the specified change vector; returns null if
    /// there is none. The result must be disposed.
    /// </summary>
    public AttachmentContent? GetRevision(string documentId, string name, string changeVector)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(changeVector);
        _session.RequireOpen();
        DatabaseSnapshot snapshot = _session.BeginRead();
        if (snapshot.RevisionAttachment(documentId, name, changeVector) is { } attachment)
            return new AttachmentContent(snapshot, attachment);
        snapshot.Dispose();
        return null;
    }

    /// <summary>Same as <see cref="GetRevision"/>; completes synchronously.</summary>
    public ValueTask<AttachmentContent?> GetRevisionAsync(
        string documentId, string name, string changeVector, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetRevision(documentId, name, changeVector));
    }

    /// <summary>Returns whether an attachment exists.</summary>
    public bool Exists(string documentId, string name) => Find(documentId, name) is not null;

    /// <summary>Returns the details of an attachment; null if it does not exist.</summary>
    public AttachmentValue? Find(string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(name);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.Attachment(documentId, name);
    }

    /// <summary>Returns the details of all attachments of a document, sorted by name.</summary>
    public IReadOnlyList<AttachmentValue> List(string documentId)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return [.. snapshot.Attachments(documentId)];
    }

    /// <summary>Same as <see cref="Exists"/>; completes synchronously.</summary>
    public ValueTask<bool> ExistsAsync(
        string documentId, string name, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Exists(documentId, name));
    }

    /// <summary>Same as <see cref="Find"/>; completes synchronously.</summary>
    public ValueTask<AttachmentValue?> FindAsync(
        string documentId, string name, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Find(documentId, name));
    }

    /// <summary>Same as <see cref="List"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<AttachmentValue>> ListAsync(
        string documentId, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(List(documentId));
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
    /// Copies the content of an attachment to a stream; returns false if it does not exist. Buffers one chunk in memory, however
    /// long the content is.
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
