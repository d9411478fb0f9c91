namespace Treepie.Sessions;

/// <summary>An entry of a time series with named values.</summary>
/// <param name="Timestamp">The time of the entry (UTC); unique in a series.</param>
/// <param name="Value">The values.</param>
/// <param name="Tag">The source of the values, such as a device; null if there is none.</param>
/// <typeparam name="T">The class whose properties are the values.</typeparam>
public sealed record TimeSeriesEntry<T>(DateTime Timestamp, T Value, string? Tag = null)
    where T : class, new();
