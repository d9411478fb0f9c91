namespace Treepie.Backups;

/// <summary>The number of items restored and skipped in one section of a backup.</summary>
/// <param name="Name">The name of the section: <c>Documents</c>, <c>Tombstones</c>, <c>Indexes</c>, <c>Identities</c>,
/// <c>Attachments</c>, or as named in the dump.</param>
/// <param name="Taken">The number of items restored.</param>
/// <param name="LeftOut">The number of items skipped because they are not supported, were not requested, or are
/// invalid.</param>
public sealed record BackupSection(string Name, long Taken, long LeftOut);
