namespace Treepie.Sessions;

/// <summary>An entry of a time series whose values have names.</summary>
/// <param name="Timestamp">When (UTC); one series has one entry at a time.</param>
/// <param name="Value">Its values.</param>
/// <param name="Tag">What it came from; null for nothing.</param>
/// <typeparam name="T">The class whose properties are the values.</typeparam>
public sealed record TimeSeriesEntry<T>(DateTime Timestamp, T Value, string? Tag = null)
    where T : class, new();
