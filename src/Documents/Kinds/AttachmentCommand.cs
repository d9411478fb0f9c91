using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Stores, deletes, copies or moves an attachment.</summary>
/// <param name="operation">The operation.</param>
/// <param name="place">The attachment.</param>
/// <param name="destination">The destination of copies and moves.</param>
/// <param name="content">The content to store; null for other operations.</param>
/// <param name="contentType">The content type.</param>
/// <param name="expectedChangeVector">Null: any; empty: it must not exist; else the expected change vector.</param>
internal sealed class AttachmentCommand(
    AttachmentOperation operation, AttachmentPlace place, AttachmentPlace? destination, UploadedContent? content,
    string contentType, string? expectedChangeVector) : KindCommand
{
    public override bool IsDelete => operation == AttachmentOperation.Delete;

    public override KindResult Apply(IKindHost host)
    {
        bool isThere = host.Kinds.TryGet(place.Key, out KindRecord existing);
        Check(host, isThere ? existing.Etag : 0);
        if (operation == AttachmentOperation.Put)
        {
            // a put always has a content
            host.Kinds.Contents.Settle(content!.Hash, content.SizeBytes, content.UploadId, content.Only.Span);
            return Result(host, Put(host, place, AttachmentRecord.Encode(content.Hash, content.SizeBytes, contentType)));
        }

        if (operation != AttachmentOperation.Delete)
        {
            if (!isThere)
                throw new AttachmentNotFoundException(place.DocumentId, place.NameText);
            byte[] value = existing.Value.ToArray();
            AttachmentValue put = Put(host, destination!, value); // copies and moves always have a destination
            if (operation == AttachmentOperation.Move && !place.Key.AsSpan().SequenceEqual(destination!.Key))
                Delete(host);
            return Result(host, put);
        }

        if (isThere)
            Delete(host);
        return Result(host, null);
    }

    private static AttachmentValue Put(IKindHost host, AttachmentPlace where, byte[] value)
    {
        if (!host.TryGet(where.FoldedId, out DocumentRecord _))
            throw new DocumentNotFoundException(where.DocumentId, "has no attachments");
        host.Kinds.Put(where.Key, where.Name, value, host.NextEtag(), host.NowTicks);
        host.Touch(where.FoldedId); // its metadata lists the attachments with their hashes
        host.Kinds.TryGet(where.Key, out KindRecord record);
        return AttachmentValue.Read(where.DocumentId, record, host.ChangeVectors);
    }

    private void Delete(IKindHost host)
    {
        host.Kinds.Delete(place.Key, host.NextEtag(), host.NowTicks);
        host.Touch(place.FoldedId);
    }

    private AttachmentResult Result(IKindHost host, AttachmentValue? value) =>
        new(
            operation, place.DocumentId, place.NameText, value, ChangeVector(host, place),
            destination is null ? null : ChangeVector(host, destination));

    private static string? ChangeVector(IKindHost host, AttachmentPlace of) =>
        host.TryGet(of.FoldedId, out DocumentRecord document) ? host.ChangeVectors.Format(document.Etag) : null;

    private void Check(IKindHost host, long actual)
    {
        if (expectedChangeVector is null
            || (expectedChangeVector.Length == 0 && actual == 0)
            || (actual != 0 && expectedChangeVector.Length > 0 && host.ChangeVectors.Matches(expectedChangeVector, actual)))
            return;
        throw new ConcurrencyException(
            $"The attachment '{place.NameText}' of document '{place.DocumentId}' was expected with change vector "
                + $"'{expectedChangeVector}', but has '{host.ChangeVectors.Format(actual)}'. Nothing of the batch was written. "
                + $"Read it again.",
            place.DocumentId, expectedChangeVector, actual == 0 ? null : host.ChangeVectors.Format(actual));
    }
}
