using Treepie.Linq;
using Treepie.Queries;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>Queries for documents over indexes that have several entries of one document.</summary>
public sealed class FanOutQueryTests : IDisposable
{
    private const string Lines = "from o in docs.Orders from l in o.Lines select new { l.Product, l.Price }";

    private readonly IndexRunner _run = new();

    [Theory]
    [InlineData("where Product = 'a'", "orders/1 orders/2 orders/3", 3)]
    [InlineData("where Product = 'a' order by Price as long", "orders/3 orders/1 orders/2", 3)]
    [InlineData("where Product = 'a' order by Price as long desc", "orders/2 orders/1 orders/3", 3)]
    [InlineData("where Product = 'a' limit 2", "orders/1 orders/2", 1)]
    [InlineData("where Product = 'a' order by Price as long limit 3", "orders/3 orders/1 orders/2", 1)]
    [InlineData("where Product = 'a' limit 3 offset 1", "orders/2 orders/3", 3)]
    [InlineData("where Product = 'a' order by Price as long limit 1 offset 1", "orders/1", 0)]
    [InlineData("where Product = 'a' order by Price as long limit 2 offset 3", "orders/2", 2)]
    [InlineData("where Product = 'a' filter Name != 'none'", "orders/1 orders/2 orders/3", 3)]
    [InlineData("where Product = 'a' filter Name != 'none' limit 2 offset 1", "orders/2 orders/3", 3)]
    public async Task A_document_is_found_once_however_many_of_its_entries_match(string query, string expected, int skipped)
    {
        await FillAsync();
        _run.Define("Lines", Lines);
        using QueryResults results = await _run.QueryAsync($"from index 'Lines' {query}");
        Assert.Equal(expected, string.Join(' ', Ids(results)));
        Assert.Equal((6, skipped), (results.TotalResults, results.SkippedResults));
    }

    [Fact]
    public async Task LINQ_counts_documents_as_it_gives_them()
    {
        await FillAsync();
        _run.Define("Lines", Lines);
        using DocumentSession session = _run.Database.OpenSession();
        IDocumentQueryable<Line> query = session.Query<Line>("Lines").Where(l => l.Product == "a");
        Assert.Equal(3, await query.CountAsync(TestContext.Current.CancellationToken));
        Assert.Equal(3L, query.LongCount());
        Assert.Equal(2, query.Take(2).Count());
        Assert.Equal(query.Skip(1).ToList().Count, query.Skip(1).Count());
        Assert.Equal(query.Select(l => l.Price).ToList().Count, query.Select(l => l.Price).Count());
        Assert.Equal(6, query.Statistics(out QueryStatistics statistics).Count() + statistics.TotalResults - 3);
    }

    [Theory]
    [InlineData("")]
    [InlineData("order by Price as long")]
    public async Task Pages_that_skip_what_was_left_out_give_each_document_once(string order)
    {
        await FillAsync();
        _run.Define("Lines", Lines);
        var found = new List<string>();
        for (long start = 0, before = -1; found.Count > before;)
        {
            before = found.Count;
            using QueryResults page = await _run.Database.QueryAsync(
                new QueryRequest
                {
                    Text = $"from index 'Lines' where Product = 'a' {order}",
                    Start = start,
                    PageSize = 1,
                    WaitForNonStaleResults = true,
                    WaitTimeout = Eventually.Patience
                }, TestContext.Current.CancellationToken);
            found.AddRange(Ids(page));
            start += found.Count - before + page.SkippedResults;
        }

        Assert.Equal(["orders/1", "orders/2", "orders/3"], found.Order());
    }

    [Fact]
    public async Task Entries_of_changed_documents_are_still_told_apart()
    {
        await FillAsync();
        _run.Define("Lines", "map('Orders', o => o.Lines.map(l => ({ Product: l.Product, Price: l.Price })))");
        await _run.WaitAsync();
        await _run.PutAsync("orders/1", """{"Lines":[{"Product":"a"},{"Product":"a"},{"Product":"a"}]}""", "Orders");
        await _run.PutAsync("orders/3", """{"Lines":[{"Product":"b"}]}""", "Orders");
        foreach (bool isNeverStale in (bool[])[true, false, true])
            Assert.Equal(
                ["orders/1", "orders/2"],
                (await _run.IdsAsync("from index 'Lines' where Product = 'a'", isNeverStale)).Order());
    }

    [Fact]
    public async Task Entries_are_given_one_by_one_where_that_is_asked_for_or_fields_are_selected()
    {
        await FillAsync();
        _run.Define("Lines", Lines, """{"Price":{"Storage":"Yes"}}""");
        using QueryResults results = await _run.Database.QueryAsync(
            new QueryRequest
            {
                Text = "from index 'Lines' where Product = 'a'",
                SkipDuplicateChecking = true,
                WaitForNonStaleResults = true,
                WaitTimeout = Eventually.Patience
            }, TestContext.Current.CancellationToken);
        Assert.Equal((6, 0L), (Ids(results).Count, results.SkippedResults));
        Assert.Equal(6, (await _run.AskAsync("from index 'Lines' where Product = 'a' select Price")).Count);
    }

    [Fact]
    public async Task Documents_remembered_are_limited()
    {
        using var run = new IndexRunner(new DatabaseOptions { MaxDistinctResults = 2 });
        for (int i = 1; i <= 3; i++)
            await run.PutAsync($"orders/{i}", """{"Lines":[{"Product":"a"},{"Product":"a"}]}""", "Orders");
        run.Define("Lines", Lines);
        Assert.Equal(3, (await run.IdsAsync("from index 'Lines' where Product = 'a'")).Count);
        Assert.Equal(2, (await run.IdsAsync("from index 'Lines' order by Price limit 2")).Count);
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => run.IdsAsync("from index 'Lines' order by Price"));
        Assert.Contains("SkipDuplicateChecking", error.Message, StringComparison.Ordinal);
    }

    public void Dispose() => _run.Dispose();

    private async Task FillAsync()
    {
        await _run.PutAsync("orders/1", Order(("a", 3), ("b", 1), ("a", 4)), "Orders");
        await _run.PutAsync("orders/2", Order(("a", 5), ("a", 6), ("a", 7)), "Orders");
        await _run.PutAsync("orders/3", Order(("a", 2)), "Orders");
    }

    private static string Order(params (string Product, int Price)[] lines) =>
        $"{{\"Lines\":[{string.Join(',', lines.Select(line => $"{{\"Product\":\"{line.Product}\",\"Price\":{line.Price}}}"))}]}}";

    private static List<string> Ids(QueryResults results)
    {
        var ids = new List<string>();
        while (results.MoveNext())
            ids.Add(results.Current.IdText());
        return ids;
    }

    /// <summary>An entry, for conditions.</summary>
    private sealed class Line
    {
        public string? Id { get; set; }

        public string? Product { get; set; }

        public int Price { get; set; }
    }
}
