using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// The content and details of an attachment. Reads from the snapshot in which the attachment was found, which is held until this
/// object is disposed.
/// </summary>
public sealed class AttachmentContent : IDisposable
{
    internal AttachmentContent(DatabaseSnapshot snapshot, AttachmentValue details)
    {
        Details = details;
        Stream = new AttachmentStream(snapshot, details);
    }

    /// <summary>The name, size, content type and hash of the attachment.</summary>
    public AttachmentValue Details { get; }

    /// <summary>A seekable stream of the content. Buffers one chunk in memory, however long the content is.</summary>
    public Stream Stream { get; }

    /// <inheritdoc/>
    public void Dispose() => Stream.Dispose();
}
