namespace Treepie.Storage;

/// <summary>What of an environment's log waits to be archived.</summary>
/// <param name="IsKept">Whether it is kept at all.</param>
/// <param name="BudgetBytes">Most bytes that may wait.</param>
/// <param name="WaitingBytes">Bytes of files that wait, the one in use included.</param>
/// <param name="FilesGivenUp">Files that were used again, or deleted, without having been archived, since it was opened: each is
/// a gap.</param>
public readonly record struct EnvironmentLogState(bool IsKept, long BudgetBytes, long WaitingBytes, long FilesGivenUp);
