using Treepie.Storage.Format;
using Treepie.Storage.Snapshots;

namespace Treepie.Storage.Transactions;

/// <summary>A published state: all a reader needs to know. Never changes.</summary>
internal sealed record Snapshot(long TransactionId, TreeRecord Catalogue, uint NextTreeId, long PageCount)
{
    /// <summary>The system tree, from which <see cref="Named"/> can be read again.</summary>
    public TreeRecord System { get; init; } = TreeRecord.Empty(TreeRecord.SystemId);

    /// <summary>The named snapshots there were.</summary>
    public NamedSnapshots Named { get; init; } = NamedSnapshots.None;
}
