using System.Globalization;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Sorting;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Chooses how the first hits of an order are found. Uses only counts kept by the index and the <see cref="CostModel"/>, so
/// the choice is the same on every run against the same view.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="root">The compiled query.</param>
/// <param name="request">Order and page.</param>
/// <param name="parts">The parts of the order.</param>
/// <param name="range">The range over the first field of the order, if the query has one.</param>
/// <param name="isWithoutRange">Whether <paramref name="root"/> omits the range.</param>
/// <param name="compound">The equality whose entries a compound key holds in order, or would hold.</param>
internal sealed class SearchPlanner(
    QueryContext context, Operator root, SearchRequest request, KeyPart[] parts, OrderRange? range, bool isWithoutRange,
    CompoundRange? compound)
{
    /// <summary>Maximum number of hits wanted for which bounds pay; with more, most blocks contain a hit.</summary>
    private const int MostByBounds = 10_000;

    /// <summary>Whether reasons are formatted, which is only done if a plan is requested.</summary>
    private readonly bool _isDescribed = context.Tracer is not null;
    private readonly List<PlanAlternative>? _notTaken = context.Tracer is null ? null : [];
    private string _reason = "";
    private double? _cost;

    /// <summary>Whether the choice depends on the exact number of hits.</summary>
    public static bool NeedsTotal(SearchRequest request) =>
        request.Take > 0 && request.Sort.Count > 0 && !SortPlan.NeedsScores(request.Sort);

    /// <summary>Whether hits are counted without being kept, so that sorting would have to find them first.</summary>
    public bool IsCountedApart { get; init; }

    private long Limit => Math.Min(request.Take, long.MaxValue - request.Skip) + request.Skip;

    /// <summary>Chooses the plan.</summary>
    /// <param name="total">Number of hits, if <see cref="NeedsTotal"/>.</param>
    public SearchWay Choose(long total)
    {
        if (request.Take == 0)
            return SearchWay.Count;
        if (request.Sort.Count == 0)
            return SearchWay.InIdOrder;
        return SortPlan.NeedsScores(request.Sort) ? ChooseForScores() : ChooseForValues(total);
    }

    /// <summary>Minimum number of hits whose sort values are read for which a compound key is worth its tree.</summary>
    public const int HitsForCompound = 256;

    /// <summary>
    /// Returns the compound key that would make requests of this kind much cheaper if the index had it, or null.
    /// </summary>
    public CompoundKey? Missing(SearchWay way, long total) =>
        compound is { IsThere: false }
            && way is (SearchWay.ByValue or SearchWay.Walk)
            && total >= HitsForCompound
            && total >= 4 * Math.Min(Limit, total)
            && request.OrderHint == OrderHint.Cheaper
            ? compound.KeyFor(request.Sort[0])
            : null;

    /// <summary>Describes the root of the plan.</summary>
    public PlanNode Describe(SearchWay way, long total)
    {
        var node = new PlanNode(NameOf(way), label: LabelOf(way))
        {
            Estimate = way == SearchWay.Count ? root.Estimate : NeedsTotal(request) ? total : root.Estimate,
            IsExact = (NeedsTotal(request) || root.IsExact) && !isWithoutRange,
        };
        if (_notTaken is { Count: > 0 })
            node.With(new PlanDecision("how to find the first in order", NameOf(way), _cost, _reason, [.. _notTaken]));
        if (way == SearchWay.Count && root.IsExact)
            node.With(
                new PlanDecision(
                    "how to count", "the number that is kept", null, "it is exact, so nothing is read",
                    [new PlanAlternative("window by window", null, "not needed")]));
        return node.Over(root.Describe());
    }

    private SearchWay ChooseForScores()
    {
        bool canBound = request.Sort is [{ Kind: SortKind.Score, Descending: true }];
        bool isBounded = canBound && Limit <= MostByBounds && request.OrderHint != OrderHint.Sort;
        if (!_isDescribed)
            return isBounded ? SearchWay.ByBounds : SearchWay.ByValue;
        if (isBounded)
        {
            _reason =
                "the windows that promise most are looked at first, and of the others those that can reach the worst hit kept";
            _notTaken?.Add(new PlanAlternative("score every hit", null, "the same answer, with every hit scored"));
            return SearchWay.ByBounds;
        }

        _reason = "every hit is scored and the first are kept";
        _notTaken?.Add(new PlanAlternative("best bounds first", null, !canBound
            ? "the order is not by score alone, best first"
            : string.Create(
                CultureInfo.InvariantCulture, $"more than {MostByBounds:N0} hits are wanted, which most blocks have one of")));
        return SearchWay.ByValue;
    }

    private SearchWay ChooseForValues(long total)
    {
        if (request.Sort[0].Kind == SortKind.Distance)
            return ChooseForDistances(total);

        double sorting = SortingCost(total);
        if (compound is { IsThere: true }
            && request.OrderHint is (OrderHint.Cheaper or OrderHint.Compound)
            && TryCompound(compound, total, sorting))
            return SearchWay.Compound;
        if (OrderWalk.Obstacle(context, request.Sort[0]) is { } obstacle)
        {
            _cost = sorting;
            _reason = obstacle;
            if (_isDescribed)
                _notTaken?.Add(new PlanAlternative("walk the values in order and probe", null, obstacle));
            return SearchWay.ByValue;
        }

        double walking = WalkingCost(total);
        bool walks = request.OrderHint switch
        {
            OrderHint.Sort => false,
            OrderHint.Walk => true,
            _ =>
            total > 0 && walking < sorting
        };
        _cost = walks ? walking : sorting;
        if (!_isDescribed)
            return walks ? SearchWay.Walk : SearchWay.ByValue;
        string density = string.Create(
            CultureInfo.InvariantCulture,
            $"{total:N0} of {context.View.State.EntryCount:N0} entries are hits, {Math.Min(Limit, total):N0} are wanted");
        _reason = range is null ? density : density + ", and the walk stays in the range of the order's first field";
        _notTaken?.Add(walks
            ? new PlanAlternative("read the sort value of every hit", sorting, "costs more")
            : new PlanAlternative("walk the values in order and probe", walking, "costs more"));
        return walks ? SearchWay.Walk : SearchWay.ByValue;
    }

    /// <summary>
    /// Whether walking a compound key is cheaper than reading the sort value of every hit. It never costs more than walking
    /// the whole order.
    /// </summary>
    private bool TryCompound(CompoundRange along, long total, double sorting)
    {
        long wanted = Math.Min(Limit, total);
        double met = along.IsAll
            ? wanted
            : wanted * Math.Max(1, along.LikelyMet(context, request.Sort[0].Field) / Math.Max(1, total));
        double walking = CompoundCost(met, along.IsAll);
        if (total == 0 || (walking >= sorting && request.OrderHint != OrderHint.Compound))
            return false;

        _cost = walking;
        if (_isDescribed)
        {
            _reason = string.Create(
                CultureInfo.InvariantCulture,
                $"of {along.Entries:N0} entries with '{along.Equality.Field}' as asked, {total:N0} are hits and {wanted:N0} are "
                    + $"wanted");
            _notTaken?.Add(new PlanAlternative("read the sort value of every hit", sorting, "costs more"));
        }

        return true;
    }

    /// <summary>
    /// Whether a compound key holds all hits of a request, whose number is then known, and to walk it is cheaper than to read
    /// the sort value of each; <see cref="Choose"/> would choose it.
    /// </summary>
    public static bool IsCompoundAlone(QueryContext context, SearchRequest request, CompoundRange along)
    {
        if (!along.IsThere || !along.IsAll || along.Within is not null || along.Entries == 0)
            return false;
        long wanted = Math.Min(Math.Min(request.Take, long.MaxValue - request.Skip) + request.Skip, along.Entries);
        return request.OrderHint switch
        {
            OrderHint.Compound => true,
            OrderHint.Cheaper =>
                CompoundCost(wanted, isAll: true) < ReadingCost(context, along.Entries, wanted, request.Sort.Count),
            _ => false,
        };
    }

    private static double CompoundCost(double met, bool isAll) =>
        CostModel.WalkStep + (met * (CostModel.CompoundStep + (isAll ? 0 : CostModel.KeptProbe)));

    private static double ReadingCost(QueryContext context, long total, long wanted, int keys) =>
        (keys * CostModel.Column(total, context.View.State.EntryCount))
            + (wanted * Math.Log2(wanted + 1) * CostModel.KeyCompare);

    private SearchWay ChooseForDistances(long total)
    {
        double sorting = SortingCost(total);
        string? obstacle = request.After.IsEmpty ? DistanceWalk.Obstacle(context, request.Sort[0]) : "it cannot go on from a key";
        long entries = context.View.State.EntryCount, wanted = Math.Min(Limit, total);
        double visited = (2 * DistanceWalk.FewPlaces) + ((double)wanted * entries / Math.Max(1, total));
        double walking = visited * CostModel.NearPlace;
        bool walks = obstacle is null
            && total > 0
            && request.OrderHint switch { OrderHint.Sort => false, OrderHint.Walk => true, _ => walking < sorting };
        _cost = walks ? walking : sorting;
        if (!_isDescribed)
            return walks ? SearchWay.Nearest : SearchWay.ByValue;
        _reason = obstacle
            ?? string.Create(
                CultureInfo.InvariantCulture, $"{total:N0} of {entries:N0} entries are hits, {wanted:N0} are wanted");
        _notTaken?.Add(walks
            ? new PlanAlternative("measure the distance of every hit", sorting, "costs more")
            : new PlanAlternative("nearest squares first", obstacle is null ? walking : null, obstacle ?? "costs more"));
        return walks ? SearchWay.Nearest : SearchWay.ByValue;
    }

    /// <summary>Whether a walk would read the range of the order alone, instead of finding its entries first.</summary>
    private bool WalksRangeAlone => isWithoutRange && range is { IsAll: true };

    /// <summary>Reads the value of every hit, and compares it when it replaces one of the first.</summary>
    private double SortingCost(long total)
    {
        long wanted = Math.Min(Limit, total);
        long windows = context.View.WindowCount;
        double finding = IsCountedApart
            ? Math.Min(root.Estimate, windows) * root.Cost.Window
            : WalksRangeAlone ? Math.Min(total * CostModel.GatheredTerm, windows * CostModel.ColumnWindow) : 0;
        return finding + ReadingCost(context, total, wanted, parts.Length);
    }

    /// <summary>
    /// A walk visits (entries / hits) entries per hit, and whole groups of equal values if there is more to sort them by.
    /// </summary>
    private double WalkingCost(long total)
    {
        long entries = context.View.State.EntryCount;
        long values = Math.Max(1, OrderWalk.ValueCount(context, request.Sort[0]));
        long wanted = Math.Min(Limit, total);
        if (request.Query is MatchAllQuery && range is null && !OrderWalk.IsByTextsOfNumbers(context, request.Sort[0]))
            wanted = Math.Max(0, wanted - request.Skip); // skipped hits are passed in blocks

        // If the range is the only condition, every entry visited is a hit.
        bool areAllHits = range is { IsAll: true };
        double visited = areAllHits
            ? wanted
            : (double)wanted * OrderRange.EntriesMet(context, range, isWithoutRange) / Math.Max(1, total);
        double group = (double)entries / values, alongSecond = 0;
        if (parts.Length > 1
            && OrderWalk.VisitedInGroup(context, request.Sort, group, wanted / Math.Max(1, visited), wanted) is { } inGroup)
            alongSecond = inGroup
                * (CostModel.KeptProbe
                    + (CostModel.WalkStep * OrderWalk.ValueCount(context, request.Sort[1]) / Math.Max(1, entries)));
        else if (parts.Length > 1)
            visited += group;
        if (areAllHits)
            visited = Math.Min(visited, total);
        double steps = visited * values / Math.Max(1, entries);

        // After the first probes, windows are kept: each is evaluated once, and a probe tests a bit.
        double windows = root.IsExact && !areAllHits ? Math.Min(visited, context.View.WindowCount) : 0;
        return alongSecond + (visited * CostModel.KeptProbe) + (steps * CostModel.WalkStep) + (windows * root.Cost.Window);
    }

    private string? LabelOf(SearchWay way) => way == SearchWay.Count ? null : LabelOf(request);

    /// <summary>Describes the page and order of a request.</summary>
    public static string LabelOf(SearchRequest request)
    {
        string page = request.Take == long.MaxValue
            ? "all"
            : string.Create(CultureInfo.InvariantCulture, $"first {request.Take:N0}");
        if (request.Skip > 0)
            page += string.Create(CultureInfo.InvariantCulture, $" after {request.Skip:N0}");
        if (!request.After.IsEmpty)
            page += ", going on";
        string order = string.Join(", ", request.Sort.Select(Text));
        return order.Length == 0 ? page : $"{page} by {order}";
    }

    private static string Text(SortKey key) => key.Kind switch
    {
        SortKind.Score => key.Descending ? "score" : "score, worst first",
        SortKind.Random => "random",
        SortKind.Key => key.Descending ? "key desc" : "key",
        SortKind.Given => key.Descending ? "given values desc" : "given values",
        SortKind.AlphaNumericKey => key.Descending ? "key as alphanumeric desc" : "key as alphanumeric",
        _ => key.Field + (key.Kind == SortKind.Text ? "" : " as " + key.Kind.ToString().ToLowerInvariant())
            + (key.Descending ? " desc" : ""),
    };

    private static string NameOf(SearchWay way) => way switch
    {
        SearchWay.Count => "count",
        SearchWay.InIdOrder => "in the order of entries",
        SearchWay.ByBounds => "best bounds first",
        SearchWay.Walk => "walk the values in order and probe",
        SearchWay.Compound => "walk a compound key",
        SearchWay.Nearest => "nearest squares first",
        _ => "read the sort value of every hit",
    };
}

/// <summary>How the hits of a page are found; docs/internals/search.md compares those by score.</summary>
internal enum SearchWay
{
    /// <summary>Only their number is needed.</summary>
    Count,

    /// <summary>Without an order, by entry id.</summary>
    InIdOrder,

    /// <summary>By score, beginning with the windows with the greatest bounds.</summary>
    ByBounds,

    /// <summary>Along the dictionary of the first key.</summary>
    Walk,

    /// <summary>Along a compound key.</summary>
    Compound,

    /// <summary>By distance, from the cells around the centre outwards.</summary>
    Nearest,

    /// <summary>By reading the value, or computing the score, of every hit.</summary>
    ByValue,
}
