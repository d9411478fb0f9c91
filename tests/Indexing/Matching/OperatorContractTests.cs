using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// What every operator promises: its methods agree with one another, whatever the order in which they are called and windows are
/// requested. Over an index alone, and over both sides of one with changes; with a plan and without.
/// </summary>
public sealed class OperatorContractTests
{
    /// <summary>Sums of floats differ in their last bits with the order in which they are added.</summary>
    private const float Precision = 1e-5f;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void All_methods_agree_in_any_order_of_calls_and_windows(bool hasBoosts)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var seen = new HashSet<Type>();
        using var data = new OperatorData(random, hasBoosts);
        for (int side = 0; side < 3; side++)
        {
            data.HasChanges = side > 0;
            OperatorAnswer all = Ask(data, side, new MatchAllQuery(), null, OperatorAnswer.Of);
            int queries = (side == 0 ? 80 : 40) / (hasBoosts ? 4 : 1);
            for (int i = 0; i < queries; i++)
            {
                IndexQuery query = i < OperatorData.Kinds ? data.OfKind(i) : data.Query(3);
                QueryOptions options = Options(random, i < OperatorData.Kinds ? RangeHint.Column : (RangeHint)random.Next(3));
                OperatorAnswer answer = Ask(data, side, query, new QueryOptions(), OperatorAnswer.Of);
                try
                {
                    Ask(
                        data, side, query, options,
                        (context, root) =>
                        {
                            seen.Add(root.GetType());
                            if (root is TracedOperator traced)
                                seen.Add(traced.Inner.GetType());
                            CallInAnyOrder(context, root, answer, all, random);
                            return answer;
                        });
                    Ask(
                        data, side, query, options,
                        (context, root) =>
                        {
                            RankAsSearchesDo(context, root, answer, random);
                            return answer;
                        });
                }
                catch (Exception error) when (error is not OperationCanceledException)
                {
                    throw new InvalidOperationException(
                        $"TREEPIE_SEED={seed}: side {side}, {options.Hints}, {query}: {error.Message}", error);
                }
            }
        }

