namespace Treepie.Kinds;

/// <summary>A roll-up of time series: entries of each stretch of time become one entry of another series.</summary>
/// <param name="Name">The series is called like the one it is of, <c>@</c> and this name.</param>
/// <param name="Aggregation">How long a stretch is.</param>
/// <param name="Retention">How long its entries are kept; null: for ever.</param>
public sealed record TimeSeriesPolicy(string Name, TimeSeriesPeriod Aggregation, TimeSeriesPeriod? Retention = null)
{
    /// <summary>Stands between the name of a series and that of a policy.</summary>
    public const char Separator = '@';
}
