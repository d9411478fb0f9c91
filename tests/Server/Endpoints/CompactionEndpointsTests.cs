using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Compacting over HTTP.</summary>
public sealed class CompactionEndpointsTests
{
    [Fact]
    public async Task A_compaction_is_an_operation_that_says_what_became_shorter()
    {
        await using TestServer server = await TestServer.StartAsync();
        await FillAsync(server);
        JsonElement state = await EndAsync(server, await BeginAsync(server, """{"DatabaseName":"db","Documents":true,"Indexes":[]}"""));
        Assert.Equal("Completed", state.GetProperty("Status").GetString());
        JsonElement result = state.GetProperty("Result"), documents = result.GetProperty("Documents");
        long before = documents.GetProperty("SizeBeforeCompactionInBytes").GetInt64(),
            after = documents.GetProperty("SizeAfterCompactionInBytes").GetInt64();
        Assert.True(after < before / 2, $"{before} -> {after}");
        Assert.Equal(after, result.GetProperty("SizeAfterCompactionInBytes").GetInt64());
        Assert.Equal("documents", state.GetProperty("Progress").GetProperty("LastProcessedId").GetString());
        Assert.Equal(1, await server.CountAsync());
    }

    [Fact]
    public async Task A_compaction_can_be_killed_and_begun_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        await FillAsync(server);
        long id = await BeginAsync(server, """{"DatabaseName":"db","Documents":true}""");
        using (HttpResponseMessage kill = await server.SendAsync(
            HttpMethod.Post, server.Url + $"/admin/operations/kill?id={id}"))
            Assert.Equal(HttpStatusCode.NoContent, kill.StatusCode);
        JsonElement ended = await EndAsync(server, id);
        Assert.Contains(ended.GetProperty("Status").GetString(), (string[])["Canceled", "Completed"]);
        JsonElement again = await EndAsync(server, await BeginAsync(server, """{"DatabaseName":"DB","Documents":true}"""));
        Assert.Equal("Completed", again.GetProperty("Status").GetString());
        Assert.Equal(1, await server.CountAsync());
    }

    [Theory]
    [InlineData("""{"Documents":true}""", HttpStatusCode.BadRequest, "DatabaseName")]
    [InlineData("""{"DatabaseName":"db"}""", HttpStatusCode.BadRequest, "Neither documents nor indexes")]
    [InlineData("""{"DatabaseName":"db","Documents":false,"Indexes":[]}""", HttpStatusCode.BadRequest, "Neither")]
    [InlineData("""{"DatabaseName":"db","Indexes":"all"}""", HttpStatusCode.BadRequest, "array of names")]
    [InlineData("""{"DatabaseName":"db","Indexes":[1]}""", HttpStatusCode.BadRequest, "expected is a string")]
    [InlineData("""{"DatabaseName":"db","Indexes":["none"]}""", HttpStatusCode.InternalServerError, "IndexDoesNotExist")]
    [InlineData("""{"DatabaseName":"none","Documents":true}""", HttpStatusCode.ServiceUnavailable, "none")]
    [InlineData("[]", HttpStatusCode.BadRequest, "DatabaseName")]
    public async Task What_cannot_be_compacted_is_refused_at_once(string json, HttpStatusCode expected, string said)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage answer = await server.SendAsync(HttpMethod.Post, server.Url + "/admin/compact", json);
        Assert.Equal(expected, answer.StatusCode);
        Assert.Contains(said, await answer.Content.ReadAsStringAsync(TestServer.Cancelled), StringComparison.Ordinal);
    }

    private static async Task FillAsync(TestServer server)
    {
        Database database = server.Catalog.Find("db") ?? throw new InvalidOperationException("The server has a database.");
        for (int i = 0; i < 300; i++)
            await database.WriteAsync(
                new WriteBatch().Put($"things/{i}", System.Text.Encoding.UTF8.GetBytes($"{{\"T\":\"{new string('x', 60_000)}{i}\"}}")),
                TestServer.Cancelled);
        await database.WriteAsync(new WriteBatch().DeleteByPrefix("things/1").DeleteByPrefix("things/2"), TestServer.Cancelled);
        for (int i = 3; i < 10; i++)
            await database.WriteAsync(new WriteBatch().DeleteByPrefix($"things/{i}"), TestServer.Cancelled);
        await database.PurgeTombstonesAsync(database.LastEtag - 1, TestServer.Cancelled);
    }

    private static async Task<long> BeginAsync(TestServer server, string json)
    {
        using HttpResponseMessage answer = await server.SendAsync(HttpMethod.Post, server.Url + "/admin/compact", json);
        return (await TestServer.JsonOf(answer, HttpStatusCode.OK)).GetProperty("OperationId").GetInt64();
    }

    private static async Task<JsonElement> EndAsync(TestServer server, long id)
    {
        JsonElement state = default;
        await Eventually.TrueAsync(async () =>
        {
            using HttpResponseMessage answer = await server.SendAsync(
                HttpMethod.Get, server.Url + $"/operations/state?id={id}");
            state = await TestServer.JsonOf(answer, HttpStatusCode.OK);
            return state.GetProperty("Status").GetString() != "InProgress";
        }, "the compaction has ended");
        return state;
    }
}