        CheckEntryOperator(data, random);
        CheckLongLists(data, random);
        seen.UnionWith([typeof(EntryOperator), typeof(LongListsOperator)]);
        Type[] unseen =
        [
            .. typeof(Operator).Assembly.GetTypes()
                .Where(type => type.IsSubclassOf(typeof(Operator)) && !type.IsAbstract && !seen.Contains(type))
                .Where(type => type == typeof(DocumentBoostOperator) == hasBoosts), // with boosts it is around all others
        ];
        Assert.True(unseen.Length == 0, $"TREEPIE_SEED={seed}: no query was run by {string.Join(", ", unseen.AsEnumerable())}");
    }

    /// <summary>An operator that is compiled as a part of others only.</summary>
    private static void CheckEntryOperator(OperatorData data, Random random)
    {
        OperatorAnswer all = Ask(data, 0, new MatchAllQuery(), null, OperatorAnswer.Of);
        using var context = new QueryContext(data.Searcher.View, TestContext.Current.CancellationToken);
        long window = all.Windows[^1], id = (window << PostingWindow.SizeBits) + all.Matches(window)[^1];
        OperatorAnswer answer = OperatorAnswer.Of(context, new EntryOperator(context, id));
        Assert.Equal([window], answer.Windows);
        CallInAnyOrder(context, new EntryOperator(context, id), answer, all, random);
        RankAsSearchesDo(context, new EntryOperator(context, id), answer, random);
    }

    /// <summary>An operator for lists whose matches all score the same, which reads them otherwise after some windows.</summary>
    private static void CheckLongLists(OperatorData data, Random random)
    {
        OperatorAnswer all = Ask(data, 0, new MatchAllQuery(), null, OperatorAnswer.Of);
        using var context = new QueryContext(data.Searcher.View, TestContext.Current.CancellationToken);
        OperatorAnswer answer = OperatorAnswer.Of(context, Compile());
        CallInAnyOrder(context, Compile(), answer, all, random);
        RankAsSearchesDo(context, Compile(), answer, random);

        LongListsOperator Compile() => Assert.IsType<LongListsOperator>(
            new QueryCompiler(context, isScored: false).CompileWhole(data.FrequentWords));
    }

    /// <summary>Compiles a query on a side: the index alone, the index beside its changes, or the changes.</summary>
    private static OperatorAnswer Ask(
        OperatorData data, int side, IndexQuery query, QueryOptions? options, Func<QueryContext, Operator, OperatorAnswer> ask)
    {
        if (side == 0)
        {
            using var alone = new QueryContext(data.Searcher.View, TestContext.Current.CancellationToken, options);
            return ask(alone, new QueryCompiler(alone, isScored: true).CompileWhole(query));
        }

        using var combined = new CombinedIndex(
            data.Searcher.View, data.Tail.View, TestContext.Current.CancellationToken, options);
        QueryContext context = side == 1 ? combined.Main : combined.Tail;
        return ask(context, new QueryCompiler(context, isScored: true).CompileWhole(query));
    }

    private static QueryOptions Options(Random random, RangeHint range) => new()
    {
        Plan = random.Next(3) == 0 ? PlanDetail.Counts : PlanDetail.None,
        Hints = new PlanHints
        {
            Probe = (ProbeHint)random.Next(3),
            Range = range,
            Rank = (RankHint)random.Next(2),
        },
    };

    private static void CallInAnyOrder(
        QueryContext context, Operator root, OperatorAnswer answer, OperatorAnswer all, Random random)
    {
        var caller = new OperatorCaller(context, root, answer, all, random);
        CheckEstimate(root, answer);
        long window = 0;
        for (int i = 0; i < 60; i++)
        {
            // Ascending for a while, as searches mostly go, or anywhere.
            long next = root.Next(window);
            Assert.True(next >= window, $"the window after {window} is {next}");
            long first = answer.Windows.Where(one => one >= window).FirstOrDefault(-1);
            Assert.True(first < 0 || next <= first, $"the window after {window} is {next}, and {first} has matches");
            window = random.Next(4) == 0 || next == Operator.End ? random.Next((int)context.View.WindowCount) : next;
            for (int calls = random.Next(3); calls >= 0; calls--)
                caller.Call(window);
            window = random.Next(6) == 0 ? random.Next((int)context.View.WindowCount) : window + 1;
        }
    }

    private static void CheckEstimate(Operator root, OperatorAnswer answer)
    {
        long count = answer.Windows.Sum(window => (long)answer.Matches(window).Length);
        Assert.True(
            root.IsExact ? root.Estimate == count : root.Estimate >= count,
            $"{count} match, and estimated are {root.Estimate}, exact: {root.IsExact}");
        Assert.True(root.Expected.Likely <= root.Estimate + 1e-6, $"{root.Expected.Likely} of {root.Estimate} are likely");
        Assert.True(root.Cost is { Window: > 0, Probe: > 0 }, $"{root.Cost}");
    }

    /// <summary>
    /// Bounds of windows, then windows best first and the others in order, with a threshold that rises as better hits are found.
    /// </summary>
    private static void RankAsSearchesDo(
        QueryContext context, Operator root, OperatorAnswer answer, Random random)
    {
        float[] windows = new float[context.View.WindowCount];
        root.Bounds(windows, 1);
        for (int i = 0; i < windows.Length; i++)
        {
            float score = answer.Most(i).Max();
            Assert.True(
                windows[i] >= 0
                    ? windows[i] * Bm25.BoundMargin >= score
                    : windows[i] == Operator.NoMatch && float.IsNegativeInfinity(score),
                $"the bound of window {i} is {windows[i]}, and {score} is scored");
        }

        int most = random.Next(1, 40);
        bool counts = random.Next(2) == 0;
        var best = new List<float>();
        var ranked = new OperatorRanking(context, root, answer);
        foreach (int window in Enumerable.Range(0, windows.Length).OrderByDescending(i => windows[i]).Take(random.Next(9))
            .Concat(Enumerable.Range(0, windows.Length))
            .Distinct())
        {
            float threshold = best.Count < most ? float.NegativeInfinity : best[^1];
            if (windows[window] < 0)
                continue;
            if (windows[window] * Bm25.BoundMargin < threshold)
            {
                if (counts)
                    Assert.Equal(answer.Matches(window).Length, root.Count(window));
                continue;
            }

            best = [.. best, .. ranked.Visit(window, threshold, counts)];
            best = [.. best.OrderDescending().Take(most)];
        }

        float[] expected =
            [.. answer.Windows.SelectMany(answer.Scores).OrderDescending().Take(most)];
        Assert.Equal(expected.Length, best.Count);
        for (int i = 0; i < expected.Length; i++)
            Assert.True(IsNear(expected[i], best[i]), $"hit {i} scores {best[i]} instead of {expected[i]}");
    }

    internal static bool IsNear(float expected, float found) =>
        Math.Abs(expected - found) <= Precision * Math.Max(1e-6f, Math.Abs(expected));
}
