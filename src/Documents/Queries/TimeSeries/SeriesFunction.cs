namespace Treepie.Queries.TimeSeries;

/// <summary>What entries of a group come to.</summary>
internal enum SeriesFunction
{
    Count,
    Min,
    Max,
    Sum,
    Average,
    First,
    Last,

    /// <summary>The value that so many of a hundred do not exceed, between two values in proportion.</summary>
    Percentile,

    /// <summary>By how much the last value is above the first one, by millisecond between them.</summary>
    Slope,

    /// <summary>How far values are from their average: the root of the mean of the squares.</summary>
    StandardDeviation,
}

/// <summary>A function that is selected.</summary>
/// <param name="Name">Under which name.</param>
/// <param name="Function">The function.</param>
/// <param name="Percent">Of percentiles: which.</param>
internal readonly record struct SeriesItem(string Name, SeriesFunction Function, double Percent = 0);
