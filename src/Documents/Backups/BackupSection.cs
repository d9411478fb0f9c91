namespace Treepie.Backups;

/// <summary>How much of a section of a backup was taken over.</summary>
/// <param name="Name">Name of the section: <c>Documents</c>, <c>Tombstones</c>, <c>Indexes</c>, <c>Identities</c>,
/// <c>Attachments</c>, or as the dump has it.</param>
/// <param name="Taken">What was taken.</param>
/// <param name="LeftOut">What was not: because this program has no such things yet, nobody asked for them, or they were
/// refused.</param>
public sealed record BackupSection(string Name, long Taken, long LeftOut);
