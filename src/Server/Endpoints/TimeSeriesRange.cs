namespace Treepie.Server.Endpoints;

/// <summary>A requested range of a time series.</summary>
/// <param name="Name">The name of the time series.</param>
/// <param name="From">The first time (UTC).</param>
/// <param name="To">The last time (UTC).</param>
/// <param name="Start">The number of entries to skip.</param>
/// <param name="Size">The maximum number of entries.</param>
internal readonly record struct TimeSeriesRange(string Name, DateTime From, DateTime To, int Start, int Size);
