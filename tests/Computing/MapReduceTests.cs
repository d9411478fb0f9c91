using System.Globalization;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>
/// Indexes with a reduce: their entries are groups of what their maps make of documents, whatever happens to these.
/// </summary>
public sealed class MapReduceTests : IDisposable
{
    private const string Map = "from o in docs.Orders select new { o.City, Count = 1, Total = o.Freight }";
    private const string Reduce =
        "from r in results group r by r.City into g select new { City = g.Key, Count = g.Sum(x => x.Count), Total = g.Sum(x => "
            + "x.Total) }";

    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public async Task Groups_are_counted_and_summed_up_by_texts()
    {
        await _run.PutAsync("orders/1", """{"City":"Bern","Freight":2}""", "Orders");
        await _run.PutAsync("orders/2", """{"City":"Rome","Freight":3}""", "Orders");
        await _run.PutAsync("orders/3", """{"City":"Bern","Freight":5}""", "Orders");
        Define("Orders/ByCity", [Map], Reduce);
        Assert.Equal(
            ["""{"City":"Bern","Count":2,"Total":7}""", """{"City":"Rome","Count":1,"Total":3}"""],
            await _run.AskAsync("from index 'Orders/ByCity' order by Total as long desc"));
        Assert.Equal(
            ["""{"c":"Rome","Total":3}"""],
            await _run.AskAsync("from index 'Orders/ByCity' where Count < 2 select City as c, Total"));
        Assert.Equal(
            ["""{"C":"BERN","T":14}"""],
            await _run.AskAsync(
                "from index 'Orders/ByCity' as r filter r.Total > 3 select { C: r.City.toUpperCase(), T: r.Total * 2 }"));
        Assert.StartsWith(
            """{"Name":"City","Values":[{"Range":"bern","Count":1},{"Range":"rome","Count":1}]""",
            Assert.Single(await _run.AskAsync("from index 'Orders/ByCity' select facet(City)")), StringComparison.Ordinal);

        await _run.PutAsync("orders/3", """{"City":"Rome","Freight":50}""", "Orders");
        await _run.DeleteAsync("orders/1");
        Assert.Equal(["""{"City":"Rome","Count":2,"Total":53}"""], await _run.AskAsync("from index 'Orders/ByCity'"));
        IndexStatistics statistics = Assert.Single(_run.Database.Indexes.List());
        Assert.True(statistics is { IsMapReduce: true, EntryCount: 1, ErrorCount: 0, ReduceAttempts: > 0 });
        _run.Reopen();
        await _run.PutAsync("orders/4", """{"City":"Rome","Freight":1}""", "Orders");
        Assert.Equal(["""{"City":"Rome","Count":3,"Total":54}"""], await _run.AskAsync("from index 'Orders/ByCity'"));
        _run.Database.Indexes.Control.Pause();
        await _run.PutAsync("orders/5", """{"City":"Oslo","Freight":1}""", "Orders");
        await _run.DeleteAsync("orders/4");
        Assert.Equal(
            ["""{"City":"Oslo","Count":1,"Total":1}""", """{"City":"Rome","Count":2,"Total":53}"""],
            await _run.AskAsync("from index 'Orders/ByCity' order by City", neverStale: true));
    }

