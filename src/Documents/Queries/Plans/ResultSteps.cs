using Treepie.Indexing.Plans;
using Treepie.Queries.Binding;
using Treepie.Queries.Scripts;

namespace Treepie.Queries.Plans;

/// <summary>
/// The steps of a plan that read what an index or a scan has found, one document at a time: the filter, the script that computes
/// rows, and DISTINCT. Each stands above the one that feeds it; a query without them has the plan of what it found. Not
/// thread-safe.
/// </summary>
internal sealed class ResultSteps
{
    private readonly BoundQuery _query;
    private readonly bool _filters;
    private readonly PlanNode? _found;
    private readonly ScanPlan? _scan;
    private readonly TimeProvider _clock;
    private readonly long _begun;
    private readonly long? _coldPages;
    private TimeSpan _filtering;

    /// <param name="query">The query.</param>
    /// <param name="found">The plan of the index that answered, or null.</param>
    /// <param name="scan">The plan of the scan that answered; null if an index did.</param>
    /// <param name="clock">Measures the steps.</param>
    public ResultSteps(BoundQuery query, PlanNode? found, ScanPlan? scan, TimeProvider clock)
    {
        (_query, _found, _scan, _clock, _begun) = (query, found, scan, clock, clock.GetTimestamp());
        _filters = query.Filters && !query.IsComputed; // facets are counted of what has been filtered
        if (_found is null || !(_filters || query.Script is not null || query.Distinct))
            return;
        (_coldPages, _found.ColdPages) = (_found.ColdPages, null); // of the whole query, so the first step has it
    }

    /// <summary>Returns a time to pass to <see cref="EndFilter"/>.</summary>
    public long BeginFilter() => _clock.GetTimestamp();

    /// <summary>Adds to the time of the filter, which includes that of its script.</summary>
    public void EndFilter(long begun) => _filtering += _clock.GetElapsedTime(begun);

    /// <summary>Returns the plan with its numbers so far.</summary>
    /// <param name="examined">The number of results that the filter has examined.</param>
    /// <param name="passed">The number of these that it let pass.</param>
    /// <param name="rows">The number of rows that DISTINCT, or the reader, has been given.</param>
    /// <param name="given">The number of rows that the reader has been given.</param>
    /// <param name="script">The script and what it has done, or null.</param>
    public PlanNode Node(long examined, long passed, long rows, long given, ScriptRows? script)
    {
        bool computes = _query.Script is { Selects: true } or { Computes: true };
        TimeSpan computing = script?.SelectElapsed ?? TimeSpan.Zero;
        PlanNode node = _found
            ?? _scan!.Node( // not null: one of the two is given
                _filters ? examined : computes ? script!.Documents : rows, // a query that computes has a script
                _clock.GetElapsedTime(_begun) - _filtering - computing);
        if (_filters)
            node = Above(node, "filter", FilterLabel, examined, passed, _filtering);
        if (computes)
            node = Above(node, "script", null, script!.Documents, script.Rows, computing);
        if (_query.Distinct)
            node = Above(node, "distinct", null, rows, given, null);
        if (node != _found)
            node.ColdPages = _coldPages;
        return node;
    }

    private string FilterLabel
    {
        get
        {
            string by = _query switch
            {
                { Filter: not null, Script.Filters: true } => "without and by a script",
                { Filter: not null } => "without a script",
                _ => "by a script",
            };
            return _query.Warning is null ? by : $"{by}; 'where' has conditions that no index answers";
        }
    }

    private PlanNode Above(PlanNode below, string operation, string? label, long rowsIn, long rowsOut, TimeSpan? elapsed) =>
        new PlanNode(operation, label: label)
        {
            RowsIn = rowsIn,
            RowsOut = rowsOut,
            Elapsed = _query.WantsTimings ? elapsed : null,
        }.Over(below);
}
