using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Operations;

/// <summary>Patches and deletions by query over an index that has several entries of one document.</summary>
public sealed class ChangeByQueryTests
{
    private const string ByProduct = "from index 'Lines' where Product = 'a'";

    [Theory]
    [InlineData("")]
    [InlineData(" order by Product")]
    public async Task Each_document_is_changed_once(string order)
    {
        await using TestServer server = await FilledAsync();
        JsonElement patched = await RunAsync(
            server, HttpMethod.Patch,
            $$"""{"Query":{"Query":"{{ByProduct}}{{order}} update { this.N++ }","SkipDuplicateChecking":true} }""");
        Assert.Equal(2, patched.GetProperty("Total").GetInt64());
        Assert.Equal("0 1 1", await NumbersAsync(server));
        JsonElement deleted = await RunAsync(server, HttpMethod.Delete, $$"""{"Query":"{{ByProduct}}{{order}}"}""");
        Assert.Equal(2, deleted.GetProperty("Total").GetInt64());
        Assert.Equal("0", await NumbersAsync(server));
    }

    [Fact]
    public async Task A_text_without_quotes_changes_nothing()
    {
        await using TestServer server = await FilledAsync();
        foreach ((HttpMethod method, string body) in new[]
        {
            (HttpMethod.Patch, """{"Query":{"Query":"from Orders where Product = a update { this.N++ }"}}"""),
            (HttpMethod.Delete, """{"Query":"from Orders where Product = a"}"""),
        })
        {
            using HttpResponseMessage refused = await server.SendAsync(method, "queries", body);
            JsonElement error = await TestServer.JsonOf(refused, HttpStatusCode.BadRequest);
            Assert.Contains("a text is written in quotes", error.GetProperty("Message").GetString(), StringComparison.Ordinal);
        }

        Assert.Equal("0 0 0", await NumbersAsync(server));
        using HttpResponseMessage asked = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from Orders where Product = a"}""");
        JsonElement answer = await TestServer.JsonOf(asked, HttpStatusCode.OK);
        Assert.Contains(
            answer.GetProperty("Warnings").EnumerateArray(),
            static warning => warning.GetString()!.Contains("a text is written in quotes", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("", 2, 2)]
    [InlineData(",\"SkipDuplicateChecking\":true", 4, 0)]
    public async Task An_answer_tells_what_it_left_out(string option, int given, int skipped)
    {
        await using TestServer server = await FilledAsync();
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, "queries", $$"""{"Query":"{{ByProduct}}","WaitForNonStaleResults":true{{option}} }""");
        JsonElement answer = await TestServer.JsonOf(response, HttpStatusCode.OK);
        Assert.Equal(
            (given, 4, skipped),
            (answer.GetProperty("Results").GetArrayLength(), answer.GetProperty("TotalResults").GetInt32(),
                answer.GetProperty("SkippedResults").GetInt32()));
    }

    private static async Task<TestServer> FilledAsync()
    {
        TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage defined = await server.SendAsync(
            HttpMethod.Put, "admin/indexes",
            """{"Indexes":[{"Name":"Lines","Maps":["from o in docs.Orders from l in o.Lines select new { l.Product }"]}]}""");
        await TestServer.JsonOf(defined, HttpStatusCode.Created);
        foreach ((string id, string lines) in new[] { ("1", "aba"), ("2", "aa"), ("3", "b") })
            await server.PutAsync(
                $"orders/{id}",
                $$"""
                {"N":0,"Lines":[{{string.Join(',', lines.Select(line => $"{{\"Product\":\"{line}\"}}"))}}],
                 "@metadata":{"@collection":"Orders"} }
                """);
        return server;
    }

    private static async Task<JsonElement> RunAsync(TestServer server, HttpMethod method, string body)
    {
        using HttpResponseMessage started = await server.SendAsync(method, "queries?staleTimeout=00:01:00", body);
        JsonElement operation = await TestServer.JsonOf(started, HttpStatusCode.OK);
        while (true)
        {
            JsonElement state = await server.GetAsync($"operations/state?id={operation.GetProperty("OperationId").GetInt64()}");
            if (state.GetProperty("Status").GetString() != "InProgress")
                return state.GetProperty("Result");
            await Task.Delay(20, TestServer.Cancelled);
        }
    }

    private static async Task<string> NumbersAsync(TestServer server)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from Orders"}""");
        JsonElement answer = await TestServer.JsonOf(response, HttpStatusCode.OK);
        return string.Join(
            ' ', answer.GetProperty("Results").EnumerateArray().Select(order => order.GetProperty("N").GetInt32()).Order());
    }
}
