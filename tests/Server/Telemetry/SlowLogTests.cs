using Treepie.Server.Hosting;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Telemetry;

/// <summary>What is written down of requests that take long.</summary>
public sealed class SlowLogTests
{
    [Fact]
    public async Task A_slow_query_is_logged_with_its_text_and_plan_and_without_its_parameters_and_terms()
    {
        await using SecuredServer server = await SecuredServer.StartAsync("--slow-request-seconds", "0");
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        await server.AdministerAsync(
            HttpMethod.Put, "/databases/shop/docs?id=orders/1", """{"City":"Rouen","@metadata":{"@collection":"Orders"}}""");
        await server.AdministerAsync(
            HttpMethod.Post, "/databases/shop/queries",
            """{"Query":"from Orders\nwhere City = $c","QueryParameters":{"c":"Rouen"},"WaitForNonStaleResults":true}""");
        await server.AdministerAsync(HttpMethod.Post, "/databases/shop/queries", """{"Query":"from Orders"}""");
        string[] lines =
            [.. server.Error.Split('\n').Where(static line => line.StartsWith("Treepie.Slow: ", StringComparison.Ordinal))];
        string found = Assert.Single(
            lines, static line => line.Contains("Query: from Orders where City = $c Plan: ", StringComparison.Ordinal));
        Assert.Contains("City [1]", found, StringComparison.Ordinal);
        Assert.DoesNotContain("rouen", found, StringComparison.OrdinalIgnoreCase);
        Assert.Contains(
            lines, static line => line.Contains("Query: from Orders Plan: scan of documents [1]", StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.Contains("PUT /databases/shop/docs → 201", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Fast_requests_are_not_logged()
    {
        await using SecuredServer server = await SecuredServer.StartAsync("--slow-request-seconds", "60");
        await server.AdministerAsync(HttpMethod.Get, "/databases");
        Assert.DoesNotContain("Treepie.Slow", server.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("-1")]
    [InlineData("soon")]
    [InlineData("86401")]
    public void A_time_that_is_none_is_refused(string value)
    {
        CommandLineException error = Assert.Throws<CommandLineException>(
            () => CommandLineParser.Parse([$"--slow-request-seconds={value}"]));
        Assert.Contains("--slow-request-seconds", error.Message, StringComparison.Ordinal);
    }
}
