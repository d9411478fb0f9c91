namespace Treepie.Kinds;

/// <summary>Statistics of a time series.</summary>
/// <param name="Name">The name, in the case in which it was first written.</param>
/// <param name="Count">The number of entries.</param>
/// <param name="First">The time of the first entry (UTC).</param>
/// <param name="Last">The time of the last entry (UTC).</param>
public sealed record TimeSeriesStatistics(string Name, long Count, DateTime First, DateTime Last);
