using Treepie.Storage.Format;

namespace Treepie.Storage.Snapshots;

/// <summary>A state kept under a name.</summary>
internal sealed record NamedSnapshot(string Name, SnapshotRecord Record)
{
    public long TransactionId => Record.TransactionId;

    /// <summary>Returns its public description.</summary>
    public SnapshotInfo Describe() => new(Name, TransactionId, DateTimeOffset.FromUnixTimeMilliseconds(Record.CreatedMs));
}
