using System.Net;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Pages of documents that no index finds are gone on with over HTTP.</summary>
public sealed class ScanPagesTests
{
    [Theory]
    [InlineData("from Docs")]
    [InlineData("from @all_docs")]
    [InlineData("from Docs where startsWith(id(), 'docs/')")]
    [InlineData("from Docs where id() in ('docs/0', 'docs/1', 'docs/2', 'docs/3', 'docs/4', 'docs/5', 'docs/6')")]
    public async Task Pages_go_on_where_the_one_before_ended(string query)
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < 7; i++)
            await server.PutAsync($"docs/{i}", """{"@metadata":{"@collection":"Docs"}}""");
        var seen = new List<string?>();
        string? continuation = null;
        do
        {
            var body = new JsonObject { ["Query"] = query, ["PageSize"] = 3, ["WithContinuation"] = true };
            if (continuation is not null)
                body["Continuation"] = continuation;
            using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, "queries", body.ToJsonString());
            JsonElement answer = await TestServer.JsonOf(response, HttpStatusCode.OK);
            foreach (JsonElement result in answer.GetProperty("Results").EnumerateArray())
                seen.Add(result.GetProperty("@metadata").GetProperty("@id").GetString());
            continuation = answer.TryGetProperty("Continuation", out JsonElement next) ? next.GetString() : null;
        }
        while (continuation is not null);

        Assert.Equal(Enumerable.Range(0, 7).Select(static i => $"docs/{i}"), seen);
    }
}
