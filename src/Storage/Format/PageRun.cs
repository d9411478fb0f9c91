namespace Treepie.Storage.Format;

/// <summary>Pages side by side.</summary>
internal readonly record struct PageRun(long First, int Pages);
