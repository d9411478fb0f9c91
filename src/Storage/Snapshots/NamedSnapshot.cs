using Treepie.Storage.Format;

namespace Treepie.Storage.Snapshots;

/// <summary>A state that is kept under a name.</summary>
internal sealed record NamedSnapshot(string Name, SnapshotRecord Record)
{
    public long TransactionId => Record.TransactionId;

    /// <summary>As callers see it.</summary>
    public SnapshotInfo Describe() => new(Name, TransactionId, DateTimeOffset.FromUnixTimeMilliseconds(Record.CreatedMs));
}
