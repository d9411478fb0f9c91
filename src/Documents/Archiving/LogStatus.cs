namespace Treepie.Archiving;

/// <summary>What of a database's log waits to be archived.</summary>
/// <param name="IsKept">Whether it is kept at all.</param>
/// <param name="BudgetBytes">Most bytes that may wait.</param>
/// <param name="WaitingBytes">Bytes of files that wait.</param>
/// <param name="FilesGivenUp">Files that were used again without having been archived since the database was opened: each is a
/// gap.</param>
public sealed record LogStatus(bool IsKept, long BudgetBytes, long WaitingBytes, long FilesGivenUp);
