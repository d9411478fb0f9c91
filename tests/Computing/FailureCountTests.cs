using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>An index of which most fails says so, also after it was opened again, until it is better or told to forget.</summary>
public sealed class FailureCountTests : IDisposable
{
    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public async Task What_failed_before_a_restart_is_told_after_it()
    {
        _run.Define("Parts", "from o in docs.Orders select new { Part = 1 / o.Count }");
        for (int i = 0; i < 120; i++)
            await _run.PutAsync($"orders/{i}", $"{{\"Count\":{i % 3}}}", "Orders");
        Assert.Contains("failed for 40 of 120", Assert.Single(await WarningsAsync()), StringComparison.Ordinal);
        Assert.Equal(IndexState.Error, Assert.Single(_run.Database.Indexes.List()).State);
        _run.Reopen();
        Assert.Contains("failed for 40 of 120", Assert.Single(await WarningsAsync()), StringComparison.Ordinal);
        Assert.Equal(IndexState.Error, Assert.Single(_run.Database.Indexes.List()).State);

        _run.Database.Indexes.ClearErrors("Parts");
        _run.Reopen();
        Assert.Empty(await WarningsAsync());
        Assert.Equal(IndexState.Normal, Assert.Single(_run.Database.Indexes.List()).State);
    }

    [Fact]
    public async Task The_document_with_most_results_is_told_after_a_restart()
    {
        _run.Define("Lines", "from o in docs.Orders from l in o.Lines select new { Part = l }");
        await _run.PutAsync("orders/1", $"{{\"Lines\":[{string.Join(',', Enumerable.Range(0, 1_100))}]}}", "Orders");
        Assert.Contains(
            "1,100 entries of document 'orders/1'", Assert.Single(await WarningsAsync("Lines")), StringComparison.Ordinal);
        _run.Reopen();
        Assert.Contains(
            "1,100 entries of document 'orders/1'", Assert.Single(await WarningsAsync("Lines")), StringComparison.Ordinal);
    }

    /// <summary>Each new name makes the index map the batch again, once it has a field of that name.</summary>
    [Fact]
    public async Task What_is_mapped_again_for_new_fields_counts_once()
    {
        await PutOrdersAsync(120);
        _run.Define("Parts", "from o in docs.Orders select new { Part = 1 / o.Count, _ = CreateField(o.Name, 1) }");
        await _run.WaitAsync();
        IndexStatistics index = Assert.Single(_run.Database.Indexes.List());
        Assert.Equal((120, 40, 80), (index.MapAttempts, index.MapErrors, index.EntryCount));
        Assert.Contains("failed for 40 of 120", Assert.Single(await WarningsAsync()), StringComparison.Ordinal);
        _run.Reopen();
        await _run.WaitAsync();
        index = Assert.Single(_run.Database.Indexes.List());
        Assert.Equal((120, 40), (index.MapAttempts, index.MapErrors));
    }

    [Fact]
    public async Task What_is_reduced_again_for_new_fields_counts_once()
    {
        await PutOrdersAsync(120);
        using var json = System.Text.Json.JsonDocument.Parse(
            """
            {"Name":"Sums","Maps":["map('Orders', o => ({ Count: o.Count, N: 1, _: null }))"],
             "Reduce":"groupBy(o => ({ Count: o.Count })).aggregate(g => { const n = g.values.reduce((n, o) => n + o.N, 0); if (g.key.Count === 0) throw new Error('none'); return { Count: g.key.Count, N: n, _: createField('F' + g.key.Count, n) }; })"}
            """);
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        await _run.WaitAsync();
        IndexStatistics index = Assert.Single(_run.Database.Indexes.List());
        Assert.Equal((120, 0), (index.MapAttempts, index.MapErrors));
        Assert.Equal((3, 1), (index.ReduceAttempts, index.ReduceErrors)); // a group for each count
        await _run.PutAsync("orders/late", """{"Count":1}""", "Orders");
        await _run.WaitAsync();
        index = Assert.Single(_run.Database.Indexes.List());
        Assert.Equal((121, 4, 1), (index.MapAttempts, index.ReduceAttempts, index.ReduceErrors));
        _run.Reopen();
        await _run.WaitAsync();
        index = Assert.Single(_run.Database.Indexes.List());
        Assert.Equal((121, 4, 1), (index.MapAttempts, index.ReduceAttempts, index.ReduceErrors));
    }

    private async Task PutOrdersAsync(int count)
    {
        var batch = new Writes.WriteBatch();
        for (int i = 0; i < count; i++)
            batch.Put(
                $"orders/{i}",
                System.Text.Encoding.UTF8.GetBytes(
                    $$"""{"Count":{{i % 3}},"Name":"F{{i}}","@metadata":{"@collection":"Orders"} }"""));
        await _run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    private async Task<IReadOnlyList<string>> WarningsAsync(string index = "Parts")
    {
        using QueryResults results = await _run.Database.QueryAsync(
            new QueryRequest
            {
                Text = $"from index {index} where Part = 1",
                WaitForNonStaleResults = true,
                WaitTimeout = Eventually.Patience
            },
            TestContext.Current.CancellationToken);
        return results.Warnings;
    }
}
