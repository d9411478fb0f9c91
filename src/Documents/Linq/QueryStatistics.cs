using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>Statistics of a query, filled in by each execution.</summary>
public sealed class QueryStatistics
{
    /// <summary>The number of matches before paging.</summary>
    public long TotalResults { get; private set; }

    /// <summary>The number of duplicates removed by <c>distinct</c>.</summary>
    public long SkippedResults { get; private set; }

    /// <summary>The index that answered the query: its name, or <c>collection/Users</c>.</summary>
    public string IndexName { get; private set; } = "";

    /// <summary>Whether the index had not processed every document.</summary>
    public bool IsStale { get; private set; }

    /// <summary>The etag of the result, which is the same for identical results.</summary>
    public long ResultEtag { get; private set; }

    /// <summary>The time until the last result was read.</summary>
    public TimeSpan Duration { get; private set; }

    /// <summary>Warnings about probable mistakes in the query: a collection or member that no document has.</summary>
    public IReadOnlyList<string> Warnings { get; private set; } = [];

    internal void Fill(QueryResults results)
    {
        (TotalResults, SkippedResults, IndexName, IsStale) =
            (results.TotalResults, results.SkippedResults, results.IndexName, results.IsStale);
        (ResultEtag, Duration, Warnings) = (results.ResultEtag, results.Duration, results.Warnings);
    }
}
