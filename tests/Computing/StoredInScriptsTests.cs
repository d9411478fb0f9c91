using System.Buffers;
using System.Text;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>What filters and scripts of queries see of fields that an index keeps.</summary>
public sealed class StoredInScriptsTests : IDisposable
{
    private const string Scripted = "declare function yes(o) { return true; } ";

    private readonly IndexRunner _run = new();

    [Theory]
    [InlineData("from index Totals as o select { T: o.Total * 2, C: o.City }", """{"T":12,"C":"BERN"}""")]
    [InlineData("from index Totals as o filter o.Total > 5 select Id", """{"Id":"a"}""")]
    [InlineData("from index Totals as o filter o.Total < 5 select Id", "")]
    [InlineData(Scripted + "from index Totals as o filter yes(o) and o.Total > 5 and City = 'bern' select Id", """{"Id":"a"}""")]
    [InlineData(Scripted + "from index Totals as o filter yes(o) and o.Total < 5 select Id", "")]
    [InlineData("declare function f(o) { return { T: o.Total }; } from index Totals as o select f(o)", """{"T":6}""")]
    [InlineData("from index Totals as o load o.Next as n select o.Total, n.Total as Other", """{"Total":6,"Other":1}""")]
    [InlineData("from index Totals as o select { Keys: Object.keys(o).filter(k => k != '@metadata').sort().join() }",
        """{"Keys":"City,Id,Next,Total"}""")]
    [InlineData("from index Renamed as o select { P: o.Place, I: o.Key }", """{"P":"Bern","I":"orders/1"}""")]
    [InlineData("from index Renamed as o filter o.Place = 'bern' and Key = 'orders/1' select City", """{"City":"Bern"}""")]
    public async Task They_see_fields_as_a_selection_does(string query, string expected)
    {
        await FillAsync();
        Assert.Equal(expected, string.Join(' ', await _run.AskAsync(query + (expected.Length > 0 ? " limit 1" : ""))));
    }

    [Fact]
    public async Task A_condition_examines_what_an_index_keeps_and_refuses_what_it_does_not()
    {
        await FillAsync();
        Assert.Equal(
            ["""{"Id":"a"}"""],
            await _run.AskAsync("from index Totals as o where o.Total > 5 and count(o.Total) = 1 select Id limit 1"));
        _run.Define("Unkept", "from o in docs.Orders select new { Twice = o.Total * 2, City = o.Place }");
        foreach (string condition in (string[])
            [
                "o.Total < »o.Twice", "o.Total < »City", "count(»Twice[]) > 0", "count(»o.Twice.X) > 0", "»Twice[0].X = Total.X",
                "Total < »City[].A.B", "any(Total as t, t > »City)", "any(»City as City, City > 1)",
                "any(Total as t, exists(»'City.X'))", "any(Total as City, »City[0] = 1)",
            ])
        {
            InvalidQueryException refused = await RefusedAsync($"from index Unkept as o where {condition}");
            int column = "from index Unkept as o where ".Length + condition.IndexOf('»', StringComparison.Ordinal) + 1;
            Assert.Equal(column, refused.Column);
            Assert.Matches("'(Twice|City)' is a field of the index 'Unkept', which does not keep it", refused.Message);
        }

        // the name of an element is no field
        Assert.Single(await _run.AskAsync("from index Unkept where any(Total as City, City = Total)"));
        Assert.Single(await _run.AskAsync("from index Unkept where count(Total as City, City > 0) = 1"));
    }

    [Theory]
    [InlineData("from o in docs.Orders let c = o.City.ToUpper() select new { City = c, o.Total }", true)]
    [InlineData("docs.Orders.Select(o => new { City = o.City.ToUpper(), o.Total })", true)]
    [InlineData("from o in docs.Orders from l in new[] { o.City } select new { City = l, o.Total }", true)]
    [InlineData("from o in docs.Orders let c = o.City.ToUpper() select new { City = c, Total = o.Next }", false)]
    [InlineData("from o in docs.Orders let n = o.Next select new { n.Total }", false)]
    [InlineData("from o in docs.Orders select o.City == null ? new { Total = 1, X = 2 } : new { o.Total, X = 2 }", false)]
    [InlineData("docs.Orders.Select(o => new { o.Total, X = 1 }).Concat(new[] { new { Total = 7, X = 1 } })", false)]
    [InlineData("from o in docs.Orders select new { Total = 1 + o.Total } into o select new { o.Total }", false)]
    public async Task A_condition_examines_what_a_map_only_copies(string map, bool isCopied)
    {
        await FillAsync();
        _run.Define("Copied", map);
        const string Query = "from index Copied where count(Total) = 0 and Total = utc(Total)";
        if (isCopied)
            Assert.Empty(await _run.AskAsync(Query));
        else
            Assert.Contains("does not keep it", (await RefusedAsync(Query)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_condition_examines_no_copy_that_another_map_computes()
    {
        await FillAsync();
        string[] maps =
        [
            "from o in docs.Orders let c = 1 select new { C = c, o.Total }",
            "from o in docs.Others let c = 1 select new { C = c, o.Total }"
        ];
        _run.Define("Several", maps);
        Assert.Single(await _run.AskAsync("from index Several where count(Total) = 1"));
        maps[1] = maps[1].Replace("o.Total", "Total = o.Total + 1", StringComparison.Ordinal);
        _run.Define("Others", maps);
        Assert.Contains(
            "does not keep it", (await RefusedAsync("from index Others where count(Total) = 1")).Message,
            StringComparison.Ordinal);
    }

    private Task<InvalidQueryException> RefusedAsync(string marked) => Assert.ThrowsAsync<InvalidQueryException>(
        () => _run.AskAsync(marked.Replace("»", "", StringComparison.Ordinal)));

    [Theory]
    [InlineData(ProjectionBehavior.Default, "BERN 6 a orders/1")]
    [InlineData(ProjectionBehavior.FromDocument, "Bern 1 a orders/1")]
    [InlineData(ProjectionBehavior.FromIndex, "BERN 6 undefined orders/1")]
    public async Task A_selection_takes_them_from_where_it_is_told(ProjectionBehavior behavior, string expected)
    {
        await FillAsync();
        using QueryResults results = await _run.Database.QueryAsync(
            new QueryRequest
            {
                Text = "from index Totals as o filter o.Total > 5 "
                    + "select { R: `${o.City} ${o.Total} ${o.Id} ${o['@metadata']['@id']}` }",
                ProjectionBehavior = behavior,
                WaitForNonStaleResults = true,
                WaitTimeout = Eventually.Patience
            }, TestContext.Current.CancellationToken);
        Assert.True(results.MoveNext());
        var json = new ArrayBufferWriter<byte>();
        results.WriteCurrent(json);
        Assert.StartsWith($"{{\"R\":\"{expected}\"", Encoding.UTF8.GetString(json.WrittenSpan), StringComparison.Ordinal);
    }

    public void Dispose() => _run.Dispose();

    private async Task FillAsync()
    {
        await _run.PutAsync("orders/1", """{"Id":"a","City":"Bern","Total":1,"Next":"orders/1"}""", "Orders");
        _run.Define(
            "Totals", "from o in docs.Orders select new { City = o.City.ToUpper(), Total = o.Total + 5, o.Id }",
            """{"City":{"Storage":"Yes"},"Total":{"Storage":"Yes"} }""");
        using var json = System.Text.Json.JsonDocument.Parse(
            """
            {"Name":"Renamed","Collections":["Orders"],
             "Fields":{"Place":{"Path":"City"},"Key":{"Path":"id()"},"City":{}}}
            """);
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
    }
}
