using Treepie.Linq;
using Treepie.Queries;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>Queries for documents over indexes that have several entries of one document.</summary>
public sealed class FanOutQueryTests : IDisposable
{
    private const string Lines = "from o in docs.Orders from l in o.Lines select new { l.Product, l.Price }";
    private const string StoredProduct = """{"Product":{"Storage":"Yes"}}""";

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
    public async Task Entries_are_filtered_counted_and_ordered_by_what_each_keeps()
    {
        await FillAsync();
        _run.Define("Lines", Lines, """{"Price":{"Storage":"Yes"},"Product":{"Storage":"Yes"}}""");
        string facet = Assert.Single(await _run.AskAsync(
            "from index 'Lines' filter Price > 1 and Price < 6 select facet(Product, sum(Price))"));
        Assert.Contains(
            """[{"Range":"a","Count":4,"Name":"Price","Sum":14}]""", facet, StringComparison.Ordinal); // of 2, 3, 4 and 5
        facet = Assert.Single(await _run.AskAsync("from index 'Lines' select facet(length(Product), max(Price))"));
        Assert.Contains("""[{"Range":"1","Count":7,"Name":"Price","Max":7}]""", facet, StringComparison.Ordinal);
        Assert.Equal(
            ["orders/2", "orders/1", "orders/3"],
            await _run.IdsAsync("from index 'Lines' where Product = 'a' order by length(Product), Price as long desc"));
        Assert.Equal(
            ["orders/1", "orders/3"],
            await _run.IdsAsync("from index 'Lines' order by length(Product), Price as long filter Price < 3"));
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

    /// <summary>
    /// Of documents with very different numbers of entries, each page is that of the list that has each document at its first
    /// entry, and what the page left out says where the next one begins.
    /// </summary>
    [Theory]
    [InlineData("", false)]
    [InlineData("order by Price as long", true)]
    [InlineData("order by Price as long desc", true)]
    [InlineData("order by Price as long filter Name != 'none'", true)]
    [InlineData("where Product = 'a' and Price < 900", false)]
    public async Task Pages_of_skewed_documents_are_those_of_a_list_that_has_each_once(string query, bool isSorted)
    {
        var random = new Random(Seed.Next());
        var entries = new List<(string Id, string Product, int Price)>();
        for (int i = 0; i < 40; i++)
        {
            int lines = i is 3 or 20 ? 1_000 : random.Next(5) == 0 ? random.Next(60) : random.Next(1, 4);
            (string Product, int Price)[] all =
                [.. Enumerable.Range(0, lines).Select(_ => (random.Next(3) > 0 ? "a" : "b", random.Next(1_000)))];
            await _run.PutAsync($"orders/{i}", Order(all), "Orders");
            entries.AddRange(all.Select(line => ($"orders/{i}", line.Product, line.Price)));
        }

        _run.Define("Lines", Lines);
        IEnumerable<(string Id, string Product, int Price)> hits = query.Contains("where", StringComparison.Ordinal)
            ? entries.Where(entry => entry is { Product: "a", Price: < 900 })
            : entries;
        if (isSorted)
            hits = query.Contains("desc", StringComparison.Ordinal)
                ? hits.OrderByDescending(entry => entry.Price)
                : hits.OrderBy(entry => entry.Price);
        (string Id, string Product, int Price)[] list = [.. hits];
        bool isFiltered = query.Contains("filter", StringComparison.Ordinal);
        foreach (int size in (int[])[1, 3, 10, 100])
        {
            var found = new List<string>();
            for (long start = 0; ;)
            {
                using QueryResults page = await _run.Database.QueryAsync(
                    new QueryRequest
                    {
                        Text = $"from index 'Lines' {query}",
                        Start = start,
                        PageSize = size,
                        WaitForNonStaleResults = true,
                        WaitTimeout = Eventually.Patience
                    }, TestContext.Current.CancellationToken);
                List<string> ids = Ids(page);
                Assert.Equal(list.Length, page.TotalResults);
                found.AddRange(ids);
                start += ids.Count + page.SkippedResults;
                if (ids.Count < size)
                    break;
                Assert.True(isFiltered || ids[^1] == list[start - 1].Id, $"page of {size} that ends at {start}");
            }

            Assert.Equal(list.Select(entry => entry.Id).Distinct(), found);
        }
    }

    /// <summary>All conditions hold in a document, each in any of its entries; the entries are those that meet one.</summary>
    [Fact]
    public async Task An_intersection_is_of_documents()
    {
        var random = new Random(Seed.Next());
        var orders = new List<(string Id, (string Product, int Price)[] Lines)>();
        for (int i = 0; i < 300; i++)
        {
            orders.Add((
                $"orders/{i}",
                [.. Enumerable.Range(0, random.Next(20) == 0 ? 200 : random.Next(1, 5)).Select(
                    _ => (((char)('a' + random.Next(5))).ToString(), random.Next(20)))]));
            await _run.PutAsync(orders[^1].Id, Order(orders[^1].Lines), "Orders");
        }

        _run.Define("Lines", Lines);
        await _run.WaitAsync();
        foreach (bool isNeverStale in (bool[])[false, true])
        {
            for (int i = 0; i < 30; i++)
            {
                string first = ((char)('a' + random.Next(6))).ToString(), second = ((char)('a' + random.Next(5))).ToString();
                int price = random.Next(21);
                Func<(string Product, int Price), bool>[] conditions =
                [
                    line => line.Product == first, line => line.Price > price,
                    line => line.Product == second && line.Price < 15
                ];
                (string Id, (string Product, int Price)[] Lines)[] wanted =
                    [.. orders.Where(order => Array.TrueForAll(conditions, one => order.Lines.Any(one)))];
                using QueryResults results = await _run.QueryAsync(
                    $"from index 'Lines' where intersect(Product = '{first}', Price > {price}, "
                        + $"Product = '{second}' and Price < 15)",
                    isNeverStale);
                List<string> ids = Ids(results);
                Assert.Equal(wanted.Select(order => order.Id).Order(), ids.Order());
                Assert.Equal(
                    wanted.Sum(order => order.Lines.Count(line => conditions.Any(one => one(line)))), results.TotalResults);
            }

            // the second time some documents are not in the index yet
            _run.Database.Indexes.Control.Pause("Lines");
            for (int i = 0; i < 40; i++)
            {
                int which = random.Next(orders.Count);
                orders[which] = (orders[which].Id, [("a", random.Next(20)), (((char)('a' + random.Next(5))).ToString(), 3)]);
                await _run.PutAsync(orders[which].Id, Order(orders[which].Lines), "Orders");
            }
        }
    }

    [Theory]
    [InlineData("intersect(Product = 'a', Price = 1)", "orders/1")]
    [InlineData("Product = 'a' and Price = 1", "")]
    [InlineData("intersect(Product = 'b', Price = 4) and Price > 3", "orders/1")]
    [InlineData("intersect(Product = 'b', Price = 4) and Price = 3", "")]
    [InlineData("true and not intersect(Product = 'a', Product = 'b')", "orders/2 orders/3")]
    [InlineData("intersect(Product = 'a', Product = 'none')", "")]
    [InlineData("intersect(boost(Product = 'b', 3), boost(Price = 4, 2))", "orders/1")]
    [InlineData("intersect(id() = 'orders/1', Price = 4)", "orders/1")]
    public async Task An_intersection_goes_with_other_conditions(string condition, string expected)
    {
        await FillAsync();
        _run.Define("Lines", Lines);
        Assert.Equal(expected, string.Join(' ', (await _run.IdsAsync($"from index 'Lines' where {condition}")).Order()));
    }

    [Fact]
    public async Task An_intersection_is_limited_like_any_query()
    {
        string order = Order([.. Enumerable.Range(0, 200).Select(price => ("a", price))]);
        for (int i = 0; i < 50; i++)
            await _run.PutAsync($"orders/{i}", order, "Orders");
        _run.Define("Lines", Lines);
        await _run.WaitAsync();
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(() => _run.Database.QueryAsync(
            new QueryRequest { Text = "from index 'Lines' where intersect(Product = 'a', Price > 3)", MaxEntries = 3_000 },
            TestContext.Current.CancellationToken));
        Assert.Contains("3,000 entries", error.Message, StringComparison.Ordinal);
    }

    /// <summary>Hits that are searched for while results are read have the time of a query, too, and end with the query.</summary>
    [Theory]
    [InlineData("where Product = 'a' limit 2", true)]
    [InlineData("where Product = 'a' limit 2", false)]
    [InlineData("select distinct Product limit 2", true)]
    [InlineData("select distinct Product limit 2", false)]
    public async Task Further_hits_are_searched_for_in_the_time_of_a_query(string query, bool isTimeOver)
    {
        var clock = new StrikingClock();
        using var run = new IndexRunner(new DatabaseOptions { TimeProvider = clock });
        await run.PutAsync("orders/1", Order([.. Enumerable.Range(0, 2_000).Select(price => ("a", price))]), "Orders");
        await run.PutAsync("orders/2", Order(("a", 1)), "Orders");
        run.Define("Lines", Lines, StoredProduct);
        await run.WaitAsync();
        using var cancelled = new CancellationTokenSource();
        using QueryResults results = await run.Database.QueryAsync(
            new QueryRequest { Text = $"from index 'Lines' {query}" }, cancelled.Token);
        Assert.True(results.MoveNext());
        clock.IsStriking = isTimeOver;
        if (!isTimeOver)
            await cancelled.CancelAsync();
        Exception error = Assert.ThrowsAny<Exception>(() => results.MoveNext());
        clock.IsStriking = false;
        if (isTimeOver)
            Assert.Contains("MaxQueryTime", Assert.IsType<TimeoutException>(error).Message, StringComparison.Ordinal);
        else
            Assert.IsType<OperationCanceledException>(error, exactMatch: false);
    }

    /// <summary>Each search evaluates the condition again, so there are three at most; the first counts the hits.</summary>
    [Theory]
    [InlineData("where Product = 'a' limit 2", 50, 1)]
    [InlineData("where Product = 'a' limit 2", 9_000, 2)]
    [InlineData("where Product = 'a' order by Price as long limit 2", 9_000, 2)]
    [InlineData("select distinct Product limit 2", 50, 0)]
    [InlineData("select distinct Product limit 2", 2_000, 1)]
    [InlineData("select distinct Product limit 2", 9_000, 2)]
    [InlineData("order by Price as long desc select distinct Product limit 2", 9_000, 2)]
    public async Task Further_hits_are_searched_for_twice_at_most(string query, int equal, int searches)
    {
        var clock = new StrikingClock();
        using var run = new IndexRunner(new DatabaseOptions { TimeProvider = clock });
        await run.PutAsync(
            "orders/1", Order([.. Enumerable.Range(0, equal).Select(price => ("a", price - equal))]), "Orders");
        await run.PutAsync("orders/2", Order(("a", 1), ("a", 2)), "Orders");
        run.Define("Lines", Lines, StoredProduct);
        await run.WaitAsync();
        using QueryResults results = await run.Database.QueryAsync(
            new QueryRequest { Text = $"from index 'Lines' {query}" }, TestContext.Current.CancellationToken);
        clock.CountOnThisThread();
        int rows = 0;
        while (results.MoveNext())
            rows++;
        Assert.Equal(query.Contains("distinct", StringComparison.Ordinal) ? 1 : 2, rows);
        Assert.Equal((searches, equal + 2), (clock.Timers, results.TotalResults));
    }

    public void Dispose() => _run.Dispose();

    /// <summary>A clock whose timers are due at once, if it is told so, and that counts those of a thread.</summary>
    private sealed class StrikingClock : TimeProvider
    {
        private int _thread = -1;

        public bool IsStriking { get; set; }

        public int Timers { get; private set; }

        public void CountOnThisThread() => (_thread, Timers) = (Environment.CurrentManagedThreadId, 0);

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            if (Environment.CurrentManagedThreadId == _thread)
                Timers++;
            if (IsStriking)
                callback(state);
            return base.CreateTimer(callback, state, dueTime, period);
        }
    }

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
