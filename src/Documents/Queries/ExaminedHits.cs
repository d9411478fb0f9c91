using System.Buffers;
using System.Globalization;
using System.Text.Json;
using Treepie.Indexing;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Queries.Filters;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;
using Treepie.Queries.Sources;
using Treepie.Store;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Queries;

/// <summary>
/// Examines the hits of a query before an index orders or counts them: each is filtered, and the values of the order and of
/// facets that no index has are read of it. The query becomes one of the entries that passed, with these values. Not
/// thread-safe.
/// </summary>
internal sealed class ExaminedHits
{
    private readonly QueryContext _context;
    private readonly BoundQuery _query;
    private readonly List<long> _ids = [];
    private readonly Dictionary<long, FieldValue>[] _keys;
    private readonly Dictionary<FieldValue, List<long>>?[] _terms;
    private readonly List<long>[][] _ranges;

    private ExaminedHits(QueryContext context)
    {
        _context = context;
        _query = context.Query;
        _keys = [.. _query.ExaminedKeys.Select(static _ => new Dictionary<long, FieldValue>())];
        _terms = [.. _query.Facets.Select(
            static facet => facet.Examined is { Value: not null } ? new Dictionary<FieldValue, List<long>>() : null)];
        _ranges = [.. _query.Facets.Select(
            static facet => facet.Examined?.Conditions.Select(static _ => new List<long>()).ToArray() ?? [])];
    }

    /// <summary>Examines the hits of a query, unless nothing of it needs that.</summary>
    /// <param name="context">The query.</param>
    /// <param name="searcher">The view of the index.</param>
    /// <param name="tail">The changes that the view does not contain, or null.</param>
    /// <param name="snapshot">The documents.</param>
    /// <param name="open">Returns the results of hits, as a source that owns nothing else.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>The query over the entries that passed, and the plan of the examination, if one is wanted.</returns>
    /// <exception cref="InvalidQueryException">Too many hits pass.</exception>
    public static (QueryContext Context, PlanNode? Plan) Find(
        QueryContext context, IndexSearcher searcher, IndexTail? tail, DatabaseSnapshot snapshot,
        Func<SearchResults, ResultSource> open, CancellationToken cancellationToken)
    {
        if (!context.Query.ExaminesHits)
            return (context, null);

        QueryContext examining = context with
        {
            Query = HitsOf(context.Query),
            Request = context.Request with { CountsResults = false, MetadataOnly = false, IndexEntries = false },
            CancellationToken = cancellationToken,
            Executed = null,
        };
        SearchRequest request = RequestedPage.SearchOf(examining, SearchedPage.Of(examining.Query, isOnce: false));
        QueryOptions? options = RequestedPage.OptionsOf(context);
        using SearchResults hits = tail is null
            ? searcher.Search(request, options, cancellationToken)
            : searcher.Search(request, tail, options, cancellationToken);
        using ResultSource source = open(hits);
        var found = new FoundResults(snapshot, source, "") { Plan = hits.Plan, Counters = hits.Counters };
        var results = new QueryResults(examining, found); // not disposed: the snapshot is the caller's
        var examined = new ExaminedHits(context);
        examined.Read(results, source, snapshot, cancellationToken);
        return (context with { Query = examined.Examined() }, examined.PlanOver(results.Plan));
    }

    /// <summary>Returns a query for its hits alone, filtered, in the order in which they are examined.</summary>
    private static BoundQuery HitsOf(BoundQuery query) => query with
    {
        Facets = [],
        ExaminedKeys = [],
        // An order says which hits a limited filter examines.
        Sort = query.FilterLimit == long.MaxValue ? [] : [.. query.Sort.Where(static key => key.Kind != SortKind.Given)],
        Skip = 0,
        Take = long.MaxValue,
        Projection = null,
        Distinct = false,
        Script = query.Script is { Filters: true } filter ? filter with { Selects = false, Computes = false } : null,
        IncludePaths = [],
        IncludeIds = [],
        BesideIncludes = [],
        Highlights = [],
        WantsExplanations = false,
    };

