namespace Treepie.Storage.Backups;

/// <summary>The progress of writing or reading a part.</summary>
/// <param name="Store">The name of the store in the part; empty for a log.</param>
/// <param name="Done">The number of pages processed; for a log, commits.</param>
/// <param name="Total">The total number of pages; for a log, commits.</param>
public readonly record struct BackupPartProgress(string Store, long Done, long Total);
