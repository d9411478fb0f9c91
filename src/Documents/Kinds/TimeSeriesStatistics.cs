namespace Treepie.Kinds;

/// <summary>What is known of a time series without reading its entries.</summary>
/// <param name="Name">Name as first written.</param>
/// <param name="Count">Entries.</param>
/// <param name="First">Time of the first (UTC).</param>
/// <param name="Last">Time of the last (UTC).</param>
public sealed record TimeSeriesStatistics(string Name, long Count, DateTime First, DateTime Last);
