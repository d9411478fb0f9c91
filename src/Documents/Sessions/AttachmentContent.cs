using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// The content of an attachment, read from the state of the database in which it was found, which is kept until this is disposed.
/// </summary>
public sealed class AttachmentContent : IDisposable
{
    internal AttachmentContent(DatabaseSnapshot snapshot, AttachmentValue details)
    {
        Details = details;
        Stream = new AttachmentStream(snapshot, details);
    }

    /// <summary>Name, size, type and hash.</summary>
    public AttachmentValue Details { get; }

    /// <summary>The content, which can be read at any place; in the memory of a piece, however long it is.</summary>
    public Stream Stream { get; }

    /// <inheritdoc/>
    public void Dispose() => Stream.Dispose();
}
