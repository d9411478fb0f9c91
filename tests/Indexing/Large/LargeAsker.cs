using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Tests.Large;

/// <summary>Asks an index random queries in all ways there are, and the oracle.</summary>
public sealed class LargeAsker(IndexSearcher searcher, LargeModel model, LargeData data, Random random)
{
    private static readonly SortKey _best = new("", SortKind.Score, Descending: true);

    /// <summary>One query in so many is put to the oracle: it costs as much as all ways together.</summary>
    private const int OracleRatio = 4;

    private static readonly (OrderHint Order, PlanHints Hints)[] _ways =
    [
        (OrderHint.Cheaper, new PlanHints { Rank = RankHint.Windows }), (OrderHint.Walk, PlanHints.None),
        (OrderHint.Cheaper, new PlanHints { Probe = ProbeHint.Entries }),
        (OrderHint.Cheaper, new PlanHints { Probe = ProbeHint.Windows }),
        (OrderHint.Cheaper, new PlanHints { Range = RangeHint.Gather }),
        (OrderHint.Cheaper, new PlanHints { Range = RangeHint.Column }),
    ];

    /// <summary>Changes that the index has not seen.</summary>
    public IndexTail? Tail { get; init; }

    /// <summary>Asks one query, or one for groups.</summary>
    public void Ask()
    {
        IndexQuery query = random.Next(2) == 0 ? data.Words() : data.Query(3);
        if (random.Next(30) == 0)
        {
            CheckGroups(query);
            return;
        }

        SearchRequest request = Request(query);
        if (request.Sort is [{ Field: "number" }, ..] && random.Next(2) == 0)
            request = request with { Query = data.InRange() };
        string what = Describe(request);
        SearchRequest every = request with { OrderHint = OrderHint.Sort, CountsHits = true };
        LargePage expected = Find(
            every,
            new QueryOptions
            {
                Hints = new PlanHints { Rank = RankHint.Windows, Probe = ProbeHint.Windows, Range = RangeHint.Gather }
            });
        foreach (bool counts in new[] { true, false })
        {
            SearchRequest asked = request with { CountsHits = counts };
            LargePage usual = Find(asked, null),
                plain = Find(asked, new QueryOptions()),
                planned = Find(asked, new QueryOptions { Plan = PlanDetail.Counts });
            Compare(expected, usual, $"as usual, {counts}", what);
            Compare(expected, plain, $"by operators, {counts}", what);
            Assert.True(plain.Counters == planned.Counters, $"{what}\ncounters\n{plain.Counters}\n{planned.Counters}");
            if (Tail is null)
                Assert.True(plain.Counters == usual.Counters, $"{what}\ncounters\n{plain.Counters}\n{usual.Counters}");
            foreach ((OrderHint order, PlanHints hints) in _ways)
                Compare(
                    expected, Find(asked with { OrderHint = order }, new QueryOptions { Hints = hints }),
                    $"{order} {hints}, {counts}", what);
        }

        if (random.Next(OracleRatio) == 0)
            Check(request, expected, what);
        CheckNext(every, expected, what);
    }

    private SearchRequest Request(IndexQuery query)
    {
        SortKey[] sort = random.Next(12) switch
        {
            < 7 => [_best],
            7 => [],
            8 => [_best with { Descending = false }],
            9 => [new SortKey("number", SortKind.Double, random.Next(2) == 0), _best],
            _ => [new SortKey("number", random.Next(3) == 0 ? SortKind.Long : SortKind.Double, random.Next(2) == 0)],
        };
        return new SearchRequest
        {
            Query = query,
            Sort = sort,
            Take = random.Next(6) switch
            {
                0 => 1,
                1 => random.Next(0, 3),
                2 => random.Next(40, 2_000),
                3 =>
                random.Next(5) == 0 ? random.Next(9_000, 20_000) : random.Next(33),
                _ => 10
            },
            Skip = random.Next(6) switch { 0 => random.Next(30), 1 => random.Next(4) == 0 ? random.Next(5_000) : 0, _ => 0 },
            WithPosition = random.Next(3) == 0,
        };
    }

