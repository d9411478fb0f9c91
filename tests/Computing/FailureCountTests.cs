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