    [Fact]
    public async Task The_tree_of_partial_results_of_a_document_shows_how_its_group_came_about()
    {
        Define("Orders/ByCity", [Map], Reduce);
        for (int i = 0; i < 400; i++)
            await _run.PutAsync($"orders/{i}", $$"""{"City":"{{(i < 390 ? "Bern" : "Rome")}}","Freight":1}""", "Orders");
        await _run.WaitAsync();
        IndexContent content = _run.Database.LookInto("Orders/ByCity");
        ReducedGroup bern = Assert.Single(content.GroupsOf("Orders/1")), rome = Assert.Single(content.GroupsOf("orders/395"));
        Assert.Contains("Bern", bern.Key, StringComparison.Ordinal);
        Assert.Equal(["""{"City":"Rome","Count":10,"Total":10}"""], rome.Root.Results);
        Assert.Equal((10, false), (rome.Root.Count, rome.IsCut));
        Assert.Empty(rome.Root.Children);
        AssertSums(bern.Root);
        Assert.Equal(390, bern.Root.Count);
        Assert.NotEmpty(bern.Root.Children);
        Assert.Empty(content.GroupsOf("orders/none"));

        static void AssertSums(PartialResult node)
        {
            Assert.Equal([$$"""{"City":"Bern","Count":{{node.Count}},"Total":{{node.Count}}}"""], node.Results);
            Assert.Equal(node.Count > 128, node.Children.Count > 0);
            Assert.True(node.Children.Count == 0 || node.Children.Sum(static child => child.Count) == node.Count);
            foreach (PartialResult child in node.Children)
                AssertSums(child);
        }
    }

    [Fact]
    public async Task Of_a_document_in_many_large_groups_only_some_are_shown()
    {
        Define(
            "Large", ["from o in docs.Orders from i in Enumerable.Range(0, 300) select new { City = i, Text = \"\" }"],
            "from r in results group r by r.City into g select new { City = g.Key, Text = \"\".PadLeft(100000) }");
        await _run.PutAsync("orders/1", "{}", "Orders");
        await _run.WaitAsync();
        IReadOnlyList<ReducedGroup> groups = _run.Database.LookInto("Large").GroupsOf("orders/1");
        Assert.InRange(groups.Sum(static group => group.Root.Results.Sum(static one => (long)one.Length)), 1, 17 << 20);
        Assert.Equal(groups.Select(group => group == groups[^1]), groups.Select(static group => group.IsCut));
    }

    [Theory]
    [InlineData(Map, Reduce)]
    [InlineData(
        "map('Orders', o => ({ City: o.City, Count: 1, Total: o.Freight }))",
        "groupBy(r => r.City).aggregate(g => ({ City: g.key, Count: g.values.reduce((s, r) => s + r.Count, 0), "
            + "Total: g.values.reduce((s, r) => s + r.Total, 0) }))")]
    public async Task Keys_that_differ_at_their_end_alone_are_groups_of_their_own(string map, string reduce)
    {
        string start = new('x', 100_000);
        for (int i = 0; i < 6; i++)
            await _run.PutAsync($"orders/{i}", $$"""{"City":"{{start}}{{i % 2}}","Freight":{{i}}}""", "Orders");
        Define("Orders/ByCity", [map], reduce);
        Assert.Equal(
            [$$"""{"City":"{{start}}0","Count":3,"Total":6}""", $$"""{"City":"{{start}}1","Count":3,"Total":9}"""],
            await _run.AskAsync("from index 'Orders/ByCity' order by Total as long"));
        Assert.Equal(
            ["""{"Total":9}"""], await _run.AskAsync($"from index 'Orders/ByCity' where City = '{start}1' select Total"));
        Assert.Empty(_run.Database.Indexes.Errors("Orders/ByCity"));
    }

    [Fact]
    public async Task Several_maps_are_reduced_together()
    {
        Define(
            "Cities",
            ["from o in docs.Orders select new { o.City, Count = 1 }", "from u in docs.Users select new { u.City, Count = 10 }"],
            "from r in results group r by r.City into g select new { City = g.Key, Count = g.Sum(x => x.Count) }");
        await _run.PutAsync("orders/1", """{"City":"Bern"}""", "Orders");
        await _run.PutAsync("users/1", """{"City":"Bern"}""", "Users");
        await _run.PutAsync("users/2", """{"City":null}""", "Users");
        Assert.Equal(
            ["""{"City":null,"Count":10}""", """{"City":"Bern","Count":11}"""],
            await _run.AskAsync("from index Cities order by Count as long"));
    }

