using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Conditions and orders by place, over documents.</summary>
public sealed class SpatialQueryTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public SpatialQueryTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync(
            "shops/reims",
            """{"Name":"Reims","Employee":"employees/5-A","Company":"companies/85-A","At":{"Lat":49.255958,"Lng":4.1547448},"Area":"POLYGON((4 49, 5 49, 5 50, 4 50, 4 49))"}""",
            "Shops");
        await _database.PutAsync(
            "shops/epernay",
            """{"Name":"Épernay","Employee":"employees/1-A","Company":"companies/85-A","At":{"Lat":49.04,"Lng":3.96},"Area":"POINT(3.96 49.04)"}""",
            "Shops");
        await _database.PutAsync(
            "shops/paris",
            """{"Name":"Paris","Employee":"employees/5-A","Company":"companies/1-A","At":{"Lat":48.8566,"Lng":2.3522},"Area":["POINT(2.35 48.86)","POINT(4.15 49.25)"]}""",
            "Shops");
        await _database.PutAsync(
            "shops/suva", """{"Name":"Suva","At":{"Lat":-18.14,"Lng":178.44},"Area":"LINESTRING(178 -18, -178 -18)"}""", "Shops");
        await _database.PutAsync("shops/nowhere", """{"Name":"Nowhere","At":{"Lat":null,"Lng":null},"Area":null}""", "Shops");
        await _database.PutAsync("shops/web", """{"Name":"Web"}""", "Shops");
        await _database.PutAsync("routes/1", """{"Stops":[{"Lat":49.25,"Lng":4.15},{"Lat":-18.14,"Lng":178.44}]}""", "Routes");
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("spatial.within(spatial.point(At.Lat, At.Lng), spatial.circle(10, 49.255, 4.154, 'miles'))", "shops/reims")]
    [InlineData("spatial.within(spatial.point(At.Lat, At.Lng), spatial.circle(30, 49.255, 4.154))", "shops/reims shops/epernay")]
    [InlineData(
        "spatial.within(spatial.point(At.Lat, At.Lng), spatial.circle(30, 49.255, 4.154, 'miles')) and Company = "
            + "'companies/85-A' and Employee = 'employees/5-a'",
        "shops/reims")]
    [InlineData("spatial.within(s.At.Lat, spatial.wkt('POINT(1 2)'))", "")]
    [InlineData(
        "spatial.intersects(spatial.wkt(Area), spatial.circle(1, 49.255, 4.154, 'kilometers'))", "shops/reims shops/paris")]
    [InlineData("spatial.within(spatial.wkt(Area), spatial.wkt($box))", "shops/reims shops/epernay shops/paris")]
    [InlineData("spatial.contains(spatial.wkt(Area), spatial.point(49.5, 4.5), 2.5)", "shops/reims")]
    [InlineData("spatial.intersects(Area, spatial.wkt('LINESTRING(180 -20, 180 -10)'))", "shops/suva")]
    [InlineData("spatial.disjoint(spatial.wkt('Area'), spatial.wkt($box))", "shops/suva")]
    [InlineData("spatial.disjoint(spatial.point(At.Lat, At.Lng), spatial.circle(1000, 49.255, 4.154))", "shops/suva")]
    [InlineData("spatial.within(spatial.point(At.Lat, At.Lng), spatial.circle(400, -18, -179))", "shops/suva")]
    [InlineData(
        "exists(Name) and not spatial.within(spatial.point(At.Lat, At.Lng), spatial.circle($r, 49, 4))",
        "shops/suva shops/nowhere shops/web")]
    public async Task Conditions_find_what_lies_there(string condition, string ids)
    {
        Answer answer = await _database.AskAsync(
            $"from Shops as s where {condition}", """{"box":"ENVELOPE(2, 6, 51, 48)","r":500}""");
        Assert.Equal(ids.Split(' ', StringSplitOptions.RemoveEmptyEntries).Order(), answer.Ids.Order());
    }

    [Fact]
    public async Task An_order_by_distance_says_how_far_and_ends_with_what_is_nowhere()
    {
        Answer answer = await _database.AskAsync(
            "from Shops order by spatial.distance(spatial.point(At.Lat, At.Lng), spatial.point(49.255958, 4.1547448)), Name");
        Assert.Equal("shops/reims shops/epernay shops/paris shops/suva shops/nowhere shops/web", string.Join(' ', answer.Ids));
        JsonNode? spatial = answer.Rows[1]["@metadata"]?["@spatial"];
        Assert.Equal(27.9, (double?)spatial?["Distance"] ?? 0, 0.1);
        Assert.Equal((49.04, 3.96), ((double?)spatial?["Latitude"], (double?)spatial?["Longitude"]));
        Assert.Null(answer.Rows[5]["@metadata"]?["@spatial"]);

        answer = await _database.AskAsync(
            "from Shops order by spatial.distance(spatial.point(At.Lat, At.Lng), spatial.wkt('POINT(4.1547448 49.255958)'), "
                + "1000), Name desc limit 3");
        Assert.Equal("shops/epernay shops/reims shops/paris", string.Join(' ', answer.Ids));
        answer = await _database.AskAsync(
            "from Shops order by spatial.distance(spatial.point(At.Lat, At.Lng), spatial.point(49, 4)) desc limit 1 ");
        Assert.Equal("shops/suva", string.Join(' ', answer.Ids));
    }

    [Fact]
    public async Task Places_of_an_array_are_brought_together_one_by_one()
    {
        Answer answer = await _database.AskAsync(
            "from Routes where spatial.within(spatial.point(Stops[].Lat, Stops[].Lng), spatial.circle(5, 49.25, 4.15))");
        Assert.Equal("Auto/Routes/BySpatial.point(Stops[].Lat|Stops[].Lng)", answer.Index);
        Assert.Equal(["routes/1"], answer.Ids);
        Assert.Empty(
            (await _database.AskAsync(
                "from Routes where spatial.within(spatial.point(Stops[].Lat, Stops[].Lng), spatial.circle(5, -18.14, 4.15))")).Ids);
    }

    [Fact]
    public async Task The_query_of_many_clauses_is_answered_in_its_order()
    {
        Answer answer = await _database.AskAsync(
            "from Shops where spatial.within(spatial.point(At.Lat, At.Lng), spatial.circle(100, 49.255, 4.154, 'miles')) and "
                + "(Employee = 'employees/5-A' or Company = 'companies/85-A') order by Company, score() include timings()");
        Assert.Equal("shops/paris shops/reims shops/epernay", string.Join(' ', answer.Ids));
    }

    [Fact]
    public async Task An_index_defined_by_hand_answers_by_the_name_of_its_place()
    {
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Orders/ByShipment/Location",
            Collections = ["Shops"],
            Fields =
            [
                new() { Name = "ShipmentLocation", Spatial = new() { Latitude = "At.Lat", Longitude = "At.Lng" } },
                new() { Name = "Employee" },
                new() { Name = "Company" },
            ],
        });
        Answer answer = await _database.AskAsync(
            "from index 'Orders/ByShipment/Location' where spatial.within(ShipmentLocation, spatial.circle(10, 49.255, 4.154, "
                + "'miles')) and (Employee = 'employees/5-A' or Company = 'companies/85-A') order by Company, score() include "
                + "timings()");
        Assert.Equal(["shops/reims"], answer.Ids);
        Assert.Equal(
            "shops/reims shops/epernay",
            string.Join(
                ' ',
                (await _database.AskAsync(
                    "from index 'Orders/ByShipment/Location' order by spatial.distance(ShipmentLocation, spatial.point(49.3, "
                        + "4.2)) limit 2")).Ids));
    }

    [Fact]
    public async Task A_place_that_is_none_is_told_and_the_rest_of_the_document_is_found()
    {
        await _database.PutAsync(
            "shops/wrong", """{"Name":"Wrong","At":{"Lat":99,"Lng":0},"Area":"POLYGON((0 0, 1 1))"}""", "Shops");
        Assert.Equal(
            ["shops/wrong"],
            (await _database.AskAsync(
                "from Shops where Name = 'wrong' and not spatial.within(spatial.point(At.Lat, At.Lng), spatial.circle(1, 2, 3)) "
                    + "and not spatial.within(spatial.wkt(Area), spatial.circle(1, 2, 3))")).Ids);
        Assert.Contains("shops/wrong", _database.Indexes.List()[0].Error, StringComparison.Ordinal);
        Assert.Equal(1, _database.Indexes.List()[0].ErrorCount);
    }

    [Theory]
    [InlineData("spatial.within(Area, spatial.circle(1, 99, 4))", "latitude")]
    [InlineData("spatial.within(Area, spatial.circle(-1, 9, 4))", "radius")]
    [InlineData("spatial.within(Area, spatial.circle(1, 9, 4, 'leagues'))", "no unit")]
    [InlineData("spatial.within(Area, spatial.wkt('POLYGON((0 0, 10 10, 10 0, 0 10, 0 0))'))", "crosses")]
    [InlineData("spatial.within(Area, spatial.wkt('nonsense'))", "Expected POINT")]
    [InlineData("spatial.within(Area, 5)", "Expected a shape")]
    [InlineData("spatial.within(Area)", "2 or 3 arguments")]
    [InlineData("spatial.within(Area, spatial.circle('x', 9, 4))", "the radius")]
    [InlineData("spatial.within(Area, spatial.circle(1, 9, 4), 500)", "percentage")]
    [InlineData("spatial.within(spatial.circle(1, 9, 4), spatial.circle(1, 9, 4))", "field of places")]
    public async Task What_is_no_shape_is_refused_with_its_place_in_the_query(string condition, string reason)
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync($"from Shops where {condition}"));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        Assert.Contains("line 1, column", error.Message, StringComparison.Ordinal);
    }
}
