using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Restores related data of another database, with a new etag, replacing existing data. Skips data of documents that do not exist
/// here.
/// </summary>
/// <param name="item">The item.</param>
/// <param name="hereUpTo">The etag up to which revisions existed here before the restore.</param>
/// <param name="isRevised">Whether documents get revisions of what changes beside them.</param>
internal sealed class RestoreKindCommand(RestoredKind item, long hereUpTo, bool isRevised = true) : KindCommand
{
    public override KindResult Apply(IKindHost host)
    {
        ReadOnlySpan<byte> key = item.Key.Span;
        if (KindKey.KindOf(key) == Kind.Revision)
            return RestoreRevision(host, KindKey.DocumentOfRevision(key).ToArray());
        byte[] owner = KindKey.OwnerOf(key).ToArray();
        if (owner.Length > 0 && !host.TryGet(owner, out DocumentRecord _))
            return new RestoredResult(false);
        if (KindKey.KindOf(key) == Kind.TimeSeries)
            return RestoreSegment(host, owner);
        if (host.Kinds.Put(key, item.Name.Span, item.Value.Span, host.NextEtag(), host.NowTicks) && owner.Length > 0)
        {
            if (isRevised)
                host.Touch(owner);
            else
                host.TouchUnrevised(owner);
        }

        return new RestoredResult(true);
    }

    /// <summary>
    /// Gives a revision a new etag, after the existing ones, and skips it if the same state of the same time exists, so that a
    /// dump can be imported again.
    /// </summary>
    private RestoredResult RestoreRevision(IKindHost host, byte[] document)
    {
        var revision = new RevisionRecord(item.Value.Span);
        // bodies in dumps are not compressed
        ReadOnlySpan<byte> body = revision.IsShared ? item.SharedBody.Span : revision.StoredBody;
        byte[] attachments = RevisionAttachments.Where(revision.Attachments, hash => host.Kinds.Contents.Contains(hash));
        if (IsHere(host.Kinds.Items, document, revision, body, attachments))
            return new RestoredResult(false);
        byte[] value = RevisionRecord.Encode(
            Encoding.UTF8.GetString(revision.Collection), revision.Ticks, revision.IsDeletion,
            RevisionWriter.SharedBy(host.Kinds.Items, document, revision.IsDeletion, body), revision.Metadata, body,
            attachments, revision.Origin with { IsOwn = false });
        long etag = host.NextEtag();
        host.Kinds.Put(KindKey.OfRevision(document, etag), item.Name.Span, value, etag, host.NowTicks);
        if (host.TryGet(document, out DocumentRecord record) && !record.Flags.HasFlag(DocumentFlags.HasRevisions))
            host.Touch(document);
        return new RestoredResult(true);
    }

    private bool IsHere(
        KindItems items, byte[] document, RevisionRecord revision, ReadOnlySpan<byte> body, ReadOnlySpan<byte> attachments)
    {
        foreach (byte[] key in items.Revisions(document))
            if (TreeNames.EtagOfKey(key) <= hereUpTo
                && items.TryGet(key, out KindRecord record)
                && new RevisionRecord(record.Value) is var here
                && here.Ticks == revision.Ticks
                && here.IsDeletion == revision.IsDeletion
                && here.Metadata.SequenceEqual(revision.Metadata)
                && here.Attachments.SequenceEqual(attachments)
                && items.RevisionBody(key).SequenceEqual(body))
                return true;
        return false;
    }

    /// <summary>
    /// Replaces entries at the same times: existing segments start at other times than those of another database.
    /// </summary>
    private RestoredResult RestoreSegment(IKindHost host, byte[] owner)
    {
        new TimeSeriesCommand(
            "", owner, item.Name.ToArray(), new TimeSeriesSegment(item.Value.Span).Unpack(), isIncrement: false, []).Apply(host);
        return new RestoredResult(true);
    }
}
