using Treepie.Kinds;

namespace Treepie.Queries;

/// <summary>A range of a time series that results include.</summary>
/// <param name="DocumentId">The id of the document.</param>
/// <param name="Name">The name of the time series, or <see cref="AllNames"/>.</param>
/// <param name="From">The start of the range (UTC). Null: from the first entry.</param>
/// <param name="To">The end of the range (UTC). Null: to the last entry.</param>
/// <param name="LastCount">The number of last entries to include. Null: all.</param>
/// <param name="LastTime">The period before the last entry to include. Null: all.</param>
public sealed record TimeSeriesInclude(
    string DocumentId, string Name, DateTime? From = null, DateTime? To = null, int? LastCount = null,
    TimeSeriesPeriod? LastTime = null)
{
    /// <summary>Represents all time series of the document.</summary>
    public const string AllNames = "@all_timeseries";
}
