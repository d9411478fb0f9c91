using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Where an attachment is, or is to be.</summary>
/// <param name="DocumentId">Id as given.</param>
/// <param name="FoldedId">The same, folded.</param>
/// <param name="Name">Name in UTF-8.</param>
internal sealed record AttachmentPlace(string DocumentId, byte[] FoldedId, byte[] Name)
{
    /// <summary>The key there.</summary>
    public byte[] Key { get; } = KindKey.OfName(Kind.Attachment, FoldedId, Name);

    /// <summary>The name as text.</summary>
    public string NameText => Encoding.UTF8.GetString(Name);

    /// <summary>Checks what comes from outside.</summary>
    /// <exception cref="InvalidDocumentException">The id or name cannot be one.</exception>
    public static AttachmentPlace Of(string id, string? name, int maxIdBytes) =>
        new(id, CollectionName.Fold(Store.DocumentId.Encode(id, maxIdBytes)), KindNames.Encode("an attachment", name));
}
