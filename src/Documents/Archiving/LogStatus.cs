namespace Treepie.Archiving;

/// <summary>The status of a database's archived log.</summary>
/// <param name="IsKept">Whether the log is archived.</param>
/// <param name="BudgetBytes">The maximum size of the log waiting to be backed up, in bytes.</param>
/// <param name="WaitingBytes">The size of the files waiting to be backed up, in bytes.</param>
/// <param name="FilesGivenUp">The number of files reused before they were backed up since the database was opened: each is a gap
/// in the log.</param>
public sealed record LogStatus(bool IsKept, long BudgetBytes, long WaitingBytes, long FilesGivenUp);
