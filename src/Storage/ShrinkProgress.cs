namespace Treepie.Storage;

/// <summary>The progress of <see cref="StorageEnvironment.Shrink"/>.</summary>
/// <param name="Round">The number of rounds started: each processes all trees once, then writes a checkpoint.</param>
/// <param name="MovedPages">The number of pages moved towards the start of the file so far.</param>
/// <param name="DataFileBytes">The current size of the data file in bytes.</param>
public readonly record struct ShrinkProgress(int Round, long MovedPages, long DataFileBytes);
