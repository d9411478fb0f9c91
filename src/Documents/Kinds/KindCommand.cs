namespace Treepie.Kinds;

/// <summary>
/// A command of a batch on related data: validated when it is created, executed inside the transaction of the batch.
/// </summary>
internal abstract class KindCommand
{
    /// <summary>Whether it only deletes, so that it works on a full disk.</summary>
    public virtual bool IsDelete => false;

    /// <summary>Executes the command; an exception undoes the whole batch.</summary>
    public abstract KindResult Apply(IKindHost host);

    /// <summary>In a cluster-wide batch, returns the unmet expectation; null if there is none.</summary>
    public virtual ClusterConflict? Conflict(IKindHost host) => null;

    /// <summary>Releases what was kept for it outside the batch, if the batch is not written.</summary>
    public virtual void Abandon()
    {
    }
}
