namespace Treepie.Storage;

/// <summary>An open read transaction.</summary>
/// <param name="Name">The name given by its owner, or the name of the snapshot that it reads; null if it has none.</param>
/// <param name="TransactionId">The id of the transaction whose result it reads.</param>
/// <param name="Age">The time since it was opened, accurate to about 15 milliseconds.</param>
public sealed record ReaderInfo(string? Name, long TransactionId, TimeSpan Age);
