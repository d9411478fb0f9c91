namespace Treepie.Kinds;

/// <summary>Deletes the revisions of a document with the given keys, up to a maximum number.</summary>
internal sealed class DeleteRevisionsCommand(byte[] foldedId, IReadOnlyList<byte[]> keys, int most) : KindCommand
{
    public override bool IsDelete => true;

    public override KindResult Apply(IKindHost host)
    {
        int deleted = 0;
        foreach (byte[] key in keys.Take(most))
            deleted += host.Kinds.TryGet(key, out _) && host.Kinds.Delete(key, host.NextEtag(), host.NowTicks) ? 1 : 0;
        if (deleted > 0 && host.Kinds.Items.LastRevision(foldedId) is null)
            host.TouchUnrevised(foldedId); // removes the flag HasRevisions
        return new RestoredResult(deleted > 0);
    }
}