    private LargePage Find(SearchRequest request, QueryOptions? options)
    {
        using SearchResults results = Tail is null
            ? searcher.Search(request, options, TestContext.Current.CancellationToken)
            : searcher.Search(request, Tail, options, TestContext.Current.CancellationToken);
        var hits = new List<(long, int)>();
        var keys = new List<string>();
        while (results.MoveNext())
        {
            hits.Add((results.EntryId, BitConverter.SingleToInt32Bits(results.Score)));
            if (request.OrderHint == OrderHint.Sort)
                keys.Add(Encoding.UTF8.GetString(results.Key));
        }

        return new LargePage(hits, keys, results.TotalCount, results.IsTotalExact, results.Position, results.Counters);
    }

    private static void Compare(LargePage expected, LargePage actual, string way, string what)
    {
        for (int i = 0; i < Math.Max(expected.Hits.Count, actual.Hits.Count); i++)
        {
            (long Id, int Score)? mine = i < actual.Hits.Count ? actual.Hits[i] : null,
                wanted = i < expected.Hits.Count ? expected.Hits[i] : null;
            Assert.True(
                mine == wanted,
                $"{way}: {what}\nhit {i} of {expected.Hits.Count}: expected {Text(wanted)}, found {Text(mine)} of "
                    + $"{actual.Hits.Count}");
        }

        bool isTotalRight = actual.IsTotalExact
            ? actual.Total == expected.Total
            : actual.Total <= expected.Total && actual.Total >= actual.Hits.Count;
        Assert.True(isTotalRight, $"{way}: {what}\n{actual.Total} hits, exact: {actual.IsTotalExact}, expected {expected.Total}");
    }

    private static string Text((long Id, int Score)? hit) =>
        hit is { } some
            ? string.Create(CultureInfo.InvariantCulture, $"{some.Id}:{BitConverter.Int32BitsToSingle(some.Score):R}")
            : "none";

    /// <summary>Compares with the oracle.</summary>
    private void Check(SearchRequest request, LargePage found, string what)
    {
        LargeAnswer answer = model.Ask(request.Query, data.HasBoosts);
        int total = answer.Total;
        Assert.True(total == found.Total, $"{what}\n{found.Total} hits, the oracle has {total}");
        int count = (int)Math.Min(request.Take, Math.Max(0, total - request.Skip));
        Assert.True(found.Keys.Count == count, $"{what}\n{found.Keys.Count} hits on the page, the oracle has {count}");
        if (request.Sort.Any(key => key.Kind == SortKind.Score))
            CheckScores(request, answer, found, what);
        else
            CheckOrder(request, answer, found, what);
    }

    private void CheckOrder(SearchRequest request, LargeAnswer answer, LargePage found, string what)
    {
        List<LargeEntry> hits = [.. model.Entries.Where((_, i) => answer.Hits[i])];
        if (request.Sort is [{ } key])
        {
            hits = [.. hits.Order(Comparer<LargeEntry>.Create((x, y) =>
            {
                FieldValue? left = x.Numbers.Length > 0 ? x.Numbers[0] : null, right = y.Numbers.Length > 0 ? y.Numbers[0] : null;
                int order = left is null || right is null
                    ? (left is null ? 0 : 1) - (right is null ? 0 : 1)
                    : key.Kind == SortKind.Long
                    ? Whole(left.Value).CompareTo(Whole(right.Value))
                    : LargeModel.Number(left.Value).CompareTo(LargeModel.Number(right.Value));
                return key.Descending ? -order : order;
            }))];
        }

        List<string> expected = [.. hits.Skip((int)request.Skip).Take((int)request.Take).Select(hit => hit.Key)];
        for (int i = 0; i < expected.Count; i++)
            Assert.True(expected[i] == found.Keys[i], $"{what}\nhit {i}: the oracle has {expected[i]}, found {found.Keys[i]}");
    }

    private static long Whole(FieldValue value) => value.Kind == FieldValueKind.Long ? value.Long : (long)value.Double;

    private void CheckScores(SearchRequest request, LargeAnswer answer, LargePage found, string what)
    {
        bool isByScore = request.Sort[0].Kind == SortKind.Score;
        double[] scores = isByScore ? [.. answer.Scores.Where((_, i) => answer.Hits[i]).Order()] : [];
        if (isByScore && request.Sort[0].Descending)
            Array.Reverse(scores);
        for (int i = 0; i < found.Keys.Count; i++)
        {
            double score = BitConverter.Int32BitsToSingle(found.Hits[i].Score),
                expected = answer.Scores[model.PlaceOf(found.Keys[i])];
            Assert.True(answer.Hits[model.PlaceOf(found.Keys[i])], $"{what}\nhit {i}, {found.Keys[i]}, is none");
            Assert.True(IsNear(score, expected), $"{what}\nhit {i}, {found.Keys[i]}, scores {score}, the oracle has {expected}");
            if (!isByScore)
                continue;
            Assert.True(
                IsNear(score, scores[i + (int)request.Skip]),
                $"{what}\nhit {i} scores {score}, that of the oracle {scores[i + (int)request.Skip]}");
            if (i > 0 && found.Hits[i].Score == found.Hits[i - 1].Score)
                Assert.True(found.Hits[i].Id > found.Hits[i - 1].Id, $"{what}\nhit {i} is a tie and stands behind a later entry");
        }
    }

