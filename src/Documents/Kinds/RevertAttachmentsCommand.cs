using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Gives a document exactly the attachments of a revision; the document's own revision follows, if it is to have one. Follows
/// <see cref="HoldContentsCommand"/> in the batch.
/// </summary>
/// <param name="foldedId">The folded id of the document.</param>
/// <param name="attachments">The attachments in the form of <see cref="RevisionAttachments"/>.</param>
internal sealed class RevertAttachmentsCommand(byte[] foldedId, ReadOnlyMemory<byte> attachments) : KindCommand
{
    public override KindResult Apply(IKindHost host)
    {
        var kept = new HashSet<string>(StringComparer.Ordinal);
        for (var all = new RevisionAttachments(attachments.Span); all.MoveNext();)
        {
            byte[] key = KindKey.OfName(Kind.Attachment, foldedId, all.Name),
                value = AttachmentRecord.Encode(all.Hash, all.SizeBytes, Encoding.UTF8.GetString(all.ContentType));
            kept.Add(Convert.ToHexString(key));
            if (!host.Kinds.TryGet(key, out KindRecord record) || !record.Value.SequenceEqual(value))
                host.Kinds.Put(key, all.Name, value, host.NextEtag(), host.NowTicks);
        }

        foreach (byte[] key in Others(host, kept))
            host.Kinds.Delete(key, host.NextEtag(), host.NowTicks);
        for (var all = new RevisionAttachments(attachments.Span); all.MoveNext();)
            host.Kinds.Contents.Release(all.Hash); // the attachments stored above now refer to them
        host.Touch(foldedId);
        return new RestoredResult(true);
    }

    private List<byte[]> Others(IKindHost host, HashSet<string> kept)
    {
        var keys = new List<byte[]>();
        using KindCursor cursor = host.Kinds.Items.Under(KindKey.Prefix(Kind.Attachment, foldedId));
        while (cursor.MoveNext())
            if (!kept.Contains(Convert.ToHexString(cursor.Key)))
                keys.Add(cursor.Key.ToArray());
        return keys;
    }
}
