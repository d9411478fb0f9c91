namespace Treepie.Storage;

/// <summary>An open read transaction.</summary>
/// <param name="Name">What its owner called it, or the name of the snapshot it reads; null where it was given none.</param>
/// <param name="TransactionId">The transaction whose result it sees.</param>
/// <param name="Age">How long it has been open, to some 15 milliseconds.</param>
public sealed record ReaderInfo(string? Name, long TransactionId, TimeSpan Age);
