namespace Treepie.Kinds;

/// <summary>A roll-up policy: the entries of each period are aggregated into one entry of another time series.</summary>
/// <param name="Name">The name of the policy. The roll-up series is named after the source series, followed by <c>@</c> and this
/// name.</param>
/// <param name="Aggregation">The period that is aggregated into one entry.</param>
/// <param name="Retention">How long the roll-up entries are kept. Null: forever.</param>
public sealed record TimeSeriesPolicy(string Name, TimeSeriesPeriod Aggregation, TimeSeriesPeriod? Retention = null)
{
    /// <summary>The separator between the name of a series and that of a policy.</summary>
    public const char Separator = '@';
}
