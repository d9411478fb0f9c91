using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Indexes over HTTP: switches, plans as JSON and as a picture, budgets.</summary>
public sealed class IndexesEndpointsTests
{
    private const string Definition =
        """{"Indexes":[{"Name":"ByName","Collections":["Users"],"Fields":{"name":{}},"Priority":"High"}]}""";

    [Fact]
    public async Task Several_definitions_are_put_all_or_none()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutIndexAsync(server, Definition, HttpStatusCode.Created);
        await NoContentAsync(server, "indexes/set-lock", """{"IndexNames":["ByName"],"Mode":"LockedError"}""");
        const string Several =
            """
            {"Indexes":[{"Name":"First","Collections":["Users"],"Fields":{"name":{}}},
            {"Name":"ByName","Collections":["Users"],"Fields":{"age":{}}}]}
            """;
        await PutIndexAsync(server, Several, HttpStatusCode.BadRequest);
        using HttpResponseMessage names = await server.SendAsync(HttpMethod.Get, "indexes?namesOnly=true", (string?)null);
        string text = await names.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        Assert.Contains("ByName", text, StringComparison.Ordinal);
        Assert.DoesNotContain("First", text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Lock_priority_disabling_and_pausing_are_set_and_told()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutIndexAsync(server, Definition, HttpStatusCode.Created);
        await NoContentAsync(server, "indexes/set-lock", """{"IndexNames":["ByName"],"Mode":"LockedError"}""");
        Assert.Equal(("LockedError", "High", "Normal", "Running"), await StateAsync(server));

        string changed = Definition.Replace("\"name\":{}", "\"age\":{}", StringComparison.Ordinal);
        using (HttpResponseMessage refused = await server.SendAsync(HttpMethod.Put, "admin/indexes", changed))
            Assert.Contains(
                "locked", await TestServer.ErrorOf(refused, HttpStatusCode.BadRequest, ".IndexCompilationException"),
                StringComparison.Ordinal);
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
                response, isUnknown ? HttpStatusCode.InternalServerError : HttpStatusCode.BadRequest,
                isUnknown ? ".IndexDoesNotExistException" : ".BadRequestException");
            Assert.Contains(hint, message, StringComparison.Ordinal);
        }

        using (HttpResponseMessage state = await server.SendAsync(
            HttpMethod.Put, "admin/indexes",
            Definition.Replace("\"Priority\":\"High\"", "\"State\":\"Asleep\"", StringComparison.Ordinal)))
            Assert.Contains(
                "Asleep", await TestServer.ErrorOf(state, HttpStatusCode.BadRequest, ".BadRequestException"),
                StringComparison.Ordinal);
        Assert.Equal(("Unlock", "High", "Normal", "Running"), await StateAsync(server));
    }

    [Fact]
    public async Task Statistics_say_how_far_behind_an_index_is()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", """{"name":"Ada","@metadata":{"@collection":"Users"}}""");
        using HttpResponseMessage asked = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from Users where name = 'ada'","WaitForNonStaleResults":true}""");
        Assert.Equal(HttpStatusCode.OK, asked.StatusCode);
        JsonElement index = (await server.GetAsync("indexes/stats")).GetProperty("Results")[0];
        Assert.Equal(
            (0, 0, 0),
            (index.GetProperty("WaitingChanges").GetInt32(), index.GetProperty("EtagsBehind")
                .GetInt32(), index.GetProperty("SecondsBehind").GetDouble()));
        Assert.Equal(1, index.GetProperty("LastBatchChanges").GetInt32());
        await NoContentAsync(server, "admin/indexes/stop", null);
        await server.PutAsync("users/2", """{"name":"Bob","@metadata":{"@collection":"Users"}}""");
        await server.PutAsync("others/1", """{"name":"Bob","@metadata":{"@collection":"Others"}}""");
        index = (await server.GetAsync("indexes/stats")).GetProperty("Results")[0];
        Assert.Equal((1, 2), (index.GetProperty("WaitingChanges").GetInt32(), index.GetProperty("EtagsBehind").GetInt32()));
        Assert.True(index.GetProperty("SecondsBehind").GetDouble() >= 0);
    }

    [Fact]
    public async Task Statistics_are_skipped_where_a_query_says_so()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < 20; i++)
            await server.PutAsync($"users/{i}", $$$"""{"age":{{{i}}},"@metadata":{"@collection":"Users"}}""");
        const string Body = """{"Query":"from Users where age >= 5 order by age as long limit 2","WaitForNonStaleResults":true""";
        using HttpResponseMessage counted = await server.SendAsync(HttpMethod.Post, "queries", Body + "}");
        using HttpResponseMessage skipped = await server.SendAsync(
            HttpMethod.Post, "queries", Body + ""","SkipStatistics":true}""");
        using JsonDocument whole = JsonDocument.Parse(await counted.Content.ReadAsStringAsync(TestServer.Cancelled));
        using JsonDocument least = JsonDocument.Parse(await skipped.Content.ReadAsStringAsync(TestServer.Cancelled));
        Assert.Equal(15, whole.RootElement.GetProperty("TotalResults").GetInt64());
        Assert.False(whole.RootElement.TryGetProperty("IsTotalExact", out _));
        Assert.Equal(2, least.RootElement.GetProperty("TotalResults").GetInt64());
        Assert.False(least.RootElement.GetProperty("IsTotalExact").GetBoolean());
        Assert.Equal(
            whole.RootElement.GetProperty("Results").GetRawText(), least.RootElement.GetProperty("Results").GetRawText());
    }

    [Fact]
    public async Task A_plan_comes_as_JSON_and_as_a_picture_and_the_same_on_every_run()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", """{"name":"Ada","age":36,"@metadata":{"@collection":"Users"}}""");
        await server.PutAsync("users/2", """{"name":"Bob","age":20,"@metadata":{"@collection":"Users"}}""");
        const string Query =
            """{"Query":"from Users where name = 'ada' or age < 30 order by age as long","WaitForNonStaleResults":true}""";
        JsonElement first = await ExplainAsync(server, Query), again = await ExplainAsync(server, Query);
        Assert.Equal(2, first.GetProperty("TotalResults").GetInt64());
        JsonElement plan = first.GetProperty("Timings").GetProperty("QueryPlan");
        Assert.True(plan.GetProperty("Children").GetArrayLength() > 0);
        Assert.Equal(WithoutTimes(plan), WithoutTimes(again.GetProperty("Timings").GetProperty("QueryPlan")));

        JsonElement timings = first.GetProperty("Timings"), counters = timings.GetProperty("Counters");
        Assert.True(counters.GetProperty("BytesDecoded").GetInt64() > 0);
        Assert.Equal(counters.GetRawText(), again.GetProperty("Timings").GetProperty("Counters").GetRawText());
        if (OperatingSystem.IsLinux())
            Assert.Equal(
                counters.GetProperty("PagesRead").GetInt64(),
                timings.GetProperty("PagesCold").GetInt64() + timings.GetProperty("PagesWarm").GetInt64());

        using HttpResponseMessage picture = await server.SendAsync(HttpMethod.Post, "queries/explain?format=svg", Query);
        Assert.Equal((HttpStatusCode.OK, "image/svg+xml"), (picture.StatusCode, picture.Content.Headers.ContentType?.MediaType));
        string svg = await picture.Content.ReadAsStringAsync(TestServer.Cancelled);
        Assert.StartsWith("<svg", svg, StringComparison.Ordinal);
        System.Xml.Linq.XDocument.Parse(svg);

        JsonElement scan = (await ExplainAsync(server, """{"Query":"from Users limit 1"}"""))
            .GetProperty("Timings")
            .GetProperty("QueryPlan");
        Assert.Equal(
            ("scan of documents", 2), (scan.GetProperty("Operation").GetString(), scan.GetProperty("Estimate").GetInt64()));
        using HttpResponseMessage none = await server.SendAsync(
            HttpMethod.Post, "queries/explain?format=svg", """{"Query":"from Nobody where name = 'x'"}""");
        Assert.Contains(
            "no plan", await TestServer.ErrorOf(none, HttpStatusCode.BadRequest, ".BadRequestException"),
            StringComparison.Ordinal);
        using HttpResponseMessage format = await server.SendAsync(HttpMethod.Post, "queries/explain?format=png", Query);
        await TestServer.ErrorOf(format, HttpStatusCode.BadRequest, ".BadRequestException");
    }

    [Fact]
    public async Task A_name_that_no_document_has_is_told_beside_the_results()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", """{"name":"Ada","@metadata":{"@collection":"Users"}}""");
        using HttpResponseMessage misspelt = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from Users where nmae = 'ada'","WaitForNonStaleResults":true}""");
        JsonElement warnings = (await TestServer.JsonOf(misspelt, HttpStatusCode.OK)).GetProperty("Warnings");
        Assert.Equal(
            ["No document of 'Users' has a field 'nmae'. Did you mean 'name'?"],
            warnings.EnumerateArray().Select(warning => warning.GetString()));
        using HttpResponseMessage right = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from Users where name = 'ada'","WaitForNonStaleResults":true}""");
        Assert.False((await TestServer.JsonOf(right, HttpStatusCode.OK)).TryGetProperty("Warnings", out _));
    }

    [Fact]
    public async Task A_budget_stops_a_query_and_says_which_and_where()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < 30; i++)
            await server.PutAsync(
                $"users/{i}", $$$"""{"name":"user {{{i}}}","age":{{{i}}},"@metadata":{"@collection":"Users"}}""");
        string query = """{"Query":"from Users where age > 3 order by name","WaitForNonStaleResults":true,"Budget":BUDGET}""";
        using (HttpResponseMessage enough = await server.SendAsync(
            HttpMethod.Post, "queries",
            query.Replace("BUDGET", """{"Pages":100000,"Entries":100000,"Milliseconds":60000}""", StringComparison.Ordinal)))
            Assert.Equal(26, (await TestServer.JsonOf(enough, HttpStatusCode.OK)).GetProperty("Results").GetArrayLength());
        foreach ((
            string budget,
            string hint) in ((string, string)[])[("""{"Pages":1}""", "1 pages"), ("""{"Entries":1}""", "1 entries")])
        {
            using HttpResponseMessage stopped = await server.SendAsync(
                HttpMethod.Post, "queries", query.Replace("BUDGET", budget, StringComparison.Ordinal));
            Assert.Contains(
                hint, await TestServer.ErrorOf(stopped, HttpStatusCode.BadRequest, ".InvalidQueryException"),
                StringComparison.Ordinal);
        }

        foreach (string budget in (string[])["""{"Pages":0}""", """{"Entries":-1}""", "5", """{"Pages":"many"}"""])
        {
            using HttpResponseMessage refused = await server.SendAsync(
                HttpMethod.Post, "queries", query.Replace("BUDGET", budget, StringComparison.Ordinal));
            Assert.Equal(HttpStatusCode.BadRequest, refused.StatusCode);
        }
    }

    [Fact]
    public async Task What_an_index_holds_is_told_by_structure_field_term_and_document()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < 120; i++)
            await server.PutAsync(
                $"users/{i}",
                $$$"""{"name":"user {{{i % 40}}}","age":{{{i}}},"notes":"a fox and a dog {{{i}}}","@metadata":{"@collection":"Users"}}""");
        using (HttpResponseMessage found = await server.SendAsync(
            HttpMethod.Post, "queries",
            """{"Query":"from Users where name = 'user 7' and age > 8 and search(notes, 'fox')","WaitForNonStaleResults":true}"""))
            Assert.Equal(2, (await TestServer.JsonOf(found, HttpStatusCode.OK)).GetProperty("TotalResults").GetInt64());
        string? index = (await server.GetAsync("indexes/stats")).GetProperty("Results")[0].GetProperty("Name").GetString();
        Assert.NotNull(index);
        string name = Uri.EscapeDataString(index);
        JsonElement answer = await server.GetAsync($"indexes/structures?name={name}");
        Assert.Equal(index, answer.GetProperty("IndexName").GetString());
        JsonElement[] structures = [.. answer.GetProperty("Structures").EnumerateArray()];
        foreach (JsonElement structure in structures)
        {
            Assert.InRange(structure.GetProperty("UsedBytes").GetInt64(), 1, structure.GetProperty("SizeInBytes").GetInt64());
            Assert.Equal(0, structure.GetProperty("SizeInBytes").GetInt64() % 8_192);
            Assert.True(structure.GetProperty("Keys").GetInt64() > 0);
        }

        long[] sizes = [.. structures.Select(structure => structure.GetProperty("SizeInBytes").GetInt64())];
        Assert.Equal(sizes.OrderDescending(), sizes);
        (string?, string?)[] kinds = [
            .. structures.Select(
                structure => (structure.GetProperty("Structure").GetString(), structure.GetProperty("Field").GetString()))];
        Assert.Equal(kinds.Length, kinds.Distinct().Count());
        foreach ((string, string?) kind in ((string, string?)[])
        [
            ("terms", "name"), ("terms", "search(notes)"), ("numbers", "age"), ("sortnumbers", "age"), ("norms", "search(notes)"),
            ("entries", null), ("keys", null)
        ])
            Assert.Contains(kind, kinds);

        JsonElement terms = await server.GetAsync($"indexes/terms?name={name}&field=name&pageSize=3&fromValue=user%201");
        Assert.Equal(
            ["user 10", "user 11", "user 12"], terms.GetProperty("Terms").EnumerateArray().Select(term => term.GetString()));
        foreach ((string url, HttpStatusCode status) in ((string, HttpStatusCode)[])[
            ("indexes/structures?name=Nobody", HttpStatusCode.InternalServerError),
            ("indexes/structures", HttpStatusCode.BadRequest),
            ($"indexes/terms?name={name}&field=nothing", HttpStatusCode.BadRequest),
            ($"indexes/terms?name={name}", HttpStatusCode.BadRequest),
            ($"indexes/entry?name={name}&id=users/1000", HttpStatusCode.NotFound)])
        {
            using HttpResponseMessage refused = await server.SendAsync(HttpMethod.Get, url);
            Assert.Equal((url, status), (url, refused.StatusCode));
        }
    }

    [Fact]
    public async Task What_a_paused_index_has_not_seen_is_in_answers_streams_and_looks_that_are_never_stale()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutIndexAsync(server, Definition, HttpStatusCode.Created);
        await server.PutAsync("users/1", """{"name":"Ada","@metadata":{"@collection":"Users"}}""");
        using (HttpResponseMessage waited = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from index ByName","WaitForNonStaleResults":true}"""))
            Assert.Equal(1, (await TestServer.JsonOf(waited, HttpStatusCode.OK)).GetProperty("TotalResults").GetInt64());
        await NoContentAsync(server, "admin/indexes/stop?name=ByName", null);
        await server.PutAsync("users/2", """{"name":"Bob","@metadata":{"@collection":"Users"}}""");
        await server.PutAsync("users/1", """{"name":"Eva","@metadata":{"@collection":"Users"}}""");
        const string Query = """{"Query":"from index ByName order by name","NeverStale":true}""";
        using (HttpResponseMessage answer = await server.SendAsync(HttpMethod.Post, "queries", Query))
        {
            JsonElement body = await TestServer.JsonOf(answer, HttpStatusCode.OK);
            Assert.Equal(
                ["Bob", "Eva"],
                body.GetProperty("Results").EnumerateArray().Select(user => user.GetProperty("name").GetString()));
            Assert.False(body.GetProperty("IsStale").GetBoolean());
        }

        using (HttpResponseMessage stream = await server.SendAsync(HttpMethod.Post, "streams/queries?format=jsonl", Query))
        {
            string[] lines = (await stream.Content.ReadAsStringAsync(TestServer.Cancelled)).Split(
                '\n', StringSplitOptions.RemoveEmptyEntries);
            Assert.Contains("\"IsStale\":false", lines[0], StringComparison.Ordinal);
            Assert.Equal(
                ["Bob", "Eva"],
                lines[1..].Select(
                    line => JsonDocument.Parse(line).RootElement.GetProperty("Item").GetProperty("name").GetString()));
        }

        foreach ((
            bool neverStale, string[] terms,
            HttpStatusCode second) in ((bool, string[], HttpStatusCode)[])
            [
                (false, ["ada"], HttpStatusCode.NotFound), (true, ["bob", "eva"], HttpStatusCode.OK)
            ])
        {
            JsonElement held = await server.GetAsync($"indexes/terms?name=ByName&field=name&neverStale={neverStale}");
            Assert.Equal(terms, held.GetProperty("Terms").EnumerateArray().Select(term => term.GetString()));
            using HttpResponseMessage entry = await server.SendAsync(
                HttpMethod.Get, $"indexes/entry?name=ByName&id=users/2&neverStale={neverStale}");
            Assert.Equal(second, entry.StatusCode);
        }
    }

    private static string WithoutTimes(JsonElement plan) =>
        System.Text.RegularExpressions.Regex.Replace(
            plan.GetRawText(), "\"(ElapsedMicroseconds|ElapsedMs|Elapsed|DurationInMs|PagesCold)\":[-0-9.eE]+", "");

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
        Assert.True(
            response.StatusCode == HttpStatusCode.NoContent, await response.Content.ReadAsStringAsync(TestServer.Cancelled));
    }

    private static async Task<(string? Lock, string? Priority, string? State, string? Status)> StateAsync(TestServer server)
    {
        JsonElement index = (await server.GetAsync("indexes/stats?name=ByName")).GetProperty("Results")[0];
        JsonElement status = (await server.GetAsync("indexes/status")).GetProperty("Indexes")[0];
        return (
            index.GetProperty("LockMode").GetString(), index.GetProperty("Priority").GetString(),
            index.GetProperty("State").GetString(), status.GetProperty("Status").GetString());
    }
}