    private void Read(
        QueryResults results, ResultSource source, DatabaseSnapshot snapshot, CancellationToken cancellationToken)
    {
        var time = new ExaminationTime(_context.TimeProvider, _context.MaxScriptTime, cancellationToken);
        var body = new ResultBody(_query.StoredFields, ProjectionBehavior.Default);
        var row = new RowValues(snapshot, _query.Loads, body) { Time = time };
        ScriptRows? script = _query.ExaminedScript is not { } computing ? null : new ScriptRows(
            computing, body, body, _context.Request.Parameters, new RowValues(snapshot, _query.Loads),
            static (_, _) => { }, _context.TimeProvider, _context.MaxScriptTime, cancellationToken);
        var json = new ArrayBufferWriter<byte>();
        while (results.MoveNext())
        {
            if (_ids.Count == _context.MaxDistinctResults)
                throw TooMany();
            long id = source.EntryId;
            _ids.Add(id);
            row.Begin(source, script?.Compute(source) ?? default);
            for (int i = 0; i < _keys.Length; i++)
                if (ValuesOf(_query.ExaminedKeys[i].Value, row, json) is [var first, ..])
                    _keys[i].Add(id, first);
            for (int i = 0; i < _terms.Length; i++)
                Count(i, id, row, body, json);
        }
    }

    private void Count(int number, long id, RowValues row, ResultBody body, ArrayBufferWriter<byte> json)
    {
        if (_query.Facets[number].Examined is not { } facet)
            return;
        for (int i = 0; i < facet.Conditions.Count; i++)
            if (facet.Conditions[i].Passes(row.Source, body, json, row.Time))
                _ranges[number][i].Add(id);
        if (facet.Value is not { } counted || _terms[number] is not { } terms)
            return;
        foreach (FieldValue value in ValuesOf(counted, row, json).Distinct())
        {
            if (!terms.TryGetValue(value, out List<long>? ids))
                terms.Add(value, ids = []);
            ids.Add(id);
        }
    }

    /// <summary>Returns the values that an index would have of a value: without nulls and objects, texts without case.</summary>
    private static List<FieldValue> ValuesOf(ProjectedField value, RowValues row, ArrayBufferWriter<byte> json)
    {
        var values = new List<FieldValue>();
        json.ResetWrittenCount();
        if (!row.TryWrite(value, json))
            return values;
        using var parsed = JsonDocument.Parse(json.WrittenMemory, new JsonDocumentOptions { MaxDepth = 1_024 });
        Add(parsed.RootElement);
        return values;

        void Add(JsonElement element)
        {
            switch (element.ValueKind)
            {
                case JsonValueKind.Array:
                    foreach (JsonElement inner in element.EnumerateArray())
                        Add(inner);
                    break;
                case JsonValueKind.String:
                    values.Add(FieldValue.Of(FilterValue.Folded(element.GetString() ?? "")));
                    break;
                case JsonValueKind.True or JsonValueKind.False:
                    values.Add(FieldValue.Of(element.ValueKind == JsonValueKind.True ? "true" : "false"));
                    break;
                case JsonValueKind.Number:
                    double number = element.GetDouble();
                    bool isWhole = element.TryGetInt64(out long whole)
                        || (number == Math.Truncate(number) && Math.Abs(number) < 1L << 53 && (whole = (long)number) == number);
                    values.Add(isWhole ? FieldValue.Of(whole) : FieldValue.Of(number));
                    break;
            }
        }
    }

    /// <summary>Returns the query over the entries that passed, with the values that were read of them.</summary>
    private BoundQuery Examined()
    {
        _ids.Sort();
        SortKey[] sort = [.. _query.Sort];
        for (int i = 0; i < _keys.Length; i++)
        {
            ExaminedKey key = _query.ExaminedKeys[i];
            sort[key.Place] = sort[key.Place] with { Given = new GivenOrder(_keys[i], key.As) };
        }

        return _query with
        {
            Condition = new AndQuery([_query.Condition, new EntriesQuery([.. _ids])]),
            Sort = sort,
            ExaminedKeys = [],
            Facets = [.. _query.Facets.Select(Counted)],
            Filter = null,
            FilterLimit = long.MaxValue,
            Script = _query.Script is { Filters: true } script ? script with { Filters = false } : _query.Script,
        };
    }

