namespace Treepie.Storage;

/// <summary>A named snapshot: an immutable state of the whole environment that is kept until it is dropped.</summary>
/// <param name="Name">The name.</param>
/// <param name="TransactionId">The id of the transaction whose result it is.</param>
/// <param name="CreatedAt">When it was created, to the millisecond.</param>
public sealed record SnapshotInfo(string Name, long TransactionId, DateTimeOffset CreatedAt);
