using System.Net;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Health;

/// <summary>Whether the server can serve, as strangers and as operators see it.</summary>
public sealed class HealthTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_server_with_nothing_wrong_is_alive_and_ready()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach ((
            string path,
            string status) in ((string, string)[])[("/healthz", "Alive"), ("/readyz", "Ready"), ("/admin/health", "Ready")])
        {
            JsonElement answer = await server.GetAsync(server.Url + path);
            Assert.Equal(status, answer.GetProperty("Status").GetString());
            if (answer.TryGetProperty("Problems", out JsonElement problems))
                Assert.Empty(problems.EnumerateArray());
        }
    }

    [Fact]
    public async Task A_full_disk_makes_it_not_ready_and_only_operators_are_told_why()
    {
        await using SecuredServer server = await SecuredServer.StartAsync("--min-free-disk-bytes", "1000000000000");
        using X509Certificate2 user = server.Authority.Client("user");
        await server.RegisterAsync(user);
        Assert.Equal((200, """{"Status":"Alive"}"""), await server.GetAsync(null, "/healthz"));
        Assert.Equal((503, """{"Status":"NotReady"}"""), await server.GetAsync(null, "/readyz"));
        Assert.Equal(403, (await server.GetAsync(null, "/admin/health")).Status);
        Assert.Equal(403, (await server.GetAsync(user, "/admin/health")).Status);
        JsonElement problem = Assert.Single(
            JsonDocument.Parse(await server.AdministerAsync(HttpMethod.Get, "/admin/health")).RootElement
                .GetProperty("Problems")
                .EnumerateArray());
        Assert.Equal("Critical", problem.GetProperty("Severity").GetString());
        Assert.Contains("--min-free-disk-bytes", problem.GetProperty("Message").GetString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_database_that_does_not_open_is_a_warning_and_the_others_serve()
    {
        await using TestServer server = await TestServer.StartAsync(options =>
        {
            string broken = Path.Combine(options.DataDirectory, "databases", "broken", "documents");
            Directory.CreateDirectory(broken);
            File.WriteAllText(Path.Combine(broken, "data.treepie"), "nothing that can be read");
        });
        using HttpResponseMessage asked = await server.SendAsync(HttpMethod.Get, server.Url + "/databases/broken/stats");
        Assert.NotEqual(HttpStatusCode.OK, asked.StatusCode);
        Assert.Equal("Ready", (await server.GetAsync(server.Url + "/readyz")).GetProperty("Status").GetString());
        JsonElement problem = Assert.Single(
            (await server.GetAsync(server.Url + "/admin/health")).GetProperty("Problems").EnumerateArray());
        Assert.Equal(
            "Warning broken", $"{problem.GetProperty("Severity").GetString()} {problem.GetProperty("Database").GetString()}");
    }
}
