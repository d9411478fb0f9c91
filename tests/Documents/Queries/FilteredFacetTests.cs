using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Queries;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Facets of the documents that <c>filter</c>, or conditions that no index answers, let pass.</summary>
public sealed class FilteredFacetTests : IAsyncLifetime
{
    private readonly Database _database = Database.OpenInMemory();

    public async ValueTask InitializeAsync()
    {
        for (int i = 0; i < 60; i++)
            await _database.PutAsync(
                $"Things/{i}",
                $$"""{"N":{{i}},"M":{{i * 7 % 60}},"Kind":"k{{i % 3}}","Lines":[{"P":"a","Q":{{i}}},{"P":"b","Q":{{i % 5}}}]}""",
                "Things");
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("filter N < M")]
    [InlineData("where N < M")]
    [InlineData("where N >= 10 filter any(Lines as l, l.P = 'b' and l.Q > 2)")]
    [InlineData("where N >= 10 and Lines[].Q = 3 and any(Lines as l, l.P = 'b' and l.Q > 2)")]
    [InlineData("filter N < 0")]
    [InlineData("order by N as long filter N > 5", " filter_limit 20")]
    public async Task They_count_what_passes(string clauses, string end = "")
    {
        Answer documents = await _database.AskAsync($"from Things {clauses}{end}");
        Answer facets = await _database.AskAsync(
            $"from Things {clauses} select facet(Kind, sum(N)), facet(N < 30, N >= 30){end}");
        Assert.Equal(
            documents.Rows.GroupBy(static row => (string)row["Kind"]!).OrderBy(static kind => kind.Key, StringComparer.Ordinal)
                .Select(static kind => $"{kind.Key} {kind.Count()} {kind.Sum(static row => (int)row["N"]!)}"),
            Values(facets.Rows[0]).Select(static value => $"{value["Range"]} {value["Count"]} {value["Sum"]}"));
        Assert.Equal(
            documents.Rows.Count, Values(facets.Rows[1]).Sum(static value => (int)value["Count"]!));
        facets = await _database.AskAsync($"from Things {clauses} select facet(Kind) include neverStale(){end}");
        Assert.Equal(documents.Rows.Count, Values(facets.Rows[0]).Sum(static value => (int)value["Count"]!));
    }

    [Fact]
    public async Task The_plan_has_the_filter_and_the_answer_its_warning()
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest
            {
                Text = "from Things where N < M select facet(Kind)",
                WithPlan = true,
                WaitForNonStaleResults = true
            },
            TestContext.Current.CancellationToken);
        Assert.Contains("filter [", results.DescribePlan(), StringComparison.Ordinal);
        Assert.Contains("N compared with M", Assert.Single(results.Warnings), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Fields_of_a_named_index_are_filtered()
    {
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Named",
            Collections = ["Things"],
            Fields = [new() { Name = "First", Path = "N", Stored = true }, new() { Name = "Kind" }],
        });
        Answer facets = await _database.AskAsync("from index Named filter First < M select facet(Kind)");
        Answer documents = await _database.AskAsync("from index Named filter First < M");
        Assert.NotEmpty(documents.Rows);
        Assert.Equal(documents.Rows.Count, Values(facets.Rows[0]).Sum(static value => (int)value["Count"]!));
    }

    [Theory]
    [InlineData("from Things group by Kind, Lines[].Q")]
    [InlineData("from Things (N > 5) group by Kind, Lines[].Q")]
    public async Task Groups_are_filtered(string source)
    {
        foreach (string condition in (string[])["filter count() > 1 and Kind != 'k0'", "where Kind != 'k0' filter sum(N) > 60"])
        {
            Answer groups = await _database.AskAsync($"{source} {condition} select Kind, count() as C, max(N) as M");
            Assert.NotEmpty(groups.Rows);
            Answer facets = await _database.AskAsync(
                $"{source} {condition} select facet(Kind, sum(count()), max(N)), facet(Lines[].Q < 3, Lines[].Q >= 3)");
            Assert.Equal(
                groups.Rows.GroupBy(static row => (string)row["Kind"]!).OrderBy(static kind => kind.Key, StringComparer.Ordinal)
                    .Select(static kind => $"{kind.Key} {kind.Count()} {kind.Sum(static row => (int)row["C"]!)}"),
                Values(facets.Rows[0]).Where(static value => (string?)value["Name"] == "count()").Select(static value => $"{value["Range"]} {value["Count"]} {value["Sum"]}"));
            Assert.Equal(
                groups.Rows.Max(static row => (int)row["M"]!),
                Values(facets.Rows[0]).Where(static value => (string?)value["Name"] == "max(N)")
                    .Max(static value => (int)value["Max"]!));
            Assert.Equal(
                ("Lines[].Q", "Lines[].Q < 3"),
                ((string?)facets.Rows[1]["Name"], (string?)Values(facets.Rows[1]).First()["Range"]));
            Assert.Equal(groups.Rows.Count, Values(facets.Rows[1]).Sum(static value => (int)value["Count"]!));
        }
    }

    private static IEnumerable<JsonNode> Values(JsonObject facet) => facet["Values"]!.AsArray().Select(static value => value!);
}
