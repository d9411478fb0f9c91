namespace Treepie.Storage.Backups;

/// <summary>How far the writing or reading of a part is.</summary>
/// <param name="Store">Name of the store in it; empty for a log.</param>
/// <param name="Done">Pages behind it; of a log, commits.</param>
/// <param name="Total">Pages it has; of a log, commits up to the end.</param>
public readonly record struct BackupPartProgress(string Store, long Done, long Total);
