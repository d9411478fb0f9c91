using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Plans;

/// <summary>
/// A plan, its times or a budget change nothing of a query over fields of every kind: neither its hits and their scores nor the
/// work done for them; and the steps together have done no more than the query.
/// </summary>
public sealed class PlanOfEveryKindTests
{
    private static readonly QueryOptions[] _watched =
    [
        new() { Plan = PlanDetail.Counts }, new() { Plan = PlanDetail.Times },
        new() { Budget = new QueryBudget(long.MaxValue, long.MaxValue, TimeSpan.FromHours(1)) },
    ];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Watching_a_query_changes_nothing(bool hasChanges)
    {
        var random = new Random(Seed.Next());
        var data = new EveryKind(random);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, EveryKind.Schema);
        IndexBatch batch = writer.BeginBatch();
        Change(batch, 700);
        writer.Commit(batch, 1, Token);
        using var searcher = new IndexSearcher(environment);
        using var tail = new IndexTail(searcher);
        IndexBatch changes = tail.BeginBatch();
        Change(changes, 60);
        tail.Fill(changes, Token);
        var operations = new HashSet<string>();
        for (int i = 0; i < 160; i++)
        {
            SearchRequest request = data.Request();
            if (i < 44)
                request = request with { Query = data.Leaf(i % 11) };
            (string hits, QueryCounters counters, _) = Ask(request, null);
            PlanNode? first = null;
            foreach (QueryOptions options in _watched)
            {
                (string same, QueryCounters spent, PlanNode? plan) = Ask(request, options);
                string what = IndexFixture.Describe(request);
                Assert.True(hits == same, $"{what}\nexpected {hits}\nactual   {same}");
                Assert.True(counters == spent, $"{what}\n{counters}\n{spent}");
                if (plan is null)
                    continue; // a budget alone shows none
                first ??= plan;
                Assert.True(Text(first) == Text(plan), $"{what}\n{Text(first)}\n{Text(plan)}");
                QueryCounters left = spent - Sum(plan);
                Assert.True(
                    left is
                    {
                        PagesRead: >= 0, BlocksDecoded: >= 0, BytesDecoded: >= 0, TermsScanned: >= 0, EntriesScanned: >= 0,
                        CandidatesScored: >= 0,
                    },
                    $"{what}\n{spent} without what the steps have spent is {left}\n{Text(plan)}");
                Assert.Equal(hits.Count(static letter => letter == ':'), plan.RowsOut);
            }

            AddTo(operations, first!); // two of the options ask for it
        }

        string[] unseen = [.. new[] { "nearest vectors", "fusion", "phrase", "or", "and", "not" }.Except(operations)];
        Assert.True(unseen.Length == 0, $"no plan has {string.Join(", ", unseen)}");

        void Change(IndexBatch into, int count)
        {
            for (int i = 0; i < count; i++)
            {
                string key = "docs/" + random.Next(600);
                if (random.Next(6) == 0)
                    into.Delete(Encoding.UTF8.GetBytes(key));
                else
                    data.Draw(key).Put(into);
            }
        }

        (string Hits, QueryCounters Counters, PlanNode? Plan) Ask(SearchRequest request, QueryOptions? options)
        {
            using SearchResults results =
                hasChanges ? searcher.Search(request, tail, options, Token) : searcher.Search(request, options, Token);
            var hits = new StringBuilder();
            while (results.MoveNext())
                hits.Append(' ').Append(results.EntryId).Append(':').Append(BitConverter.SingleToInt32Bits(results.Score));
            return (hits.Append(" of ").Append(results.TotalCount).ToString(), results.Counters, results.Plan);
        }
    }

    private static QueryCounters Sum(PlanNode node) =>
        node.Children.Aggregate(node.Counters, static (sum, child) => sum + Sum(child));

    private static void AddTo(HashSet<string> operations, PlanNode node)
    {
        operations.Add(node.Operation);
        foreach (PlanNode child in node.Children)
            AddTo(operations, child);
    }

    /// <summary>The steps with all that is the same on every run.</summary>
    private static string Text(PlanNode node) =>
        $"({node.Operation} {node.Field} {node.Label} {node.Estimate} {node.IsExact} {node.Counters} {node.Windows} "
            + $"{node.RowsIn} {node.RowsOut} {node.Probes} "
            + $"{string.Join(' ', node.Decisions.Select(static decision => decision.Chosen))} "
            + $"{string.Join(' ', node.Children.Select(Text))})";
}
