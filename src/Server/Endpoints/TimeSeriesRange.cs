namespace Treepie.Server.Endpoints;

/// <summary>What is asked of a time series.</summary>
/// <param name="Name">Its name.</param>
/// <param name="From">First moment (UTC).</param>
/// <param name="To">Last moment (UTC).</param>
/// <param name="Start">Entries to leave out before the first.</param>
/// <param name="Size">Most entries.</param>
internal readonly record struct TimeSeriesRange(string Name, DateTime From, DateTime To, int Start, int Size);
