using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>An attachment of a document, without its content.</summary>
/// <param name="DocumentId">Id of the document as asked for.</param>
/// <param name="Name">Name as first written (compared without case).</param>
/// <param name="ContentType">Its type as given; empty for none.</param>
/// <param name="Hash">SHA-256 of the content, base64.</param>
/// <param name="SizeBytes">Bytes of the content.</param>
/// <param name="Etag">Etag of its last change.</param>
/// <param name="ChangeVector">Its change vector.</param>
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
