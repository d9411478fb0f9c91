using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>The details of an attachment, without its content.</summary>
/// <param name="DocumentId">The id of the document, as requested.</param>
/// <param name="Name">The name, in the case in which it was first written; case-insensitive.</param>
/// <param name="ContentType">The content type; empty if none was given.</param>
/// <param name="Hash">The SHA-256 hash of the content, in base64.</param>
/// <param name="SizeBytes">The size of the content in bytes.</param>
/// <param name="Etag">The etag of its last change.</param>
/// <param name="ChangeVector">The change vector.</param>
public sealed record AttachmentValue(
    string DocumentId, string Name, string ContentType, string Hash, long SizeBytes, long Etag, string ChangeVector)
{
    internal static AttachmentValue Read(string documentId, KindRecord record, ChangeVectors changeVectors)
    {
        var attachment = new AttachmentRecord(record.Value);
        return new AttachmentValue(
            documentId, Encoding.UTF8.GetString(record.Name), Encoding.UTF8.GetString(attachment.ContentType),
            Convert.ToBase64String(attachment.Hash), attachment.SizeBytes, record.Etag,
            changeVectors.Format(record.Etag));
    }
}
