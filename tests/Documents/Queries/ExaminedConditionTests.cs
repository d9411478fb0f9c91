using Treepie.Indexes;
using Treepie.Queries;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Conditions of <c>where</c> that no index answers: documents are examined one by one, and the answer says so.</summary>
public sealed class ExaminedConditionTests : IAsyncLifetime
{
    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        string[] bodies =
        [
            """{"N":1,"A":"x","B":"X","At":"1997-05-01","Tags":["x","y"],"Lines":[{"P":"tea","Q":1},{"P":"salt","Q":5}]}""",
            """{"N":2,"A":"x","B":"y","At":"1998-05-01","Tags":["z"],"Lines":[{"P":"tea","Q":5}]}""",
            """{"N":3,"A":5,"B":7,"At":"1997-06-01T01:00:00+02:00","Tags":[],"Lines":[]}""",
            """{"N":4,"At":null}""",
        ];
        for (int i = 0; i < bodies.Length; i++)
            await _database.PutAsync($"d/{i + 1}", bodies[i], "Docs");
        await _database.PutAsync("o/1", """{"N":1,"A":1,"B":1}""", "Others");
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("A = B", "1,4", "A compared with B (a field")]
    [InlineData("A != B", "2,3", "A compared with B")]
    [InlineData("o.A < o.B", "2,3", "A compared with B")]
    [InlineData("A = Tags[0]", "1,4", "A compared with Tags[0]")]
    [InlineData("Tags = A", "1,4", "Tags compared with A")]
    [InlineData("exact(A = B)", "4", "A compared with B")]
    [InlineData("N > utc(At)", "", "N compared with utc(At)")]
    [InlineData("A = id()", "", "A compared with id()")]
    [InlineData("N = count(Tags)", "", "'count()'")]
    [InlineData("count(Lines as l, l.Q > 1) = 1", "1,2", "'count()'")]
    [InlineData("any(Lines as l, l.P = 'tea' and l.Q = 5)", "2", "'any()'")]
    [InlineData("(N < 3 and (N > 0 and A = B)) and true", "1", "A compared with B")]
    [InlineData("N < 3 and exists(Tags) and year(At) = year(At)", "1,2", "'year()'")]
    [InlineData("id() in ('d/1', 'd/2') and A = B", "1", "A compared with B")]
    public async Task Documents_are_examined_and_the_answer_says_so(string condition, string expected, string reason)
    {
        (string ids, IReadOnlyList<string> warnings, string? plan) = await AskAsync($"from Docs as o where {condition}");
        Assert.Equal(expected, ids);
        string warning = Assert.Single(warnings);
        Assert.StartsWith("No index answers this of 'where': " + reason, warning, StringComparison.Ordinal);
        Assert.StartsWith("filter [", plan, StringComparison.Ordinal);
        (string filtered, warnings, _) = await AskAsync($"from Docs as o filter {condition}", isChecked: false);
        Assert.Equal(ids, filtered);
        Assert.Empty(warnings);
    }

    [Fact]
    public async Task An_index_answers_the_rest_of_the_condition()
    {
        (string ids, _, string? plan) = await AskAsync("from Docs where N < 3 and A = B order by N as long");
        Assert.Equal("1", ids);
        Assert.StartsWith("filter [1] (", plan, StringComparison.Ordinal);
        Assert.Contains("walk the values in order", plan, StringComparison.Ordinal);
        Assert.Equal("Auto/Docs/ByN", Assert.Single(_database.Indexes.List()).Name);

        // the step tells how many it was given, and the search below it how many it found
        using QueryResults results = await QueryAsync("from Docs where N < 3 and A = B limit 5");
        while (results.MoveNext())
            _ = results.Current;
        Assert.Equal((2, 1, 2), (results.Plan!.RowsIn, results.Plan.RowsOut, results.Plan.Children[0].RowsOut));
        using QueryResults scan = await QueryAsync("from Docs where A = B");
        while (scan.MoveNext())
            _ = scan.Current;
        Assert.Equal((4, 2, 4), (scan.Plan!.RowsIn, scan.Plan.RowsOut, scan.Plan.Children[0].RowsOut));
        Assert.Equal(4, scan.Counters.EntriesScanned);
    }

    [Fact]
    public async Task It_goes_with_pages_parameters_filter_and_distinct()
    {
        Answer answer = await _database.AskAsync("from Docs where A = B order by N as long desc limit 1, 1");
        Assert.Equal((2, "d/1"), (answer.Total, Assert.Single(answer.Ids)));
        foreach ((int year, string[] expected) in ((int, string[])[])
            [(1997, ["d/1", "d/3"]), (1998, ["d/2"]), (1997, ["d/1", "d/3"])])
            Assert.Equal(
                expected,
                (await _database.AskAsync(
                    "from Docs where year(At) = $y and N > $n order by N as long", $$"""{"y":{{year}},"n":0}""")).Ids);
        Assert.Equal(["d/1"], (await _database.AskAsync("from Docs where year(At) = 1997 filter A = B")).Ids);
        Assert.Equal(
            ["""{"A":"x"}"""], (await _database.AskAsync("from Docs where N < 3 and year(At) > 0 select distinct A")).Bodies);
    }

    [Fact]
    public async Task Groups_and_what_is_grouped_are_examined()
    {
        Answer answer = await _database.AskAsync("from Docs group by A, B where A < B order by A select A, B, count() as N");
        Assert.Equal(["""{"A":5,"B":7,"N":1}""", """{"A":"x","B":"y","N":1}"""], answer.Bodies);
        answer = await _database.AskAsync("from Docs group by At where year(At) = 1997 order by At select year(At) as Y");
        Assert.Equal(["""{"Y":1997}""", """{"Y":1997}"""], answer.Bodies);
        using QueryResults results = await QueryAsync("from Docs (A != B and N < 3) group by A select A, count() as N");
        Assert.True(results.MoveNext());
        Assert.False(results.MoveNext());
        Assert.Contains("A compared with B", Assert.Single(results.Warnings), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Fields_of_an_index_are_compared()
    {
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Named",
            Collections = ["Docs"],
            Fields = [new() { Name = "First", Path = "A" }, new() { Name = "Second", Path = "B" }, new() { Name = "N" }],
        });
        Assert.Equal(
            ["d/2", "d/3"],
            (await _database.AskAsync("from index Named where First < Second and N < 4 order by N as long")).Ids);
    }

    [Theory]
    [InlineData("N = 1 or A = B")]
    [InlineData("N > 1 and not A = B")]
    [InlineData("N = 1 and (A = B or N = 2)")]
    [InlineData("true and not (A = B or year(At) = 1998)")]
    [InlineData("(A < B and N < 3) or (A = B and not N = 1) or any(Lines as l, l.Q > 1)")]
    [InlineData("N = 1 or count(Lines as l, l.Q > 1) = 1")]
    [InlineData("startsWith(A, 'x') or exact(A = B) or N in (2, 3)")]
    public async Task What_or_and_not_join_with_it_is_examined_too(string condition)
    {
        Answer answer = await _database.AskAsync($"from Docs where {condition} order by N as long");
        Answer filtered = await _database.AskAsync($"from Docs order by N as long filter {condition}");
        Assert.Equal(filtered.Ids, answer.Ids);
        Assert.Equal(filtered.Total, answer.Total);
        Assert.NotEmpty(answer.Ids);
    }

    [Theory]
    [InlineData("where A = B", "", "A = B")]
    [InlineData("where A != B", "filter N > 2", "A != B and N > 2")]
    public async Task A_limit_of_filter_counts_what_is_examined_for_where_too(string where, string filter, string whole)
    {
        for (int limit = 0; limit < 6; limit++)
            Assert.Equal(
                (await _database.AskAsync($"from Docs order by N as long filter {whole} filter_limit {limit}")).Ids,
                (await _database.AskAsync($"from Docs {where} order by N as long {filter} filter_limit {limit}")).Ids);
        Assert.Empty((await _database.AskAsync($"from Docs {where} order by N as long {filter} filter_limit 0")).Ids);
        Assert.NotEmpty((await _database.AskAsync($"from Docs {where} order by N as long {filter} filter_limit 6")).Ids);
    }

    [Theory]
    [InlineData("from Docs where search(A, 'x') or A = »B", "except those that need an index")]
    [InlineData("from Docs where N = 1 and not (boost(N = 2, 3) and A = »B)", "except those that need an index")]
    [InlineData("from Docs where boost(A = »B, 2)", "write it after 'filter'")]
    [InlineData("from Docs as d where lucene(A, 'x') or »counter(d, 'Likes') > 3", "except those that need an index")]
    [InlineData("from Docs where search(A, 'x') or »count(Lines as l, l.Q > 1) = 1", "except those that need an index")]
    [InlineData("from Docs where »count(Lines as l, l.Q > 1) = 1 select suggest(A, 'x')", "those that its map computes")]
    [InlineData("from Docs where A = »B select suggest(A, 'x')", "no documents are examined: ask an index for a field")]
    [InlineData("from Docs where »counter('Likes') > 3 select suggest(A, 'x')", "'Heartrate', …)) and ask it.")]
    [InlineData("from Docs where A = »frob(B)", "There is no function 'frob()'")]
    public async Task What_is_not_examined_is_refused(string marked, string reason)
    {
        int position = marked.IndexOf('»', StringComparison.Ordinal);
        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(marked.Remove(position, 1)));
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
        Assert.Equal(position + 1, refused.Column);
    }

    [Fact]
    public async Task What_changes_documents_examines_none_unless_filter_says_so()
    {
        // without its quotes a text is a field that no document has, and null equals null
        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.DeleteByQueryAsync("from Docs where A = Anna", Cancel));
        Assert.Contains("a text is written in quotes", refused.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from Docs where A = B", change: request => request with { ExaminesDocuments = false }));
        Assert.Equal(5, (await _database.AskAsync("from @all_docs")).Total);
        Assert.Equal(2, await _database.DeleteByQueryAsync("from Docs filter A = B", Cancel));
    }

    [Fact]
    public async Task A_page_cannot_be_gone_on_with()
    {
        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from Docs where A = B", change: request => request with { WithContinuation = true }));
        Assert.Contains("conditions of 'where' that no index answers", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("select count(A as a, count(A as b, b = a) > 1) as n")]
    [InlineData("where count(A as a, count(A as b, b = a) > 1) = 7")]
    [InlineData("filter any(A as a, any(A as b, b > a and b < a))")]
    [InlineData("where A < A and A > A and A[] < B[0]")]
    public async Task It_ends_among_the_elements_of_one_document_when_it_is_cancelled(string query)
    {
        string elements = string.Join(',', Enumerable.Repeat("\"seven\"", 20_000));
        await _database.PutAsync("long/1", $"{{\"A\":[{elements}],\"B\":[{elements}]}}", "Long");
        using var caller = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = "from Long " + query, WaitForNonStaleResults = true }, caller.Token);
        caller.CancelAfter(TimeSpan.FromMilliseconds(100));
        long begun = TimeProvider.System.GetTimestamp();
        Assert.ThrowsAny<OperationCanceledException>(() =>
        {
            while (results.MoveNext())
                results.WriteCurrent(new System.Buffers.ArrayBufferWriter<byte>());
        });
        Assert.InRange(TimeProvider.System.GetElapsedTime(begun), TimeSpan.Zero, TimeSpan.FromSeconds(5));
    }

    [Theory]
    [InlineData("select count(A as a, count(A as b, b = a) > 1) as n")]
    [InlineData("filter any(A as a, any(A as b, b > a and b < a))")]
    [InlineData("where A < A and A > A")]
    public async Task It_ends_among_the_elements_of_one_document_when_its_time_is_over(string query)
    {
        await using Database database = Database.OpenInMemory(
            new DatabaseOptions { MaxQueryTime = TimeSpan.FromMilliseconds(200) });
        await database.PutAsync(
            "long/1", $"{{\"N\":1,\"A\":[{string.Join(',', Enumerable.Repeat("\"seven\"", 20_000))}]}}", "Long");
        long begun = TimeProvider.System.GetTimestamp();
        TimeoutException error = await Assert.ThrowsAsync<TimeoutException>(() => database.AskAsync("from Long " + query));
        Assert.Contains("MaxQueryTime", error.Message, StringComparison.Ordinal);
        Assert.InRange(TimeProvider.System.GetElapsedTime(begun), TimeSpan.Zero, TimeSpan.FromSeconds(10));
    }

    private Task<QueryResults> QueryAsync(string query) => _database.QueryAsync(
        new QueryRequest { Text = query, WithPlan = true, WaitForNonStaleResults = true },
        Cancel);

    private async Task<(string Ids, IReadOnlyList<string> Warnings, string? Plan)> AskAsync(string query, bool isChecked = true)
    {
        using QueryResults results = await QueryAsync(query);
        var ids = new List<string>();
        while (results.MoveNext())
            ids.Add(results.Current.IdText()[2..]);
        Assert.True(!isChecked || results.TotalResults == ids.Count);
        return (string.Join(',', ids.Order(StringComparer.Ordinal)), results.Warnings, results.DescribePlan());
    }
}
