using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Bad input about what lies beside documents is named, and nothing is changed.</summary>
public sealed class KindsEndpointsTests
{
    [Theory]
    [InlineData("PUT", "cmpxchg?index=0", "{\"Object\":1}", "'key='")]
    [InlineData("PUT", "cmpxchg?key=a&index=-1", "{\"Object\":1}", "'index=-1'")]
    [InlineData("PUT", "cmpxchg?key=a&index=0", "", "a")]
    [InlineData("PUT", "cmpxchg?key=a&index=0", "{\"object\":1}", "'Object'")]
    [InlineData("PUT", "cmpxchg?key=a&index=0", "[]", "a")]
    [InlineData("PUT", "cmpxchg?key=%20&index=0", "{\"Object\":1}", "empty")]
    [InlineData("DELETE", "cmpxchg?index=0", null, "'key='")]
    [InlineData("GET", "counters", null, "'docId='")]
    [InlineData("POST", "counters", "{}", "'Documents'")]
    [InlineData("POST", "counters", "{\"Documents\":[{}]}", "'DocumentId'")]
    [InlineData("POST", "counters", "{\"Documents\":[1]}", "'DocumentId'")]
    [InlineData("POST", "counters", "{\"Documents\":[{\"DocumentId\":\"d/1\"}]}", "'Operations'")]
    [InlineData(
        "POST", "counters",
        "{\"Documents\":[{\"DocumentId\":\"d/1\",\"Operations\":[{\"Type\":\"Add\",\"CounterName\":\"c\"}]}]}", "'Add'")]
    [InlineData(
        "POST", "counters",
        "{\"Documents\":[{\"DocumentId\":\"d/1\",\"Operations\":[{\"Type\":\"Increment\",\"CounterName\":\"c\",\"Delta\":9223372036854775808}]}]}",
        "64 bits")]
    [InlineData(
        "POST", "counters",
        "{\"Documents\":[{\"DocumentId\":\"d/1\",\"Operations\":[{\"Type\":\"Increment\",\"CounterName\":\"\"}]}]}", "empty")]
    [InlineData(
        "POST", "counters", "{\"Documents\":[{\"DocumentId\":\"d/1\",\"Operations\":[{\"Type\":\"Increment\"}]}]}",
        "'CounterName'")]
    [InlineData(
        "POST", "bulk_docs",
        "{\"Commands\":[{\"Id\":\"k\",\"Type\":\"CompareExchangePUT\",\"Index\":0,\"Document\":{\"Object\":1}}]}", "ClusterWide")]
    [InlineData(
        "POST", "bulk_docs",
        "{\"TransactionMode\":\"ClusterWide\",\"Commands\":[{\"Id\":\"k\",\"Type\":\"CompareExchangePUT\",\"Index\":\"x\",\"Document\":{\"Object\":1}}]}",
        "'Index'")]
    [InlineData(
        "POST", "bulk_docs",
        "{\"TransactionMode\":\"ClusterWide\",\"Commands\":[{\"Id\":\"k\",\"Type\":\"CompareExchangePUT\",\"Index\":0}]}",
        "'Document'")]
    [InlineData(
        "POST", "bulk_docs",
        "{\"Commands\":[{\"Id\":\"d/1\",\"Type\":\"Counters\",\"Counters\":{\"Operations\":[]}}],\"TransactionMode\":\"ClusterWide\"}",
        "cluster-wide")]
    [InlineData("POST", "bulk_docs", "{\"Commands\":[{\"Id\":\"d/1\",\"Type\":\"Counters\"}]}", "'Counters'")]
    [InlineData("PUT", "attachments?id=d/1", "x", "'name='")]
    [InlineData("PUT", "attachments?id=d/1&name=a&contentType=%0A", "x", "printable")]
    [InlineData("PUT", "attachments?id=d/1&name=%20", "x", "empty")]
    [InlineData("DELETE", "attachments?name=a", null, "'id='")]
    [InlineData("POST", "bulk_docs", "{\"Commands\":[{\"Id\":\"d/1\",\"Type\":\"AttachmentPUT\",\"Name\":\"a\"}]}", "content")]
    [InlineData("POST", "bulk_docs", "{\"Commands\":[{\"Id\":\"d/1\",\"Type\":\"AttachmentDELETE\"}]}", "'Name'")]
    [InlineData(
        "POST", "bulk_docs", "{\"Commands\":[{\"Id\":\"d/1\",\"Type\":\"AttachmentCOPY\",\"Name\":\"a\"}]}", "'DestinationId'")]
    public async Task What_is_wrong_is_named_and_nothing_changes(string method, string url, string? body, string word)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        string before = (await server.GetAsync("stats")).GetProperty("DatabaseChangeVector").GetString()!;
        using HttpResponseMessage response = await server.SendAsync(new HttpMethod(method), url, body);
        Assert.Contains(
            word, await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, "BadRequestException"), StringComparison.Ordinal);
        Assert.Equal(before, (await server.GetAsync("stats")).GetProperty("DatabaseChangeVector").GetString());
    }

    [Theory]
    [InlineData("PUT", "attachments?id=none&name=a", "x", "DocumentDoesNotExistException")]
    [InlineData(
        "POST", "bulk_docs",
        "{\"Commands\":[{\"Id\":\"d/1\",\"Type\":\"AttachmentMOVE\",\"Name\":\"a\",\"DestinationId\":\"d/1\",\"DestinationName\":\"b\"}]}",
        "AttachmentDoesNotExistException")]
    public async Task What_does_not_exist_is_named_by_its_error(string method, string url, string body, string type)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        using HttpResponseMessage response = await server.SendAsync(new HttpMethod(method), url, body);
        await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, type);
        Assert.Equal(0, (await server.GetAsync("stats")).GetProperty("CountOfAttachments").GetInt64());
    }

    [Fact]
    public async Task Identities_are_listed()
    {
        await using TestServer server = await TestServer.StartAsync();
        using (HttpResponseMessage seeded = await server.SendAsync(HttpMethod.Post, "identity/seed?name=users%7C&value=41"))
            Assert.True(seeded.IsSuccessStatusCode);
        using (HttpResponseMessage next = await server.SendAsync(HttpMethod.Post, "identity/next?name=users%7C"))
            Assert.True(next.IsSuccessStatusCode);
        JsonElement identities = await server.GetAsync("debug/identities");
        Assert.Equal("""{"users|":42}""", identities.GetRawText());
    }

    [Fact]
    public async Task A_value_that_was_included_and_has_changed_is_not_taken_from_the_cache()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        using HttpResponseMessage first = await server.Http.GetAsync(
            new Uri("docs?id=d/1&counter=c", UriKind.Relative), TestServer.Cancelled);
        using (HttpResponseMessage counted = await server.SendAsync(
            HttpMethod.Post, "counters",
            """{"Documents":[{"DocumentId":"d/1","Operations":[{"Type":"Increment","CounterName":"c","Delta":2}]}]}"""))
            Assert.True(counted.IsSuccessStatusCode);
        await server.GetAsync("docs?id=d/1&counter=c");
        using HttpResponseMessage second = await server.SendAsync(
            HttpMethod.Get, "docs?id=d/1&counter=c", null, ("If-None-Match", first.Headers.ETag!.Tag));
        Assert.Equal(HttpStatusCode.OK, second.StatusCode);
    }
}
