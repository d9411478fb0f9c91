using Treepie.Documents.Tests.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Grouping;

/// <summary>What <c>group by</c> answers.</summary>
public sealed class GroupByTests
{
    [Fact]
    public async Task Groups_are_counted_and_summed_up()
    {
        using var folder = new TemporaryDirectory();
        using var database = Database.Open(folder.Path);
        await database.PutAsync("orders/1", """{"ShipTo":{"City":"Berlin"},"Freight":1.5}""", "Orders");
        await database.PutAsync("orders/2", """{"ShipTo":{"City":"Bern"},"Freight":2}""", "Orders");
        await database.PutAsync("orders/3", """{"ShipTo":{"City":"Berlin"},"Freight":0.1}""", "Orders");
        Answer answer = await database.AskAsync(
            "from Orders group by ShipTo.City where count() >= 1 order by count() as long desc, sum(Freight) as double select ShipTo.City, count(), sum(Freight) as Total");
        Assert.Equal(["""{"ShipTo.City":"Berlin","Count":2,"Total":1.6}""", """{"ShipTo.City":"Bern","Count":1,"Total":2}"""], answer.Bodies);
        Assert.Equal("Auto/Orders/ByCountAndFreightReducedByShipTo.City", answer.Index);
    }
}
