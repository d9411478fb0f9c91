namespace Treepie.Storage;

/// <summary>A named snapshot: an unchanging state of the whole environment that is kept until it is dropped.</summary>
/// <param name="Name">Its name.</param>
/// <param name="TransactionId">The transaction whose result it is.</param>
/// <param name="CreatedAt">When it was made, to the millisecond.</param>
public sealed record SnapshotInfo(string Name, long TransactionId, DateTimeOffset CreatedAt);
