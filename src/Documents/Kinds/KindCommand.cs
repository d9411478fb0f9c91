namespace Treepie.Kinds;

/// <summary>
/// A command of a batch about what lies beside documents: checked when it is made, run inside the transaction of the batch.
/// </summary>
internal abstract class KindCommand
{
    /// <summary>Whether it needs no room, so that it works on a full disk.</summary>
    public virtual bool IsDelete => false;

    /// <summary>Runs it; an error undoes the whole batch.</summary>
    public abstract KindResult Apply(IKindHost host);

    /// <summary>Of a batch that is cluster-wide: what is not as expected; null if all is.</summary>
    public virtual ClusterConflict? Conflict(IKindHost host) => null;

    /// <summary>Gives back what was kept for it outside the batch, where the batch is not written.</summary>
    public virtual void Abandon()
    {
    }
}
