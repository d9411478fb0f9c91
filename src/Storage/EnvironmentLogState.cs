namespace Treepie.Storage;

/// <summary>The state of the kept log of an environment.</summary>
/// <param name="IsKept">Whether the log is kept.</param>
/// <param name="BudgetBytes">The maximum size of the kept files in bytes.</param>
/// <param name="WaitingBytes">The size of the kept files in bytes, including the current one.</param>
/// <param name="FilesGivenUp">The number of files reused or deleted without having been archived since the environment was
/// opened: each is a gap.</param>
public readonly record struct EnvironmentLogState(bool IsKept, long BudgetBytes, long WaitingBytes, long FilesGivenUp);
