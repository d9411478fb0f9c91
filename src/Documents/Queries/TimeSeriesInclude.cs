namespace Treepie.Queries;

/// <summary>A range of a time series that results bring along.</summary>
/// <param name="DocumentId">The document.</param>
/// <param name="Name">The series; <see cref="AllNames"/>: each it has.</param>
/// <param name="From">First moment (UTC); null: from the beginning.</param>
/// <param name="To">Last moment (UTC); null: to the end.</param>
/// <param name="LastCount">Only so many of the last entries; null: all.</param>
/// <param name="LastTime">Only entries of that time up to the last one; null: all.</param>
public sealed record TimeSeriesInclude(
    string DocumentId, string Name, DateTime? From = null, DateTime? To = null, int? LastCount = null, TimeSpan? LastTime = null)
{
    /// <summary>Stands for every series of the document.</summary>
    public const string AllNames = "@all_timeseries";
}