    private static bool IsNear(double score, double expected) =>
        Math.Abs(score - expected) <= 2e-5 * Math.Max(1e-6, Math.Abs(expected));

    /// <summary>Goes on behind the page.</summary>
    private void CheckNext(SearchRequest every, LargePage page, string what)
    {
        if (page.Position.IsEmpty)
            return;
        LargePage expected = Find(every with { Skip = every.Skip + every.Take }, new QueryOptions());
        SearchRequest next = every with { Skip = 0, After = page.Position, OrderHint = OrderHint.Cheaper };
        foreach (bool counts in new[] { true, false })
        {
            Compare(expected, Find(next with { CountsHits = counts }, null), $"behind the page, {counts}", what);
            Compare(
                expected,
                Find(
                    next with { CountsHits = counts, OrderHint = OrderHint.Walk },
                    new QueryOptions { Hints = new PlanHints { Rank = RankHint.Windows } }),
                $"behind the page by operators, {counts}", what);
        }
    }

    private void CheckGroups(IndexQuery query)
    {
        string what = QueryText.Of(new SearchRequest { Query = query }, data.Schema);
        LargeAnswer answer = model.Ask(query, hasBoosts: false);
        var expected = new Dictionary<string, (long Count, double Sum, long Numbers)>();
        for (int i = 0; i < model.Count; i++)
        {
            if (!answer.Hits[i])
                continue;
            LargeEntry entry = model.Entries[i];
            double? number = entry.Numbers.Length == 0 ? null : LargeModel.Number(entry.Numbers[0]);
            foreach (string kind in entry.Kinds.Distinct())
            {
                (long count, double sum, long numbers) = expected.GetValueOrDefault(kind);
                expected[kind] = (count + 1, sum + (number ?? 0), numbers + (number is null ? 0 : 1));
            }
        }

        foreach (FacetHint hint in Enum.GetValues<FacetHint>())
        {
            foreach (string[] sums in new string[][] { [], ["number"] })
            {
                var request = new FacetRequest(query, [new FacetQuery { Field = "kind", Aggregates = sums, Hint = hint }]);
                FacetResults results = Tail is null
                    ? searcher.Facets(request, cancellationToken: TestContext.Current.CancellationToken)
                    : searcher.Facets(request, Tail, cancellationToken: TestContext.Current.CancellationToken);
                Assert.True(
                    results.TotalCount == answer.Total,
                    $"groups {hint}: {what}\n{results.TotalCount} hits, the oracle has {answer.Total}");
                Assert.True(
                    results.Facets[0].Values.Count == expected.Count,
                    $"groups {hint}: {what}\n{results.Facets[0].Values.Count} groups, the oracle has {expected.Count}");
                foreach (FacetValue group in results.Facets[0].Values)
                {
                    (long count, double sum, long numbers) = expected[group.Range];
                    Assert.True(
                        group.Count == count, $"groups {hint}: {what}\n{group.Range} has {group.Count}, the oracle {count}");
                    if (sums.Length > 0)
                        Assert.True(
                            group.Figures[0].Count == numbers && Math.Abs(group.Figures[0].Sum - sum) < 1e-3,
                            $"groups {hint}: {what}\n{group.Range} has {group.Figures[0]}, the oracle {sum} of {numbers}");
                }
            }
        }
    }

    private string Describe(SearchRequest request) =>
        $"{QueryText.Of(request, data.Schema)} skip {request.Skip} take {request.Take}, {model.Count} entries, "
            + $"boosts {data.HasBoosts}, changes {Tail is not null}";
}

/// <summary>What was found.</summary>
public sealed record LargePage(
    List<(long Id, int Score)> Hits, List<string> Keys, long Total, bool IsTotalExact, ReadOnlyMemory<byte> Position,
    QueryCounters Counters);
