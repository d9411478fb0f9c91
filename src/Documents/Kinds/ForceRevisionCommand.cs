using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Creates a revision of a document's current state, regardless of the revisions configuration.</summary>
internal sealed class ForceRevisionCommand(string documentId, byte[] foldedId) : KindCommand
{
    public override KindResult Apply(IKindHost host)
    {
        if (!host.TryGet(foldedId, out DocumentRecord record))
            throw new DocumentNotFoundException(documentId, "has no revisions");
        bool isNew = !host.Kinds.TryGet(KindKey.OfRevision(foldedId, record.Etag), out _);
        if (isNew)
            host.AddRevision(foldedId);
        host.TryGet(foldedId, out record);
        return new RevisionResult(documentId, isNew, host.ChangeVectors.Format(record.Etag));
    }
}
