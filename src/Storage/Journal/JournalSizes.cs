namespace Treepie.Storage.Journal;

/// <summary>
/// Sizes of journal files: small at first and growing by a factor, so that a small store stays small on disk.
/// </summary>
internal readonly record struct JournalSizes(long FirstFileBytes, long MaxFileBytes, int GrowthFactor);
