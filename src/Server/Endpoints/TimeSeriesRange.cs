namespace Treepie.Server.Endpoints;

/// <summary>A requested range of a time series.</summary>
/// <param name="Name">The name of the time series.</param>
/// <param name="From">The first time (UTC).</param>
/// <param name="To">The last time (UTC).</param>
/// <param name="Start">The number of entries to skip.</param>
/// <param name="Size">The maximum number of entries.</param>
/// <param name="Extras">What is written besides the entries.</param>
internal readonly record struct TimeSeriesRange(
    string Name, DateTime From, DateTime To, int Start, int Size, TimeSeriesExtras Extras = TimeSeriesExtras.None);

/// <summary>What clients ask for besides the entries of a range.</summary>
[Flags]
internal enum TimeSeriesExtras
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary><c>includeDocument</c>: the document of the series.</summary>
    Document = 1,

    /// <summary><c>includeTags</c>: the documents whose ids are tags of the entries.</summary>
    Tags = 2,

    /// <summary><c>full</c>: of incremental series, the values by node.</summary>
    NodeValues = 4,
}
