using Treepie.Indexing.Plans;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>The plan of a query shows the filter and DISTINCT above what they read, with what passed through each.</summary>
public sealed class ResultStepsTests : IAsyncLifetime
{
    private const int Rows = 5_000, Kinds = 7;

    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        var batch = new WriteBatch();
        for (int i = 0; i < Rows; i++)
            batch.Put(
                $"rows/{i}",
                System.Text.Encoding.UTF8.GetBytes(
                    $$$"""{"N":{{{i}}},"Kind":{{{i % Kinds}}},"@metadata":{"@collection":"Rows"}}"""));
        await _database.WriteAsync(batch, Token);
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("from Rows filter N < 100", "filter 5000>100 (scan of documents 5000>5000)")]
    [InlineData("from Rows filter N < 100 limit 10", "filter 5000>100 (scan of documents 5000>5000)")]
    [InlineData("from Rows filter N < 100 filter_limit 50", "filter 50>50 (scan of documents 50>50)")]
    [InlineData("from Rows select distinct Kind", "distinct 5000>7 (scan of documents 5000>5000)")]
    [InlineData(
        "from Rows filter N < 3 select distinct Kind",
        "distinct 3>3 (filter 5000>3 (scan of documents 5000>5000))")]
    [InlineData("from Rows where Kind = 3 filter N < 100", "filter 714>14")]
    [InlineData("from Rows where Kind = 3 select distinct Kind", "distinct 714>1")]
    public async Task Steps_stand_above_what_they_read(string query, string expected)
    {
        using QueryResults results = await AskAsync(query);
        Assert.StartsWith(expected, Text(results.Plan!), StringComparison.Ordinal); // requested
        Assert.StartsWith(expected[..expected.IndexOf(' ')] + " [", results.DescribePlan(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_query_without_such_steps_has_the_plan_of_what_it_found()
    {
        using QueryResults scan = await AskAsync("from Rows");
        Assert.Equal("scan of documents 5000>5000", Text(scan.Plan!)); // requested
        using QueryResults index = await AskAsync("from Rows where Kind = 3");
        Assert.Empty(Operations(index.Plan!).Intersect(["filter", "distinct", "script"])); // requested
    }

    [Fact]
    public async Task What_is_grouped_stands_below_the_groups()
    {
        const string Steps = "group 7>7 (filter 5000>7 (scan of documents 5000>5000))";
        using QueryResults results = await AskAsync("from Rows (N <= Kind) group by Kind select Kind");
        Assert.Contains(Steps, Text(results.Plan!), StringComparison.Ordinal); // requested
        using QueryResults timed = await AskAsync("from Rows (N <= Kind) group by Kind select Kind include timings()");
        PlanNode filter = timed.Plan!.Children.Single(static step => step.Operation == "group").Children.Single(); // requested
        Assert.True(filter.Elapsed > TimeSpan.Zero);
        using QueryResults index = await AskAsync("from Rows (Kind = 3) group by Kind select facet(Kind)");
        Assert.Contains("group 714>1", Text(index.Plan!), StringComparison.Ordinal); // requested
    }

    [Fact]
    public async Task The_time_of_a_filter_is_its_own()
    {
        using QueryResults results = await AskAsync("from Rows filter N < 100 include timings()");
        PlanNode filter = results.Plan!; // requested
        // not null: timings are requested
        TimeSpan whole = results.Duration, own = filter.Elapsed!.Value, scan = filter.Children[0].Elapsed!.Value;
        Assert.True(own > TimeSpan.Zero && scan >= TimeSpan.Zero && own + scan <= whole, $"{own} and {scan} of {whole}");
    }

    private async Task<QueryResults> AskAsync(string query)
    {
        QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = query, WithPlan = true, WaitForNonStaleResults = true }, Token);
        while (results.MoveNext())
        {
            // The plan is complete when all is read.
        }

        return results;
    }

    private static IEnumerable<string> Operations(PlanNode node) =>
        [node.Operation, .. node.Children.SelectMany(Operations)];

    private static string Text(PlanNode node) =>
        $"{node.Operation} {node.RowsIn}>{node.RowsOut}"
        + (node.Children.Count == 0 ? "" : $" ({string.Join(", ", node.Children.Select(Text))})");
}
