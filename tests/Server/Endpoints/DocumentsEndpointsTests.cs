using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

public sealed class DocumentsEndpointsTests
{
    private const string Ada = """{"name":"Ada","@metadata":{"@collection":"Users"}}""";

    [Fact]
    public async Task A_document_comes_back_with_its_metadata_and_its_change_vector_as_ETag()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", Ada);
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Get, "docs?&id=users/1");
        JsonElement document = (await TestServer.JsonOf(response, HttpStatusCode.OK)).GetProperty("Results")[0];
        Assert.Equal("Ada", document.GetProperty("name").GetString());
        JsonElement metadata = document.GetProperty("@metadata");
        Assert.Equal("users/1", metadata.GetProperty("@id").GetString());
        Assert.Equal($"\"{metadata.GetProperty("@change-vector").GetString()}\"", response.Headers.ETag?.ToString());
        Assert.Equal("7.1.0.0", response.Headers.GetValues("Raven-Server-Version").Single());
    }

    [Fact]
    public async Task An_answer_the_client_has_is_not_sent_again_until_it_changes()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", """{"friend":"users/2"}""");
        await server.PutAsync("users/2", Ada);
        foreach (string url in (string[])
        [
            "docs?id=users/1&id=users/2", "docs?id=users/1&include=friend", "docs?startsWith=users/", "docs?start=0&pageSize=5"
        ])
        {
            using HttpResponseMessage first = await server.SendAsync(HttpMethod.Get, url);
            string etag = first.Headers.ETag!.ToString();
            using HttpResponseMessage again = await server.SendAsync(HttpMethod.Get, url, null, ("If-None-Match", etag));
            Assert.Equal(HttpStatusCode.NotModified, again.StatusCode);
            await server.PutAsync("users/2", """{"name":"somebody else","@metadata":{"@collection":"Users"}}""");
            using HttpResponseMessage changed = await server.SendAsync(HttpMethod.Get, url, null, ("If-None-Match", etag));
            Assert.Equal(HttpStatusCode.OK, changed.StatusCode);
        }
    }

    [Fact]
    public async Task One_missing_document_is_404_and_one_among_others_is_null()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", Ada);
        using HttpResponseMessage missing = await server.SendAsync(HttpMethod.Get, "docs?id=users/9&include=a");
        Assert.Equal(HttpStatusCode.NotFound, missing.StatusCode);
        Assert.Equal(0, missing.Content.Headers.ContentLength);
        JsonElement results = (await server.GetAsync("docs?id=users/9&id=users/1")).GetProperty("Results");
        Assert.Equal(JsonValueKind.Null, results[0].ValueKind);
        Assert.Equal("Ada", results[1].GetProperty("name").GetString());
    }

    [Fact]
    public async Task Head_gives_the_change_vector_or_404()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", Ada);
        using HttpResponseMessage there = await server.SendAsync(HttpMethod.Head, "docs?id=users/1");
        Assert.NotNull(there.Headers.ETag);
        string unquoted = there.Headers.ETag.ToString().Trim('"');
        using HttpResponseMessage same = await server.SendAsync(
            HttpMethod.Head, "docs?id=users/1", null, ("If-None-Match", unquoted));
        Assert.Equal(HttpStatusCode.NotModified, same.StatusCode);
        using HttpResponseMessage missing = await server.SendAsync(HttpMethod.Head, "docs?id=users/9");
        Assert.Equal(HttpStatusCode.NotFound, missing.StatusCode);
    }

    [Fact]
    public async Task Includes_follow_nested_paths_and_leave_out_what_was_loaded_anyway()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync(
            "orders/1",
            """{"company":"companies/1","lines":[{"product":"products/1"},{"product":"products/2"},{"product":"products/404"}],"self":"orders/1"}""");
        await server.PutAsync("companies/1", """{"name":"Treepie"}""");
        await server.PutAsync("products/1", """{"name":"Nest"}""");
        await server.PutAsync("products/2", """{"name":"Seed"}""");
        JsonElement answer = await server.GetAsync(
            "docs?id=orders/1&include=company&include=lines[].product&include=self&include=no.such");
        Assert.Equal(
            ["companies/1", "products/1", "products/2"],
            answer.GetProperty("Includes").EnumerateObject().Select(static include => include.Name));
        using HttpResponseMessage refused = await server.SendAsync(HttpMethod.Get, "docs?id=orders/1&include=a..b");
        Assert.Contains(
            "'a..b'", await TestServer.ErrorOf(refused, HttpStatusCode.BadRequest, ".InvalidQueryException"),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_wrong_change_vector_is_409_and_changes_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", Ada);
        using HttpResponseMessage put = await server.SendAsync(
            HttpMethod.Put, "docs?id=users/1", """{"name":"Bob"}""", ("If-Match", "\"A:999-nothing\""));
        Assert.Contains(
            "users/1", await TestServer.ErrorOf(put, HttpStatusCode.Conflict, ".ConcurrencyException"), StringComparison.Ordinal);
        using HttpResponseMessage delete = await server.SendAsync(
            HttpMethod.Delete, "docs?id=users/1", null, ("If-Match", "\"A:999-nothing\""));
        await TestServer.ErrorOf(delete, HttpStatusCode.Conflict, ".ConcurrencyException");
        JsonElement answer = await server.GetAsync("docs?id=users/1");
        Assert.Equal("Ada", answer.GetProperty("Results")[0].GetProperty("name").GetString());
    }
}
