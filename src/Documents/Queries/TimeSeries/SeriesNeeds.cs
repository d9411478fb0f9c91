namespace Treepie.Queries.TimeSeries;

/// <summary>What the selected aggregates need of a group besides what every group has.</summary>
[Flags]
internal enum SeriesNeeds
{
    None = 0,

    /// <summary>The squared distances from the mean.</summary>
    Spread = 1,

    /// <summary>All values.</summary>
    Values = 2,
}
