namespace Treepie.Storage.Journal;

/// <summary>
/// How large journal files are: small at first, each next one larger, so that a small store stays small on disk.
/// </summary>
internal readonly record struct JournalSizes(long FirstFileBytes, long MaxFileBytes, int GrowthFactor);
