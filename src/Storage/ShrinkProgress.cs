namespace Treepie.Storage;

/// <summary>How far <see cref="StorageEnvironment.Shrink"/> has come.</summary>
/// <param name="Round">Rounds begun: each goes over all trees once, then writes a checkpoint.</param>
/// <param name="MovedPages">Pages written again nearer to the front so far.</param>
/// <param name="DataFileBytes">Bytes of the data file now.</param>
public readonly record struct ShrinkProgress(int Round, long MovedPages, long DataFileBytes);
