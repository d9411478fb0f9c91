using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>What a query says beside its results; filled when the query is run, again each time.</summary>
public sealed class QueryStatistics
{
    /// <summary>Matches before paging.</summary>
    public long TotalResults { get; private set; }

    /// <summary>Duplicates left out by <c>distinct</c>.</summary>
    public long SkippedResults { get; private set; }

    /// <summary>The index that answered: a name, or <c>collection/Users</c>.</summary>
    public string IndexName { get; private set; } = "";

    /// <summary>Whether the index had not seen every document.</summary>
    public bool IsStale { get; private set; }

    /// <summary>Etag of the answer: the same for the same answer.</summary>
    public long ResultEtag { get; private set; }

    /// <summary>Time spent until the last result was read.</summary>
    public TimeSpan Duration { get; private set; }

    /// <summary>What the query may not have meant: a collection, or a member, that no document has.</summary>
    public IReadOnlyList<string> Warnings { get; private set; } = [];

    internal void Fill(QueryResults results)
    {
        (TotalResults, SkippedResults, IndexName, IsStale) =
            (results.TotalResults, results.SkippedResults, results.IndexName, results.IsStale);
        (ResultEtag, Duration, Warnings) = (results.ResultEtag, results.Duration, results.Warnings);
    }
}
