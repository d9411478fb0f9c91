using Treepie.Indexing;
using Treepie.Indexing.Plans;
using Treepie.Queries.Binding;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries.Plans;

/// <summary>
/// The plan of a query that is answered without an index: one step, whose numbers grow as the results are read.
/// </summary>
internal sealed class ScanPlan
{
    private readonly PlanNode _node;
    private readonly DatabaseSnapshot _snapshot;
    private readonly ResultSource _source;
    private readonly long _pagesBefore;

    /// <param name="query">The query.</param>
    /// <param name="snapshot">The snapshot that is scanned.</param>
    /// <param name="source">The source that scans it.</param>
    /// <param name="pagesBefore">The page visits of the snapshot before the scan.</param>
    public ScanPlan(BoundQuery query, DatabaseSnapshot snapshot, ResultSource source, long pagesBefore)
    {
        (_snapshot, _source, _pagesBefore) = (snapshot, source, pagesBefore);
        (string operation, string label) = query.Source switch
        {
            SourceKind.Ids => ("documents by id", $"{query.Ids.Count:N0} {(query.Ids.Count == 1 ? "id" : "ids")}"),
            SourceKind.IdPrefix => ("documents by the start of their id", $"'{query.IdPrefix}', in the order of ids"),
            _ when source is CursorSource { IsInIdOrder: true } => ("scan of documents", "in the order of ids"),
            _ => ("scan of documents", "in the order of their last change"),
        };
        _node = new PlanNode(operation, label: query.Collection is null ? label : $"{query.Collection}: {label}")
        {
            Estimate = source.TotalCount,
            IsExact = source.IsTotalExact
        };
    }

    /// <summary>The work done so far.</summary>
    public QueryCounters Counters => new()
    {
        PagesRead = _snapshot.PageVisits - _pagesBefore,
        EntriesScanned = _source.LookedAt
    };

    /// <summary>Returns the step with its numbers so far.</summary>
    /// <param name="given">The number of documents that it has returned.</param>
    /// <param name="elapsed">The time spent reading them.</param>
    public PlanNode Node(long given, TimeSpan elapsed)
    {
        (_node.RowsIn, _node.RowsOut, _node.Elapsed) = (_source.LookedAt, given, elapsed);
        _node.Counters = Counters;
        return _node;
    }
}
