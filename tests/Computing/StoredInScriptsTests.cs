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
            ["""{"Id":"a"}"""], await _run.AskAsync("from index Totals as o where o.Total > 5 and count(o.Total) = 1 select Id limit 1"));
        _run.Define("Unkept", "from o in docs.Orders select new { Twice = o.Total * 2, o.City }");
        foreach (string field in (string[])["Twice", "City"])
        {
            InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(
                () => _run.AskAsync($"from index Unkept as o where o.Total < o.{field}"));
            Assert.Contains($"'{field}' is computed by the map", refused.Message, StringComparison.Ordinal);
        }
    }

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
