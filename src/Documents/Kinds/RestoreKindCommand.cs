using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Puts a value that another database had, with an etag of this one, over what is here. Of a document that is not here it is left
/// out.
/// </summary>
internal sealed class RestoreKindCommand(RestoredKind item) : KindCommand
{
    public override KindResult Apply(IKindHost host)
    {
        ReadOnlySpan<byte> key = item.Key.Span;
        if (KindKey.KindOf(key) == Kind.Revision)
            return RestoreRevision(host, KindKey.DocumentOfRevision(key).ToArray());
        byte[] owner = KindKey.OwnerOf(key).ToArray();
        if (owner.Length > 0 && !host.TryGet(owner, out DocumentRecord _))
            return new RestoredResult(false);
        if (host.Kinds.Put(key, item.Name.Span, item.Value.Span, host.NextEtag(), host.NowTicks) && owner.Length > 0)
            host.Touch(owner);
        return new RestoredResult(true);
    }

    /// <summary>A revision gets an etag of this database, behind those that are here.</summary>
    private RestoredResult RestoreRevision(IKindHost host, byte[] document)
    {
        long etag = host.NextEtag();
        host.Kinds.Put(KindKey.OfRevision(document, etag), item.Name.Span, item.Value.Span, etag, host.NowTicks);
        if (host.TryGet(document, out DocumentRecord record) && !record.Flags.HasFlag(DocumentFlags.HasRevisions))
            host.Touch(document);
        return new RestoredResult(true);
    }
}
