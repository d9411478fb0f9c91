using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Operations;

/// <summary>An operation belongs to its database: others neither see nor end it, and count for themselves.</summary>
public sealed class OperationsOfDatabasesTests
{
    [Fact]
    public async Task Another_database_neither_sees_nor_kills_an_operation()
    {
        await using TestServer server = await TestServer.StartAsync();
        await CreateAsync(server, "other");
        long id = (await server.GetAsync("operations/next-operation-id")).GetProperty("Id").GetInt64();
        foreach (string foreign in (string[])["databases/other/operations/kill", "admin/operations/kill"])
            using (HttpResponseMessage killed = await server.SendAsync(HttpMethod.Post, $"{server.Url}/{foreign}?id={id}"))
                Assert.Equal(HttpStatusCode.NotFound, killed.StatusCode);

        // A kill before its time would have been kept for the operation of that number.
        using HttpResponseMessage done = await server.SendAsync(
            HttpMethod.Post, $"bulk_insert?id={id}", """[{"Id":"a/1","Type":"PUT","Document":{}}]""");
        Assert.Equal(HttpStatusCode.NoContent, done.StatusCode);
        Assert.Equal(HttpStatusCode.NotFound, await StatusAsync(server, $"databases/other/operations/state?id={id}"));
        Assert.Equal(HttpStatusCode.NotFound, await StatusAsync(server, $"operations/state?id={id}"));
        Assert.Equal("Completed", (await server.GetAsync($"operations/state?id={id}")).GetProperty("Status").GetString());
    }

    [Fact]
    public async Task Each_database_counts_for_itself_and_a_number_that_a_client_chose_is_not_given_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        await CreateAsync(server, "other");
        for (int i = 0; i < 3; i++)
            await server.GetAsync("operations/next-operation-id");
        Assert.Equal(
            1,
            (await server.GetAsync($"{server.Url}/databases/other/operations/next-operation-id")).GetProperty("Id").GetInt64());

        using (HttpResponseMessage chosen = await server.SendAsync(HttpMethod.Post, "bulk_insert?id=4", "[]"))
            Assert.Equal(HttpStatusCode.NoContent, chosen.StatusCode);
        Assert.Equal(5, (await server.GetAsync("operations/next-operation-id")).GetProperty("Id").GetInt64());
        for (int i = 6; i < 9; i++)
            using (HttpResponseMessage chosen = await server.SendAsync(HttpMethod.Post, $"bulk_insert?id={i}", "[]"))
                Assert.Equal(HttpStatusCode.NoContent, chosen.StatusCode);
        using HttpResponseMessage begun = await server.SendAsync(
            HttpMethod.Delete, "queries?allowStale=true", """{"Query":"from Users"}""");
        JsonElement started = await TestServer.JsonOf(begun, HttpStatusCode.OK);
        Assert.Equal(9, started.GetProperty("OperationId").GetInt64());
    }

    [Fact]
    public async Task A_database_that_takes_the_name_of_a_deleted_one_knows_nothing_of_its_operations()
    {
        await using TestServer server = await TestServer.StartAsync();
        using (HttpResponseMessage first = await server.SendAsync(HttpMethod.Post, "bulk_insert?id=1", "[]"))
            Assert.Equal(HttpStatusCode.NoContent, first.StatusCode);
        using (HttpResponseMessage deleted = await server.SendAsync(
            HttpMethod.Delete, $"{server.Url}/admin/databases", """{"DatabaseNames":["DB"],"HardDelete":true}"""))
            Assert.Equal(HttpStatusCode.OK, deleted.StatusCode);
        await CreateAsync(server, "db");
        Assert.Equal(HttpStatusCode.NotFound, await StatusAsync(server, "databases/db/operations/state?id=1"));
    }

    private static async Task CreateAsync(TestServer server, string name)
    {
        using HttpResponseMessage made = await server.SendAsync(
            HttpMethod.Put, $"{server.Url}/admin/databases?name={name}", "{}");
        Assert.Equal(HttpStatusCode.Created, made.StatusCode);
    }

    private static async Task<HttpStatusCode> StatusAsync(TestServer server, string url)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Get, $"{server.Url}/{url}");
        return response.StatusCode;
    }
}
