using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>The log of a running server is set over HTTP, as far as it can be, and says what it is.</summary>
public sealed class LogEndpointsTests
{
    private const string Path = "/admin/logs/configuration", Executing = "Executing endpoint";

    [Fact]
    public async Task The_mode_of_the_log_changes_while_the_server_runs()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        Assert.Equal(("Operations", "Operations"), await ModesAsync(server));
        Assert.DoesNotContain(Executing, server.Error, StringComparison.Ordinal);

        await server.AdministerAsync(
            HttpMethod.Post, Path, """{"Mode":"Information","RetentionTime":null,"Compress":false,"UseUtcTime":true}""");
        Assert.Equal(("Information", "Operations"), await ModesAsync(server));
        Assert.Contains(Executing, server.Error, StringComparison.Ordinal);

        await server.AdministerAsync(HttpMethod.Post, Path, """{"Mode":"none"}""");
        Assert.Equal(("None", "Operations"), await ModesAsync(server));
        int written = Count(server.Error, Executing);
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=d", "{}");
        Assert.Equal(written, Count(server.Error, Executing));
        Assert.Contains("Passed PUT /admin/databases", server.Error, StringComparison.Ordinal);

        await server.AdministerAsync(HttpMethod.Post, Path, """{"Mode":"Operations"}""");
        Assert.Equal(("Operations", "Operations"), await ModesAsync(server));
    }

    [Fact]
    public async Task No_mode_writes_what_is_secret()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        await server.AdministerAsync(HttpMethod.Post, Path, """{"Mode":"Information"}""");
        using HttpClient client = server.Client(server.Admin);
        using var request = new HttpRequestMessage(HttpMethod.Put, "/admin/databases?name=d&key=SecretOfQuery")
        {
            Content = new StringContent("""{"DatabaseName":"d","Settings":{"SecretOfBody":"x"}}"""),
        };
        request.Headers.TryAddWithoutValidation("X-Key", "SecretOfHeader");
        using HttpResponseMessage created = await client.SendAsync(request, TestServer.Cancelled);
        Assert.Equal(HttpStatusCode.Created, created.StatusCode);
        Assert.Contains(Executing, server.Error, StringComparison.Ordinal);
        Assert.DoesNotContain("SecretOf", server.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"Mode":"Debug"}""", 400, "None, Operations, Information")]
    [InlineData("{}", 400, "Mode")]
    [InlineData("[]", 400, "log")]
    [InlineData("""{"Mode":"None","RetentionTime":"1.00:00:00"}""", 501, "RetentionTime")]
    [InlineData("""{"Mode":"None","RetentionSize":1024}""", 501, "RetentionSize")]
    [InlineData("""{"Mode":"None","Compress":true}""", 501, "Compress")]
    [InlineData("""{"Mode":"None","Persist":true}""", 501, "Persist")]
    [InlineData("""{"Logs":{"MinLevel":"Off"}}""", 501, "Logs")]
    public async Task What_cannot_be_set_is_refused_by_name(string body, int status, string said)
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        (int answered, string answer) = await server.SendAsync(server.Admin, HttpMethod.Post, Path, body);
        Assert.Equal(status, answered);
        Assert.Contains(said, answer, StringComparison.Ordinal);
        Assert.Equal(("Operations", "Operations"), await ModesAsync(server));
    }

    [Fact]
    public async Task The_log_of_another_program_is_not_set()
    {
        using var log = new WrittenLog();
        await using TestServer server = await TestServer.StartAsync(log: log);
        using HttpResponseMessage refused = await server.SendAsync(HttpMethod.Post, server.Url + Path, """{"Mode":"None"}""");
        Assert.Contains(
            "program around the server",
            await TestServer.ErrorOf(refused, HttpStatusCode.NotImplemented, "NotSupportedException"), StringComparison.Ordinal);
        JsonElement modes = await server.GetAsync(server.Url + Path);
        Assert.Equal("Information", modes.GetProperty("CurrentMode").GetString());
    }

    private static int Count(string text, string part) => text.Split(part).Length - 1;

    private static async Task<(string?, string?)> ModesAsync(SecuredServer server)
    {
        using JsonDocument json = JsonDocument.Parse(await server.AdministerAsync(HttpMethod.Get, Path));
        return (
            json.RootElement.GetProperty("CurrentMode").GetString(), json.RootElement.GetProperty("Mode").GetString());
    }
}
