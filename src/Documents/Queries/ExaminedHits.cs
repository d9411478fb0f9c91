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
    /// <summary>The maximum of texts that are kept of the hits of a query, in bytes.</summary>
    private const long MaxTextBytes = 64 << 20;

    /// <summary>An object, which an order of texts has behind all of them: no text has a higher first byte.</summary>
    private static readonly FieldValue _object = FieldValue.Of("\U0010FFFF");

    private readonly QueryContext _context;
    private readonly BoundQuery _query;
    private readonly List<long> _ids = [];
    private readonly Dictionary<long, FieldValue>[] _keys;
    private readonly Dictionary<string, FacetTerm>?[] _terms;
    private readonly List<long>[][] _ranges;
    private long _textBytes;

    private ExaminedHits(QueryContext context)
    {
        _context = context;
        _query = context.Query;
        _keys = [.. _query.ExaminedKeys.Select(static _ => new Dictionary<long, FieldValue>())];
        _terms = [.. _query.Facets.Select(
            static facet => facet.Examined is { Value: not null }
                ? new Dictionary<string, FacetTerm>(StringComparer.Ordinal)
                : null)];
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
    /// <exception cref="InvalidQueryException">Too many hits pass, or a fusion is filtered before an order.</exception>
    public static (QueryContext Context, PlanNode? Plan) Find(
        QueryContext context, IndexSearcher searcher, IndexTail? tail, DatabaseSnapshot snapshot,
        Func<SearchResults, ResultSource> open, CancellationToken cancellationToken)
    {
        if (!context.Query.ExaminesHits)
            return (context, null);
        if (context.Query is { ExaminedKeys.Count: > 0, Filters: true } && Fuses(context.Query.Condition))
            throw new InvalidQueryException(
                "A fusion with 'filter' cannot be ordered by a value that no index has: its scores would be those of the hits "
                    + "that pass the filter. Write the condition after 'where', or leave out that order.");

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

    private static bool Fuses(IndexQuery condition) => condition switch
    {
        FusionQuery => true,
        AndQuery all => all.Clauses.Any(Fuses),
        BoostQuery boosted => Fuses(boosted.Clause),
        _ => false,
    };

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
                    _keys[i].Add(id, Kept(first));
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
        foreach (FieldValue value in ValuesOf(counted, row, json))
        {
            if (value == _object)
                continue;
            string text = Text(value);
            if (!terms.TryGetValue(text, out FacetTerm? term))
                terms.Add(text, term = new FacetTerm(text, Kept(value)));
            if (term.Ids.Count == 0 || term.Ids[^1] != id)
                term.Ids.Add(id);
        }
    }

    /// <summary>Counts the bytes of a text that is kept.</summary>
    private FieldValue Kept(FieldValue value)
    {
        _textBytes += (value.Text?.Length ?? 0) * sizeof(char);
        return _textBytes <= MaxTextBytes
            ? value
            : throw new InvalidQueryException(
                $"More than {MaxTextBytes >> 20} MiB of texts would be kept in memory, to "
                    + $"{(_query.Facets.Count > 0 ? "count" : "sort")} values that no index has. Narrow the condition, or query "
                    + "an index with a field that computes them.");
    }

    /// <summary>Returns the values that an index would have of a value: without nulls, texts without case.</summary>
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
                    bool isLong = element.TryGetInt64(out long whole);
                    if (!isLong && number == Math.Truncate(number) && number is >= long.MinValue and < -(double)long.MinValue)
                        (isLong, whole) = (true, (long)number);
                    values.Add(isLong ? FieldValue.Of(whole) : FieldValue.Of(number));
                    break;
                case JsonValueKind.Object:
                    values.Add(_object);
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

        List<FacetTerm> ordered = [.. terms.Values];
        bool hasNumbers = ordered.Exists(static term => term.First.Kind != FieldValueKind.Text);
        ordered.Sort((one, other) => Compare(facet.Query.Order, hasNumbers, one, other));
        IEnumerable<FacetTerm> after = ordered.Skip(facet.Query.Start).Skip(facet.Query.PageSize);
        return facet with
        {
            Examined = null,
            Query = facet.Query with
            {
                Ranges = [
                    .. ordered.Skip(facet.Query.Start).Take(facet.Query.PageSize)
                        .Select(static term => new FacetRange(term.Text, Entries(term.Ids)))]
            },
            Remaining = new RemainingTerms(
                facet.Query.WithRemainingTerms ? [.. after.Select(static term => term.Text)] : [], after.LongCount(),
                after.Sum(static term => (long)term.Ids.Count)),
        };
    }

    private static EntriesQuery Entries(List<long> ids)
    {
        ids.Sort();
        return new EntriesQuery([.. ids]);
    }

    /// <summary>
    /// Compares terms as facets of an index do: where there are numbers, these first, and with them the texts that spell one;
    /// then texts by their bytes.
    /// </summary>
    private static int Compare(FacetOrder order, bool hasNumbers, FacetTerm one, FacetTerm other)
    {
        int byCount = order switch
        {
            FacetOrder.Count => one.Ids.Count.CompareTo(other.Ids.Count),
            FacetOrder.CountDescending => other.Ids.Count.CompareTo(one.Ids.Count),
            _ => 0,
        };
        int byTerm = (hasNumbers ? one.Number : null, hasNumbers ? other.Number : null) switch
        {
            (null, null) => FilterValue.CompareTexts(one.Text, other.Text),
            (null, _) => 1,
            (_, null) => -1,
            ({ Kind: FieldValueKind.Long } x, { Kind: FieldValueKind.Long } y) => x.Long.CompareTo(y.Long),
            ({ } x, { } y) => Real(x).CompareTo(Real(y)),
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
            + $"{(_query.Facets.Count > 0 ? "count" : "sort")} values that no index has. Narrow the condition, or query an index "
            + "with a field that computes them.");

    /// <summary>A term of a facet, and the entries that have it. A number and its text are one term, as in an index.</summary>
    private sealed class FacetTerm(string text, FieldValue first)
    {
        public string Text => text;

        /// <summary>The value with which the term was found first.</summary>
        public FieldValue First => first;

        public List<long> Ids { get; } = [];

        /// <summary>The number of which this is the text, or null.</summary>
        public FieldValue? Number { get; } = NumberOf(text);

        private static FieldValue? NumberOf(string text)
        {
            FieldValue? number = long.TryParse(text, CultureInfo.InvariantCulture, out long whole)
                ? FieldValue.Of(whole)
                : double.TryParse(text, CultureInfo.InvariantCulture, out double real) ? FieldValue.Of(real) : null;
            return number is { } found && ExaminedHits.Text(found) == text ? found : null;
        }
    }
}
