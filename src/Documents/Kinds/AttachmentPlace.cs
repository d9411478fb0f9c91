using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>The document and name of an attachment.</summary>
/// <param name="DocumentId">The document id as given.</param>
/// <param name="FoldedId">The folded id.</param>
/// <param name="Name">The name in UTF-8.</param>
internal sealed record AttachmentPlace(string DocumentId, byte[] FoldedId, byte[] Name)
{
    /// <summary>The key of the attachment.</summary>
    public byte[] Key { get; } = KindKey.OfName(Kind.Attachment, FoldedId, Name);

    /// <summary>The name as text.</summary>
    public string NameText => Encoding.UTF8.GetString(Name);

    /// <summary>Validates the id and the name.</summary>
    /// <exception cref="InvalidDocumentException">The id or name is not valid.</exception>
    public static AttachmentPlace Of(string id, string? name, int maxIdBytes) =>
        new(id, CollectionName.Fold(Store.DocumentId.Encode(id, maxIdBytes)), KindNames.Encode("an attachment", name));
}
