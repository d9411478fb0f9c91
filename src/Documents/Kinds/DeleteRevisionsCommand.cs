namespace Treepie.Kinds;

/// <summary>Deletes revisions of a document: those with the specified keys, or those that a rule does not keep.</summary>
internal sealed class DeleteRevisionsCommand(byte[] foldedId, IReadOnlyList<byte[]> keys, int most) : KindCommand
{
    public override bool IsDelete => true;

    public override KindResult Apply(IKindHost host)
    {
        int deleted = 0;
        foreach (byte[] key in keys.Take(most))
            deleted += host.Kinds.TryGet(key, out _) && host.Kinds.Delete(key, host.NextEtag(), host.NowTicks) ? 1 : 0;
        if (deleted > 0 && host.Kinds.Items.LastRevision(foldedId) is null)
            host.TouchUnrevised(foldedId); // its flag goes
        return new RestoredResult(deleted > 0);
    }
}
