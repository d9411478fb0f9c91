using System.Buffers;
using System.Text;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>JavaScript over the groups of <c>group by</c>: selections, functions, filters and loaded documents.</summary>
public sealed class GroupScriptTests : IAsyncLifetime
{
    private static readonly DatabaseOptions _options = new() { Computing = new TextComputingEngine() };

    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public GroupScriptTests() => _database = Database.Open(_directory.Path, _options);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        using var batch = new WriteBatch(_options);
        batch.Put("companies/1", """{"Name":"Alfreds","@metadata":{"@collection":"Companies"}}"""u8.ToArray());
        foreach ((string id, string json) in (ReadOnlySpan<(string, string)>)
        [
            ("orders/1", """{"Company":"companies/1","ShipTo":{"City":"Bern"},"Freight":0.1,"Tags":["a","b"]"""),
            ("orders/2", """{"Company":"companies/1","ShipTo":{"City":"Bern"},"Freight":0.2,"Tags":["a"]"""),
            ("orders/3", """{"Company":"companies/2","ShipTo":{"City":"Rome"},"Freight":7,"Tags":[]"""),
        ])
            batch.Put(id, Encoding.UTF8.GetBytes(json + ""","@metadata":{"@collection":"Orders"}}"""));
        await _database.WriteAsync(batch, Cancel);
    }

    public async ValueTask DisposeAsync()
    {
        await _database.DisposeAsync();
        _directory.Dispose();
    }

    [Theory]
    [InlineData(
        "from Orders as o group by o.ShipTo.City order by o.ShipTo.City select { C: o.ShipTo.City, N: count(), F: sum(o.Freight) * 10 }",
        """{"C":"Bern","N":2,"F":3} {"C":"Rome","N":1,"F":70}""")]
    [InlineData(
        "from Orders as o group by ShipTo.City as Place order by Place select { P: o.Place, Q: o.ShipTo.City, K: key() }",
        """{"P":"Bern","Q":"Bern","K":"Bern"} {"P":"Rome","Q":"Rome","K":"Rome"}""")]
    [InlineData(
        "from Orders as o group by Company, ShipTo.City order by ShipTo.City select { K: key()['ShipTo.City'], M: max( Freight ) }",
        """{"K":"Bern","M":0.2} {"K":"Rome","M":7}""")]
    [InlineData(
        "from Orders as o group by ShipTo.City order by ShipTo.City select { T: `count() ${`(${count()})`}`, "
            + "S: 'count()', M: Math.max(1, 2), /* sum(Tax) */ X: [1, 2].map(n => n + count()) } // count()\n",
        """{"T":"count() (2)","S":"count()","M":2,"X":[3,4]} {"T":"count() (1)","S":"count()","M":2,"X":[2,3]}""")]
    [InlineData(
        "from Orders as o group by array(Tags[]) where array(Tags[]) = 'b' select { T: array(o.Tags[]).length }", """{"T":2}""")]
    [InlineData(
        "declare function f(o, total) { return { City: o.ShipTo.City, Total: total, Count: o['count()'] }; } "
            + "from Orders as o group by o.ShipTo.City order by o.ShipTo.City desc select f(o, sum(Freight))",
        """{"City":"Rome","Total":7,"Count":1} {"City":"Bern","Total":0.3,"Count":2}""")]
    [InlineData(
        "declare function big(o, n) { return o.ShipTo.City === 'Bern' && n > 1; } "
            + "from Orders as o group by o.ShipTo.City filter big(o, count()) select o.ShipTo.City as C, big(o, count()) as B",
        """{"C":"Bern","B":true}""")]
    [InlineData(
        "from Orders as o group by o.Company order by o.Company load o.Company as c select c.Name as N, count() as Orders",
        """{"N":"Alfreds","Orders":2} {"N":null,"Orders":1}""")]
    [InlineData(
        "from Orders group by Company load Company as c filter c.Name = 'alfreds' select { N: c.Name, S: sum(Freight) }",
        """{"N":"Alfreds","S":0.3}""")]
    [InlineData(
        "declare function count() { return 'own'; } from Orders group by Company select distinct { N: count() }",
        """{"N":"own"}""")]
    public async Task A_script_has_keys_and_aggregates(string text, string expected) =>
        Assert.Equal(expected, string.Join(' ', await AskAsync(text)));

    [Fact]
    public async Task What_is_no_aggregate_in_a_script_fails_with_its_place()
    {
        ScriptException error = await Assert.ThrowsAsync<ScriptException>(
            () => AskAsync("from Orders as o group by o.Company\nselect { N: sum(x => x) }"));
        Assert.Equal(2, error.Line);
        Assert.Contains("sum is not defined", error.Message, StringComparison.Ordinal);
    }

    private async Task<List<string>> AskAsync(string text)
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = text, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience }, Cancel);
        var rows = new List<string>();
        while (results.MoveNext())
        {
            var json = new ArrayBufferWriter<byte>();
            results.WriteCurrent(json);
            string row = Encoding.UTF8.GetString(json.WrittenSpan);
            rows.Add(row[..row.IndexOf(",\"@metadata\"", StringComparison.Ordinal)] + "}");
        }

        return rows;
    }
}