    [Fact]
    public async Task Groups_change_with_the_documents_that_were_loaded()
    {
        Define(
            "ByCompany",
            ["from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") select new { Name = c.Name, Count = 1 }"],
            "from r in results group r by r.Name into g select new { Name = g.Key, Count = g.Sum(x => x.Count) }");
        await _run.PutAsync("orders/1", """{"Company":"companies/1"}""", "Orders");
        await _run.PutAsync("orders/2", """{"Company":"companies/1"}""", "Orders");
        Assert.Equal(["""{"Count":2}"""], await _run.AskAsync("from index ByCompany"));
        await _run.PutAsync("companies/1", """{"Name":"Treepie"}""", "Companies");
        Assert.Equal(["""{"Name":"Treepie","Count":2}"""], await _run.AskAsync("from index ByCompany"));
        long etag = await EtagAsync();
        await _run.PutAsync("companies/1", """{"Name":"Magpie"}""", "Companies");
        Assert.Equal(["""{"Name":"Magpie","Count":2}"""], await _run.AskAsync("from index ByCompany"));
        Assert.NotEqual(etag, await EtagAsync());

        async Task<long> EtagAsync()
        {
            using QueryResults results = await _run.QueryAsync("from index ByCompany");
            return results.ResultEtag;
        }
    }

    [Fact]
    public async Task A_change_that_concerns_very_many_documents_is_not_looked_at_in_passing()
    {
        const int Count = DocumentIndex.MaxTailChanges + 100;
        Define(
            "ByCompany",
            ["from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") select new { Name = c.Name, Count = 1 }"],
            "from r in results group r by r.Name into g select new { Name = g.Key, Count = g.Sum(x => x.Count) }");
        await _run.PutManyAsync("orders", Count, """{"Company":"companies/1"}""", "Orders");
        await _run.WaitAsync();
        _run.Database.Indexes.Control.Pause();
        await _run.PutAsync("companies/1", """{"Name":"Treepie"}""", "Companies");
        var request = new QueryRequest
        {
            Text = "from index ByCompany",
            NeverStale = true,
            WaitTimeout = TimeSpan.FromMilliseconds(1)
        };
        TimeoutException error = await Assert.ThrowsAsync<TimeoutException>(
            () => _run.Database.QueryAsync(request, TestContext.Current.CancellationToken));
        Assert.Contains("concern more than 16,384 documents", error.Message, StringComparison.Ordinal);
        _run.Database.Indexes.Control.Resume();
        Assert.Equal([$$"""{"Name":"Treepie","Count":{{Count}}}"""], await _run.AskAsync("from index ByCompany"));
    }

    [Fact]
    public async Task Groups_of_very_many_documents_that_are_gone_do_not_hold_up_an_index()
    {
        const int Count = 40_000;
        Define(
            "ByCompany",
            ["from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") select new { Name = c.Name, Count = 1 }"],
            "from r in results group r by r.Name into g select new { Name = g.Key, Count = g.Sum(x => x.Count) }");
        await _run.PutManyAsync("orders", Count, """{"Company":"companies/1"}""", "Orders");
        await _run.WaitAsync();
        _run.Database.Indexes.Control.Pause();
        await _run.PutAsync("companies/1", """{"Name":"Treepie"}""", "Companies");
        await _run.DeleteManyAsync("orders", Count);
        _run.Database.Indexes.Control.Resume();
        Assert.True(
            await _run.Database.Indexes.WaitForNonStaleAsync(
                TimeSpan.FromMinutes(2), null, TestContext.Current.CancellationToken));
        Assert.Empty(await _run.AskAsync("from index ByCompany"));
    }

