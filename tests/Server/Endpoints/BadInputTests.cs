using System.Net;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Everything a client can get wrong: the status, the body's form, words that help, and nothing changed.</summary>
public sealed class BadInputTests
{
    public static TheoryData<string, string, string> BadDocuments() => new()
    {
        { "{\"name\":\"Ada\"", "not a whole object", "users/1" },
        { "{\"name\":}", "a value is missing", "users/1" },
        { "[1,2]", "an array", "object" },
        { "\"text\"", "a string", "object" },
        { "{\"a\":1,\"a\":2}", "a key twice", "a" },
        { "{} {}", "two documents", "users/1" },
        { "{\"@metadata\":5}", "metadata that is no object", "@metadata" },
        { string.Concat(Enumerable.Repeat("{\"a\":", 1_000_000)), "a million deep", "128" },
        { string.Concat(Enumerable.Repeat("[", 1_000_000)), "a million arrays deep", "" },
    };

    [Theory]
    [MemberData(nameof(BadDocuments))]
    public async Task A_document_that_is_none_is_400_as_a_put_in_a_batch_and_in_a_bulk_insert(
        string json, string what, string hint)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, "docs?id=users/1", json);
        string message = await TestServer.ErrorOf(put, HttpStatusCode.BadRequest, ".BadRequestException");
        Assert.True(message.Contains(hint, StringComparison.OrdinalIgnoreCase), $"{what}: {message}");

        string command =
            $$$"""{"Commands":[{"Id":"users/2","Type":"PUT","Document":{}},{"Id":"users/1","Type":"PUT","Document":{{{json}}}}]}""";
        using HttpResponseMessage batch = await server.SendAsync(HttpMethod.Post, "bulk_docs", command);
        await TestServer.ErrorOf(batch, HttpStatusCode.BadRequest, ".BadRequestException");

        string item = $$$"""[{"Id":"users/1","Type":"PUT","Document":{{{json}}}}]""";
        using HttpResponseMessage bulk = await server.SendAsync(
            HttpMethod.Post, $"bulk_insert?id={await NextIdAsync(server)}", item);
        await TestServer.ErrorOf(bulk, HttpStatusCode.BadRequest, ".BadRequestException");
        Assert.Equal(0, await server.CountAsync());
    }

    [Fact]
    public async Task Invalid_UTF8_is_400()
    {
        await using TestServer server = await TestServer.StartAsync();
        byte[] document = [.. "{\"name\":\""u8, 0xFF, 0xFE, .. "\"}"u8];
        using HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, "docs?id=users/1", document);
        Assert.Contains(
            "UTF-8", await TestServer.ErrorOf(put, HttpStatusCode.BadRequest, ".BadRequestException"), StringComparison.Ordinal);
        byte[] batch = [.. "{\"Commands\":[{\"Id\":\"users/1\",\"Type\":\"PUT\",\"Document\":"u8, .. document, .. "}]}"u8];
        using HttpResponseMessage post = await server.SendAsync(HttpMethod.Post, "bulk_docs", batch);
        await TestServer.ErrorOf(post, HttpStatusCode.BadRequest, ".BadRequestException");
        byte[] id = [.. "{\"Commands\":[{\"Id\":\"users/"u8, 0xFF, .. "\",\"Type\":\"DELETE\"}]}"u8];
        using HttpResponseMessage badId = await server.SendAsync(HttpMethod.Post, "bulk_docs", id);
        await TestServer.ErrorOf(badId, HttpStatusCode.BadRequest, ".BadRequestException");
        byte[] query = [.. "{\"Query\":\"from "u8, 0xFF, .. "\"}"u8];
        using HttpResponseMessage badQuery = await server.SendAsync(HttpMethod.Post, "queries", query);
        await TestServer.ErrorOf(badQuery, HttpStatusCode.BadRequest, ".BadRequestException");
        Assert.Equal(0, await server.CountAsync());
    }

    [Theory]
    [InlineData("""{"Query":"from Users where name = $a","QueryParameters":{"a":"\ud800"}}""")]
    [InlineData("""{"Query":"from Users where name in ($a)","QueryParameters":{"a":["x","\uDFFF"]}}""")]
    [InlineData("""{"Query":"from Users where name = $a","QueryParameters":{"\ud83d":"x"}}""")]
    [InlineData("""{"Query":"from Users where name = '\ud800'"}""")]
    public async Task Half_a_surrogate_pair_is_400_and_says_where(string query)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage refused = await server.SendAsync(HttpMethod.Post, "queries", query);
        Assert.Contains(
            "surrogate", await TestServer.ErrorOf(refused, HttpStatusCode.BadRequest, ".BadRequestException"),
            StringComparison.Ordinal);
        using HttpResponseMessage whole = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from Users where name = $a","QueryParameters":{"a":"\ud83e\udd8a"}}""");
        Assert.Equal(HttpStatusCode.OK, whole.StatusCode);
    }

    [Theory]
    [InlineData("x", 512)]
    [InlineData("ü", 257)]
    public async Task An_id_that_is_too_long_is_400_and_says_the_limit(string letter, int count)
    {
        await using TestServer server = await TestServer.StartAsync();
        string id = string.Concat(Enumerable.Repeat(letter, letter == "x" ? count + 1 : count));
        using HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, $"docs?id={Uri.EscapeDataString(id)}", "{}");
        Assert.Contains(
            "512", await TestServer.ErrorOf(put, HttpStatusCode.BadRequest, ".BadRequestException"), StringComparison.Ordinal);
        Assert.Equal(0, await server.CountAsync());
        using HttpResponseMessage get = await server.SendAsync(HttpMethod.Get, $"docs?id={Uri.EscapeDataString(id)}");
        Assert.Equal(HttpStatusCode.NotFound, get.StatusCode);
    }

    [Theory]
    [InlineData("%00")]
    [InlineData("users/%01")]
    [InlineData("users/%0A1")]
    [InlineData("users/%7F")]
    public async Task Control_characters_in_an_id_are_400(string id)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, $"docs?id={id}", "{}");
        await TestServer.ErrorOf(put, HttpStatusCode.BadRequest, ".BadRequestException");
        Assert.Equal(0, await server.CountAsync());
    }

    [Fact]
    public async Task An_empty_id_is_400()
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, "docs?id=", "{}");
        Assert.Contains(
            "id=", await TestServer.ErrorOf(put, HttpStatusCode.BadRequest, ".BadRequestException"), StringComparison.Ordinal);
        using HttpResponseMessage none = await server.SendAsync(HttpMethod.Delete, "docs");
        await TestServer.ErrorOf(none, HttpStatusCode.BadRequest, ".BadRequestException");
    }

    [Fact]
    public async Task A_document_over_the_limit_is_413_at_every_door()
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Database = options.Database with { MaxDocumentBytes = 1_000 });
        string json = $$"""{"long":"{{new string('x', 100_000)}}"}""";
        using HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, "docs?id=users/1", json);
        Assert.Contains(
            "1,000", await TestServer.ErrorOf(put, HttpStatusCode.RequestEntityTooLarge, ".BadRequestException"),
            StringComparison.Ordinal);
        using HttpResponseMessage batch = await server.SendAsync(
            HttpMethod.Post, "bulk_docs", $$$"""{"Commands":[{"Id":"users/1","Type":"PUT","Document":{{{json}}}}]}""");
        Assert.Contains(
            "users/1", await TestServer.ErrorOf(batch, HttpStatusCode.RequestEntityTooLarge, ".BadRequestException"),
            StringComparison.Ordinal);
        using HttpResponseMessage bulk = await server.SendAsync(
            HttpMethod.Post, $"bulk_insert?id={await NextIdAsync(server)}",
            $$$"""[{"Id":"users/1","Type":"PUT","Document":{{{json}}}}]""");
        await TestServer.ErrorOf(bulk, HttpStatusCode.RequestEntityTooLarge, ".BadRequestException");
        Assert.Equal(0, await server.CountAsync());
    }

    [Fact]
    public async Task A_request_over_the_limit_is_413_also_without_an_announced_length()
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Limits = options.Limits with { MaxRequestBytes = 10_000 });
        string body = $$"""{"Commands":[],"padding":"{{new string('x', 20_000)}}"}""";
        using HttpResponseMessage announced = await server.SendAsync(HttpMethod.Post, "bulk_docs", body);
        await TestServer.ErrorOf(announced, HttpStatusCode.RequestEntityTooLarge, ".BadRequestException");
        using var request = new HttpRequestMessage(HttpMethod.Post, "bulk_docs") { Content = new StringContent(body) };
        request.Headers.TransferEncodingChunked = true;
        using HttpResponseMessage chunked = await server.Http.SendAsync(request, TestServer.Cancelled);
        await TestServer.ErrorOf(chunked, HttpStatusCode.RequestEntityTooLarge, ".BadRequestException");
    }

    [Theory]
    [InlineData("", "Commands")]
    [InlineData("[]", "Commands")]
    [InlineData("{}", "Commands")]
    [InlineData("{\"Commands\":5}", "array")]
    [InlineData("{\"Commands\":[5]}", "object")]
    [InlineData("{\"Commands\":[{\"Type\":\"PUT\",\"Document\":{}}]}", "Id")]
    [InlineData("{\"Commands\":[{\"Id\":\"users/1\"}]}", "Type")]
    [InlineData("{\"Commands\":[{\"Id\":\"users/1\",\"Type\":\"PUT\"}]}", "Document")]
    [InlineData("{\"Commands\":[{\"Id\":\"users/1\",\"Type\":\"PUT\",\"Document\":[]}]}", "Document")]
    [InlineData("{\"Commands\":[{\"Id\":\"users/1\",\"Type\":\"PUT\",\"Document\":{}}", "JSON")]
    [InlineData("{\"Commands\":[]} x", "JSON")]
    public async Task A_batch_that_is_none_is_400(string body, string hint)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, "bulk_docs", body);
        Assert.Contains(
            hint, await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".BadRequestException"),
            StringComparison.Ordinal);
        Assert.Equal(0, await server.CountAsync());
    }

    [Theory]
    [InlineData("from Users\\nwhere name = = 'Ada'", 2, 14)]
    [InlineData("select", 1, 1)]
    [InlineData("from Users where", 1, 17)]
    public async Task RQL_errors_have_line_and_column(string rql, int line, int column)
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string route in (string[])["queries", "streams/queries?format=jsonl"])
        {
            using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, route, $$"""{"Query":"{{rql}}"}""");
            var body = await TestServer.JsonOf(response, HttpStatusCode.BadRequest);
            Assert.Equal("Raven.Client.Exceptions.InvalidQueryException", body.GetProperty("Type").GetString());
            Assert.Equal((line, column), (body.GetProperty("Line").GetInt32(), body.GetProperty("Column").GetInt32()));
        }
    }

    [Theory]
    [InlineData("", "no body")]
    [InlineData("{}", "Query")]
    [InlineData("{\"Query\":5}", "Query")]
    [InlineData("{\"Query\":\"from Users\",\"QueryParameters\":[]}", "QueryParameters")]
    [InlineData("{\"Query\":\"from Users\",\"WaitForNonStaleResultsTimeout\":\"soon\"}", "WaitForNonStaleResultsTimeout")]
    [InlineData("{\"Query\":\"from Users\"", "JSON")]
    public async Task A_query_command_that_is_none_is_400(string body, string hint)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, "queries", body);
        Assert.Contains(
            hint, await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".BadRequestException"),
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("docs?startsWith=u&start=-1", "start")]
    [InlineData("docs?startsWith=u&pageSize=many", "pageSize")]
    [InlineData("docs?id=a&metadataOnly=maybe", "metadataOnly")]
    [InlineData("hilo/next?tag=", "tag")]
    [InlineData("hilo/next?tag=users&lastRangeAt=yesterday", "lastRangeAt")]
    [InlineData("streams/docs?format=xml", "xml")]
    public async Task Query_strings_that_make_no_sense_name_the_parameter(string url, string hint)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Get, url);
        Assert.True((int)response.StatusCode is 400 or 501);
        Assert.Contains(hint, await response.Content.ReadAsStringAsync(TestServer.Cancelled), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Unknown_databases_are_503_with_their_name_in_a_header()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string url in (string[])["/databases/nobody/docs?id=a", "/topology?name=nobody", "/databases/nobody/stats"])
        {
            using HttpResponseMessage response = await server.SendAsync(HttpMethod.Get, server.Url + url);
            Assert.Contains(
                "nobody", await TestServer.ErrorOf(response, HttpStatusCode.ServiceUnavailable, ".DatabaseDoesNotExistException"),
                StringComparison.Ordinal);
            Assert.Equal("nobody", response.Headers.GetValues("Database-Missing").Single());
        }

        using HttpResponseMessage record = await server.SendAsync(HttpMethod.Get, server.Url + "/admin/databases?name=nobody");
        Assert.Equal(HttpStatusCode.NotFound, record.StatusCode);
        Assert.Equal("nobody", record.Headers.GetValues("Database-Missing").Single());
    }

    [Theory]
    [InlineData("GET", "/databases/db/no-such-thing")]
    [InlineData("POST", "/admin/no-such-thing")]
    [InlineData("PUT", "/databases/db/stats")]
    public async Task Unknown_routes_are_400(string method, string path)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await server.SendAsync(new HttpMethod(method), server.Url + path);
        Assert.Contains(
            path, await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".RouteNotFoundException"),
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("POST", "attachments/bulk")]
    public async Task What_is_not_built_says_so(string method, string url)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await server.SendAsync(new HttpMethod(method), url);
        Assert.Contains(
            "not built", await TestServer.ErrorOf(response, HttpStatusCode.NotImplemented, ".NotSupportedException"),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_bulk_insert_whose_kill_comes_before_it_stores_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        long id = await NextIdAsync(server);
        using HttpResponseMessage kill = await server.SendAsync(HttpMethod.Post, $"operations/kill?id={id}");
        Assert.Equal(HttpStatusCode.NoContent, kill.StatusCode);
        using HttpResponseMessage bulk = await server.SendAsync(
            HttpMethod.Post, $"bulk_insert?id={id}", """[{"Id":"users/1","Type":"PUT","Document":{}}]""");
        Assert.Contains(
            "killed", await TestServer.ErrorOf(bulk, HttpStatusCode.BadRequest, ".BadRequestException"),
            StringComparison.Ordinal);
        Assert.Equal("Canceled", (await server.GetAsync($"operations/state?id={id}")).GetProperty("Status").GetString());
        Assert.Equal(0, await server.CountAsync());

        using HttpResponseMessage unknown = await server.SendAsync(HttpMethod.Post, $"operations/kill?id={id + 1000}");
        Assert.Equal(HttpStatusCode.NotFound, unknown.StatusCode);
    }

    [Fact]
    public async Task A_database_name_that_is_none_is_400_and_one_that_is_taken_409()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string name in (string[])["..", "a/b", "a b", new string('x', 300)])
        {
            using HttpResponseMessage bad = await server.SendAsync(
                HttpMethod.Put, $"{server.Url}/admin/databases?name={Uri.EscapeDataString(name)}", "{}");
            await TestServer.ErrorOf(bad, HttpStatusCode.BadRequest, ".BadRequestException");
        }

        using HttpResponseMessage taken = await server.SendAsync(HttpMethod.Put, server.Url + "/admin/databases?name=DB", "{}");
        await TestServer.ErrorOf(taken, HttpStatusCode.Conflict, ".ConcurrencyException");
    }

    private static async Task<long> NextIdAsync(TestServer server) =>
        (await server.GetAsync("operations/next-operation-id")).GetProperty("Id").GetInt64();
}
