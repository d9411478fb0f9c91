namespace Treepie.Storage.Format;

/// <summary>Consecutive pages.</summary>
internal readonly record struct PageRun(long First, int Pages);
