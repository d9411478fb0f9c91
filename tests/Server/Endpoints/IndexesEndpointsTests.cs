using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Indexes over HTTP: switches, plans as JSON and as a picture, budgets.</summary>
public sealed class IndexesEndpointsTests
{
    private const string Definition = """{"Indexes":[{"Name":"ByName","Collections":["Users"],"Fields":{"name":{}},"Priority":"High"}]}""";

    [Fact]
    public async Task Lock_priority_disabling_and_pausing_are_set_and_told()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutIndexAsync(server, Definition, HttpStatusCode.Created);
        await NoContentAsync(server, "indexes/set-lock", """{"IndexNames":["ByName"],"Mode":"LockedError"}""");
        Assert.Equal(("LockedError", "High", "Normal", "Running"), await StateAsync(server));

        string changed = Definition.Replace("\"name\":{}", "\"age\":{}", StringComparison.Ordinal);
        using (HttpResponseMessage refused = await server.SendAsync(HttpMethod.Put, "admin/indexes", changed))
            Assert.Contains("locked", await TestServer.ErrorOf(refused, HttpStatusCode.BadRequest, ".IndexCompilationException"), StringComparison.Ordinal);
        await NoContentAsync(server, "indexes/set-lock", """{"IndexNames":["ByName"],"Mode":"Unlock"}""");
        await NoContentAsync(server, "indexes/set-priority", """{"IndexNames":["ByName"],"Priority":"Low"}""");
        await NoContentAsync(server, "admin/indexes/disable?name=ByName&clusterWide=false", null);
        Assert.Equal(("Unlock", "Low", "Disabled", "Disabled"), await StateAsync(server));
        await NoContentAsync(server, "admin/indexes/enable?name=ByName&clusterWide=false", null);
        await NoContentAsync(server, "admin/indexes/stop?name=ByName", null);
        Assert.Equal(("Unlock", "Low", "Normal", "Paused"), await StateAsync(server));
        Assert.Equal("Running", (await server.GetAsync("indexes/status")).GetProperty("Status").GetString());
        await NoContentAsync(server, "admin/indexes/stop", null);
        Assert.Equal("Paused", (await server.GetAsync("indexes/status")).GetProperty("Status").GetString());
        await NoContentAsync(server, "admin/indexes/start", null);
        Assert.Equal(("Unlock", "Low", "Normal", "Running"), await StateAsync(server));
    }

    [Fact]
    public async Task What_cannot_be_set_is_refused_and_changes_nothing()
    {
        (string Url, string? Body, bool IsUnknown, string Hint)[] cases =
        [
            ("indexes/set-lock", """{"IndexNames":["ByName"],"Mode":"Ajar"}""", false, "LockedIgnore"),
            ("indexes/set-lock", """{"IndexNames":["ByName"],"Mode":"1"}""", false, "LockedIgnore"),
            ("indexes/set-lock", """{"IndexNames":["ByName","Auto/Users/Byx"],"Mode":"LockedError"}""", false, "Auto/Users/Byx"),
            ("indexes/set-lock", """{"Mode":"LockedError"}""", false, "IndexNames"),
            ("indexes/set-priority", """{"IndexNames":["ByName","Nobody"],"Priority":"Low"}""", true, "Nobody"),
            ("indexes/set-priority", """{"IndexNames":["ByName"],"Priority":5}""", false, "Priority"),
            ("admin/indexes/disable?name=Nobody", null, true, "Nobody"),
            ("admin/indexes/disable", null, false, "name"),
            ("admin/indexes/stop?name=Nobody", null, true, "Nobody"),
        ];
        await using TestServer server = await TestServer.StartAsync();
        await PutIndexAsync(server, Definition, HttpStatusCode.Created);
        foreach ((string url, string? body, bool isUnknown, string hint) in cases)
        {
            using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, url, body);
            string message = await TestServer.ErrorOf(
                response, isUnknown ? HttpStatusCode.InternalServerError : HttpStatusCode.BadRequest, isUnknown ? ".IndexDoesNotExistException" : ".BadRequestException");
            Assert.Contains(hint, message, StringComparison.Ordinal);
        }

        Assert.Equal(("Unlock", "High", "Normal", "Running"), await StateAsync(server));
    }

    [Fact]
    public async Task Statistics_are_skipped_where_a_query_says_so()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < 20; i++)
            await server.PutAsync($"users/{i}", $$$"""{"age":{{{i}}},"@metadata":{"@collection":"Users"}}""");
        const string Body = """{"Query":"from Users where age >= 5 order by age as long limit 2","WaitForNonStaleResults":true""";
        using HttpResponseMessage counted = await server.SendAsync(HttpMethod.Post, "queries", Body + "}");
        using HttpResponseMessage skipped = await server.SendAsync(HttpMethod.Post, "queries", Body + ""","SkipStatistics":true}""");
        using JsonDocument whole = JsonDocument.Parse(await counted.Content.ReadAsStringAsync(TestServer.Cancelled));
        using JsonDocument least = JsonDocument.Parse(await skipped.Content.ReadAsStringAsync(TestServer.Cancelled));
        Assert.Equal(15, whole.RootElement.GetProperty("TotalResults").GetInt64());
        Assert.False(whole.RootElement.TryGetProperty("IsTotalExact", out _));
        Assert.Equal(2, least.RootElement.GetProperty("TotalResults").GetInt64());
        Assert.False(least.RootElement.GetProperty("IsTotalExact").GetBoolean());
        Assert.Equal(whole.RootElement.GetProperty("Results").GetRawText(), least.RootElement.GetProperty("Results").GetRawText());
    }

    [Fact]
    public async Task A_plan_comes_as_JSON_and_as_a_picture_and_the_same_on_every_run()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", """{"name":"Ada","age":36,"@metadata":{"@collection":"Users"}}""");
        await server.PutAsync("users/2", """{"name":"Bob","age":20,"@metadata":{"@collection":"Users"}}""");
        const string Query = """{"Query":"from Users where name = 'ada' or age < 30 order by age as long","WaitForNonStaleResults":true}""";
        JsonElement first = await ExplainAsync(server, Query), again = await ExplainAsync(server, Query);
        Assert.Equal(2, first.GetProperty("TotalResults").GetInt64());
        JsonElement plan = first.GetProperty("Timings").GetProperty("QueryPlan");
        Assert.True(plan.GetProperty("Children").GetArrayLength() > 0);
        Assert.Equal(WithoutTimes(plan), WithoutTimes(again.GetProperty("Timings").GetProperty("QueryPlan")));

        using HttpResponseMessage picture = await server.SendAsync(HttpMethod.Post, "queries/explain?format=svg", Query);
        Assert.Equal((HttpStatusCode.OK, "image/svg+xml"), (picture.StatusCode, picture.Content.Headers.ContentType?.MediaType));
        string svg = await picture.Content.ReadAsStringAsync(TestServer.Cancelled);
        Assert.StartsWith("<svg", svg, StringComparison.Ordinal);
        System.Xml.Linq.XDocument.Parse(svg);

        using HttpResponseMessage none = await server.SendAsync(HttpMethod.Post, "queries/explain?format=svg", """{"Query":"from Users"}""");
        Assert.Contains("no plan", await TestServer.ErrorOf(none, HttpStatusCode.BadRequest, ".BadRequestException"), StringComparison.Ordinal);
        using HttpResponseMessage format = await server.SendAsync(HttpMethod.Post, "queries/explain?format=png", Query);
        await TestServer.ErrorOf(format, HttpStatusCode.BadRequest, ".BadRequestException");
    }

    [Fact]
    public async Task A_budget_stops_a_query_and_says_which_and_where()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < 30; i++)
            await server.PutAsync($"users/{i}", $$$"""{"name":"user {{{i}}}","age":{{{i}}},"@metadata":{"@collection":"Users"}}""");
        string query = """{"Query":"from Users where age > 3 order by name","WaitForNonStaleResults":true,"Budget":BUDGET}""";
        using (HttpResponseMessage enough = await server.SendAsync(HttpMethod.Post, "queries", query.Replace("BUDGET", """{"Pages":100000,"Entries":100000,"Milliseconds":60000}""", StringComparison.Ordinal)))
            Assert.Equal(26, (await TestServer.JsonOf(enough, HttpStatusCode.OK)).GetProperty("Results").GetArrayLength());
        foreach ((string budget, string hint) in ((string, string)[])[("""{"Pages":1}""", "1 pages"), ("""{"Entries":1}""", "1 entries")])
        {
            using HttpResponseMessage stopped = await server.SendAsync(HttpMethod.Post, "queries", query.Replace("BUDGET", budget, StringComparison.Ordinal));
            Assert.Contains(hint, await TestServer.ErrorOf(stopped, HttpStatusCode.BadRequest, ".InvalidQueryException"), StringComparison.Ordinal);
        }

        foreach (string budget in (string[])["""{"Pages":0}""", """{"Entries":-1}""", "5", """{"Pages":"many"}"""])
        {
            using HttpResponseMessage refused = await server.SendAsync(HttpMethod.Post, "queries", query.Replace("BUDGET", budget, StringComparison.Ordinal));
            Assert.Equal(HttpStatusCode.BadRequest, refused.StatusCode);
        }
    }

    private static string WithoutTimes(JsonElement plan) =>
        System.Text.RegularExpressions.Regex.Replace(plan.GetRawText(), "\"(ElapsedMicroseconds|ElapsedMs|Elapsed|DurationInMs)\":[-0-9.eE]+", "");

    private static async Task<JsonElement> ExplainAsync(TestServer server, string query)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, "queries/explain", query);
        return await TestServer.JsonOf(response, HttpStatusCode.OK);
    }

    private static async Task PutIndexAsync(TestServer server, string definition, HttpStatusCode expected)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Put, "admin/indexes", definition);
        await TestServer.JsonOf(response, expected);
    }

    private static async Task NoContentAsync(TestServer server, string url, string? body)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, url, body);
        Assert.True(response.StatusCode == HttpStatusCode.NoContent, await response.Content.ReadAsStringAsync(TestServer.Cancelled));
    }

    private static async Task<(string? Lock, string? Priority, string? State, string? Status)> StateAsync(TestServer server)
    {
        JsonElement index = (await server.GetAsync("indexes/stats?name=ByName")).GetProperty("Results")[0];
        JsonElement status = (await server.GetAsync("indexes/status")).GetProperty("Indexes")[0];
        return (index.GetProperty("LockMode").GetString(), index.GetProperty("Priority").GetString(), index.GetProperty("State").GetString(), status.GetProperty("Status").GetString());
    }
}