    [Fact]
    public async Task A_reduce_that_fails_is_told_of_its_group_alone()
    {
        Define(
            "Parts", ["from o in docs.Orders select new { o.City, Part = o.Freight, Nothing = 0 }"],
            "from r in results group r by r.City into g select new { City = g.Key, Part = g.Sum(x => x.Part), "
                + "Nothing = 0 / g.Sum(x => x.Part) }");
        await _run.PutAsync("orders/1", """{"City":"Bern","Freight":2}""", "Orders");
        await _run.PutAsync("orders/2", """{"City":"Rome","Freight":0}""", "Orders");
        Assert.Equal(
            ["Bern"],
            (await _run.AskAsync("from index Parts")).Select(
                row => JsonDocument.Parse(row).RootElement.GetProperty("City").GetString()));
        IndexError error = Assert.Single(_run.Database.Indexes.Errors("Parts"));
        Assert.Equal(("Reduce", null), (error.Action, error.DocumentId));
        Assert.Contains("Rome", error.Message, StringComparison.Ordinal);
        await _run.PutAsync("orders/2", """{"City":"Rome","Freight":4}""", "Orders");
        Assert.Equal(2, (await _run.AskAsync("from index Parts")).Count);
        Assert.Empty(_run.Database.Indexes.Errors("Parts"));
    }

    [Theory]
    [InlineData(
        Map, "from r in results group r by r.City into g select new { City = g.Key, Count = g.Sum(x => x.Count) }",
        "both must give the same fields")]
    [InlineData(
        Map,
        "from r in results group r by r.Town into g select new { City = g.Key, Count = g.Sum(x => x.Count), Total = g.Sum(x => "
            + "x.Total) }",
        "'Town'")]
    [InlineData(
        "from o in docs.Orders select new { o.City, Count = 1 }",
        "from r in results group r by r.City into g select new { City = g.Key, Count = g.Count() }", "reduced a second time")]
    [InlineData(
        "from o in docs.Orders select new { o.City, Count = 1 }",
        "from r in results group r by r.City into g select new { City = \"all\", Count = g.Sum(x => x.Count) }", "another key")]
    public async Task What_cannot_be_reduced_again_is_refused(string map, string reduce, string message)
    {
        AssertRefused(map, reduce, message); // also where there is no document to try it with
        await _run.PutAsync("orders/1", """{"City":"Bern","Freight":2}""", "Orders");
        AssertRefused(map, reduce, message);
    }

    [Fact]
    public async Task Groups_of_random_documents_are_what_LINQ_says()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        Define("Orders/ByCity", [Map], Reduce);
        var there = new SortedDictionary<string, (string City, int Freight)>(StringComparer.Ordinal);
        for (int step = 0; step < 30; step++)
        {
            for (int i = random.Next(40); i > 0; i--)
            {
                string id = $"orders/{random.Next(300)}";
                if (random.Next(4) == 0)
                {
                    there.Remove(id);
                    await _run.DeleteAsync(id);
                    continue;
                }

                there[id] = ($"c{Math.Max(0, random.Next(12) - 6)}", random.Next(1000));
                await _run.PutAsync(
                    id,
                    string.Create(
                        CultureInfo.InvariantCulture, $"{{\"City\":\"{there[id].City}\",\"Freight\":{there[id].Freight}}}"),
                    "Orders");
            }

            if (random.Next(5) == 0)
                _run.Reopen();
            string[] expected = [.. there.Values.GroupBy(order => order.City).OrderBy(group => group.Key, StringComparer.Ordinal)
                .Select(
                    group => string.Create(
                        CultureInfo.InvariantCulture,
                        $"{{\"City\":\"{group.Key}\",\"Count\":{group.Count()},\"Total\":"
                            + $"{group.Sum(order => order.Freight)}}}"))];
            Assert.Equal(expected, await _run.AskAsync("from index 'Orders/ByCity' order by City"));
        }
    }

    private void AssertRefused(string map, string reduce, string message)
    {
        InvalidIndexDefinitionException error = Assert.Throws<InvalidIndexDefinitionException>(() => Define("X", [map], reduce));
        Assert.Contains(message, error.Message, StringComparison.Ordinal);
        Assert.Empty(_run.Database.Indexes.List());
    }

    private void Define(string name, string[] maps, string reduce)
    {
        using JsonDocument json = JsonDocument.Parse(
            $"{{\"Name\":{JsonSerializer.Serialize(name)},\"Maps\":{JsonSerializer.Serialize(maps)},\"Reduce\":"
                + $"{JsonSerializer.Serialize(reduce)},\"Fields\":{{}}}}");
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
    }
}
