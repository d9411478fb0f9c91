using System.Text.Json;
using Treepie.Clients.Tests.Datasets;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Demo;

/// <summary>The sample data of <c>--demo</c>: there after the first start, left to its visitors afterwards.</summary>
public sealed class DemoTests
{
    private const string Loaded = "Sources and licences";

    [Fact]
    public async Task First_start_loads_everything_and_later_ones_complete_or_leave_it()
    {
        using var data = new TemporaryDirectory();
        await using (ServerProcess server = await StartAsync(data))
        {
            Assert.Equal(7150, await CountAsync(server));
            Assert.Contains("treepie query", server.Output, StringComparison.Ordinal);
            await AllOrdersHaveALocationAsync(server);
            await IndexesComputeAsync(server);
            await WhatLiesBesideDocumentsIsThereAsync(server);
            await DeleteAsync(server, "orders/7-A");
            Assert.Equal(0, await server.StopAsync());
        }

        await using (ServerProcess server = await StartAsync(data))
        {
            Assert.Equal(7149, await CountAsync(server)); // what a visitor deleted stays so

            // As if the first load had been interrupted: its last document is missing, and others too.
            foreach (string id in (string[])["about/demo", "movies/6095-A", "movies/17-A"])
                await DeleteAsync(server, id);

            Assert.Equal(0, await server.StopAsync());
        }

        await using (ServerProcess server = await StartAsync(data))
            Assert.Equal(7150, await CountAsync(server));
    }

    private static async Task<ServerProcess> StartAsync(TemporaryDirectory data)
    {
        ServerProcess server = await ServerProcess.StartAsync(data.Path, "--demo");
        await server.WrittenAsync(Loaded);
        return server;
    }

    private static async Task AllOrdersHaveALocationAsync(ServerProcess server)
    {
        QueryAnswer answer = await QueryAnswer.AskAsync(
            server.Http, "demo",
            "from Orders where ShipTo.Location.Latitude between -90 and 90 and ShipTo.Location.Longitude between -180 and 180 "
                + "include Company");
        Assert.Equal(830, answer.Total);
        foreach (JsonElement order in answer.Results)
            Assert.True(answer.Includes.TryGetProperty(order.GetProperty("Company").GetString() ?? "", out _));
    }

    private static async Task IndexesComputeAsync(ServerProcess server)
    {
        QueryAnswer totals = await QueryAnswer.AskAsync(
            server.Http, "demo", "from index 'Orders/Totals' where Country = 'France' order by Month");
        Assert.Equal(23, totals.Total);
        Assert.Equal("1996-07", totals.Results[0].GetProperty("Month").GetString());
        Assert.Equal(77, totals.Results.Sum(static month => month.GetProperty("Orders").GetInt32()));
        QueryAnswer ofCompany = await QueryAnswer.AskAsync(
            server.Http, "demo", "from index 'Orders/ByCompany' where search(Company, 'alfreds')");
        Assert.Equal(6, ofCompany.Total);
        Assert.All(ofCompany.Results, static order => Assert.Equal("companies/1-A", order.GetProperty("Company").GetString()));
        QueryAnswer films = await QueryAnswer.AskAsync(
            server.Http, "demo", "from index 'Movies/Search' where search(Text, 'clooney heist') and Decade = 2000 order by score()");
        Assert.Equal("Ocean's Eleven", films.Results[0].GetProperty("Title").GetString());
    }

    private static async Task WhatLiesBesideDocumentsIsThereAsync(ServerProcess server)
    {
        CancellationToken stop = TestContext.Current.CancellationToken;
        string picture = await server.Http.GetStringAsync("/databases/demo/attachments?id=products/3-A&name=picture.svg", stop);
        Assert.StartsWith("<svg", picture, StringComparison.Ordinal);
        using JsonDocument likes = JsonDocument.Parse(
            await server.Http.GetStringAsync("/databases/demo/counters?docId=products/3-A&counter=likes", stop));
        Assert.Equal(13, likes.RootElement.GetProperty("Counters")[0].GetProperty("TotalValue").GetInt64());
        using JsonDocument revisions = JsonDocument.Parse(
            await server.Http.GetStringAsync("/databases/demo/revisions?id=orders/1-A", stop));
        JsonElement[] versions = [.. revisions.RootElement.GetProperty("Results").EnumerateArray()];
        Assert.Equal(
            [JsonValueKind.String, JsonValueKind.Null], versions.Select(static one => one.GetProperty("ShippedAt").ValueKind));
        QueryAnswer prices = await QueryAnswer.AskAsync(
            server.Http, "demo",
            "from Companies where id() = 'companies/1-A' select timeseries(from StockPrices group by '1 month' select last())");
        Assert.Equal(12, prices.Results[0].GetProperty("timeseries").GetProperty("Results").GetArrayLength());
    }

    private static async Task<long> CountAsync(ServerProcess server)
    {
        using JsonDocument statistics = JsonDocument.Parse(
            await server.Http.GetStringAsync("/databases/demo/collections/stats", TestContext.Current.CancellationToken));
        return statistics.RootElement.GetProperty("CountOfDocuments").GetInt64();
    }

    private static async Task DeleteAsync(ServerProcess server, string id)
    {
        using HttpResponseMessage response = await server.Http.DeleteAsync(
            $"/databases/demo/docs?id={Uri.EscapeDataString(id)}", TestContext.Current.CancellationToken);
        response.EnsureSuccessStatusCode();
    }
}
