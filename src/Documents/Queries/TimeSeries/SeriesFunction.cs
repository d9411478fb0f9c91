namespace Treepie.Queries.TimeSeries;

/// <summary>An aggregate of the entries of a group.</summary>
internal enum SeriesFunction
{
    Count,
    Min,
    Max,
    Sum,
    Average,
    First,
    Last,

    /// <summary>A percentile, with linear interpolation between values.</summary>
    Percentile,

    /// <summary>The difference between the last and the first value, per millisecond between them.</summary>
    Slope,

    /// <summary>The population standard deviation: the square root of the mean squared distance from the average.</summary>
    StandardDeviation,
}

/// <summary>A selected aggregate.</summary>
/// <param name="Name">Its name in the result.</param>
/// <param name="Function">The function.</param>
/// <param name="Percent">The percentage of a percentile.</param>
internal readonly record struct SeriesItem(string Name, SeriesFunction Function, double Percent = 0);