    /// <summary>Returns a facet whose examined terms or conditions are ranges of entries.</summary>
    private BoundFacet Counted(BoundFacet facet, int number)
    {
        if (facet.Examined is null)
            return facet;
        if (_terms[number] is not { } terms)
            return facet with
            {
                Examined = null,
                Query = facet.Query with
                {
                    Ranges = [.. facet.Query.Ranges.Select((range, i) => new FacetRange(range.Name, Entries(_ranges[number][i])))]
                }
            };

        List<(FieldValue Value, List<long> Ids)> ordered = [.. terms.Select(static term => (term.Key, term.Value))];
        ordered.Sort((one, other) => Compare(facet.Query.Order, one, other));
        IEnumerable<(FieldValue Value, List<long> Ids)> after = ordered.Skip(facet.Query.Start).Skip(facet.Query.PageSize);
        return facet with
        {
            Examined = null,
            Query = facet.Query with
            {
                Ranges = [
                    .. ordered.Skip(facet.Query.Start).Take(facet.Query.PageSize)
                        .Select(static term => new FacetRange(Text(term.Value), Entries(term.Ids)))]
            },
            Remaining = new RemainingTerms(
                facet.Query.WithRemainingTerms ? [.. after.Select(static term => Text(term.Value))] : [], after.LongCount(),
                after.Sum(static term => (long)term.Ids.Count)),
        };
    }

    private static EntriesQuery Entries(List<long> ids)
    {
        ids.Sort();
        return new EntriesQuery([.. ids]);
    }

    /// <summary>Compares terms as facets of an index do: numbers first, then texts by their bytes.</summary>
    private static int Compare(FacetOrder order, (FieldValue Value, List<long> Ids) one, (FieldValue Value, List<long> Ids) other)
    {
        int byCount = order switch
        {
            FacetOrder.Count => one.Ids.Count.CompareTo(other.Ids.Count),
            FacetOrder.CountDescending => other.Ids.Count.CompareTo(one.Ids.Count),
            _ => 0,
        };
        int byTerm = (one.Value.Kind, other.Value.Kind) switch
        {
            (FieldValueKind.Text, FieldValueKind.Text) => FilterValue.CompareTexts(one.Value.Text, other.Value.Text),
            (FieldValueKind.Text, _) => 1,
            (_, FieldValueKind.Text) => -1,
            (FieldValueKind.Long, FieldValueKind.Long) => one.Value.Long.CompareTo(other.Value.Long),
            _ => Real(one.Value).CompareTo(Real(other.Value)),
        };
        return byCount != 0 ? byCount : order == FacetOrder.ValueDescending ? -byTerm : byTerm;
    }

    private static double Real(FieldValue value) => value.Kind == FieldValueKind.Long ? value.Long : value.Double;

    private static string Text(FieldValue value) => value.Kind switch
    {
        FieldValueKind.Long => value.Long.ToString(CultureInfo.InvariantCulture),
        FieldValueKind.Double => value.Double.ToString("R", CultureInfo.InvariantCulture).ToLowerInvariant(),
        _ => value.Text ?? "",
    };

    /// <summary>The step that reads values of hits, above those that find them and filter them.</summary>
    private PlanNode? PlanOver(PlanNode? found) => found is null || _query.ExaminedWarning is null
        ? found
        : new PlanNode("examine", label: "hits, for values that no index has")
        {
            RowsIn = _ids.Count,
            RowsOut = _ids.Count
        }.Over(found);

    private InvalidQueryException TooMany() => new(
        $"More than {_context.MaxDistinctResults:N0} results (MaxDistinctResults) would be kept in memory, to "
            + $"{(_query.Facets.Count > 0 ? "count" : "order")} what no index has. Narrow the condition, or ask an index for a "
            + "field that computes it.");
}
