using System.Net.Http.Headers;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Treepie.Server.Security;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Security;

/// <summary>Who is let in by which token, over real TLS.</summary>
public sealed class TokensTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_token_has_its_rights_until_it_is_deleted_and_is_nowhere_but_with_its_holder()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=hidden");
        JsonElement made = await MakeAsync(
            server, """{"Name":"reports","SecurityClearance":"ValidUser","Permissions":{"SHOP":"Read"}}""");
        string token = made.GetProperty("Token").GetString() ?? "", id = made.GetProperty("Id").GetString() ?? "";
        Assert.StartsWith("treepie_", token, StringComparison.Ordinal);

        Assert.Equal(404, (await SendAsync(server, token, HttpMethod.Get, "/databases/shop/docs?id=a")).Status);
        (int status, string body) = await SendAsync(server, token, HttpMethod.Put, "/databases/shop/docs?id=a", "{}");
        Assert.Equal(403, status);
        Assert.Contains(
            $"token 'reports' ({id})", JsonDocument.Parse(body).RootElement.GetProperty("Message").GetString(),
            StringComparison.Ordinal);
        Assert.Equal(403, (await SendAsync(server, token, HttpMethod.Get, "/databases/hidden/docs?id=a")).Status);
        Assert.Contains(
            $"\"Id\":\"{id}\"", (await SendAsync(server, token, HttpMethod.Get, "/certificates/whoami")).Body,
            StringComparison.Ordinal);

        string listed = await server.AdministerAsync(HttpMethod.Get, "/admin/tokens");
        Assert.Contains(id, listed, StringComparison.Ordinal);
        Assert.DoesNotContain(token, listed, StringComparison.Ordinal);
        await server.AdministerAsync(HttpMethod.Delete, $"/admin/tokens?id={id}");
        (status, body) = await SendAsync(server, token, HttpMethod.Get, "/databases/shop/docs?id=a");
        Assert.Equal(403, status);
        Assert.Contains("unknown to this server", body, StringComparison.Ordinal);
        Assert.Contains($"by token {id}", server.Error, StringComparison.Ordinal);
        await server.StopAndLookForAsync(token);
    }

    [Fact]
    public async Task A_token_outlives_the_server_and_goes_before_a_certificate_of_the_same_connection()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        JsonElement made = await MakeAsync(server, """{"Name":"nobody","SecurityClearance":"ValidUser"}""");
        string token = made.GetProperty("Token").GetString() ?? "";
        await server.RestartAsync("--admin-certificate", server.AdminPath);
        Assert.Equal(200, (await SendAsync(server, token, HttpMethod.Get, "/build/version")).Status);

        using HttpClient administrator = server.Client(server.Admin);
        foreach ((
            string? sent,
            int expected) in ((string?, int)[])
            [
                (null, 200), (token, 403), ("treepie_wrong", 403), ("other", 403), (new string('x', 4_000), 403)
            ])
        {
            administrator.DefaultRequestHeaders.Authorization = sent is null
                ? null
                : new AuthenticationHeaderValue("Bearer", sent);
            using HttpResponseMessage response = await administrator.GetAsync(
                new Uri("/admin/tokens", UriKind.Relative), Cancelled);
            Assert.Equal(expected, (int)response.StatusCode);
        }
    }

    [Fact]
    public async Task A_token_cannot_change_who_is_let_in()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        JsonElement made = await MakeAsync(server, """{"Name":"root","SecurityClearance":"ClusterAdmin","Days":1}""");
        string token = made.GetProperty("Token").GetString() ?? "", id = made.GetProperty("Id").GetString() ?? "";
        using X509Certificate2 user = server.Authority.Client("user");
        string certificate = SecuredServer.Definition("user", "ValidUser", "{}", Convert.ToBase64String(user.RawData));
        foreach ((HttpMethod method, string path, string? body) in ((HttpMethod, string, string?)[])
                 [(HttpMethod.Post, "/admin/tokens", """{"Name":"next","SecurityClearance":"ClusterAdmin"}"""), (
                     HttpMethod.Delete, $"/admin/tokens?id={id}", null),
                     (HttpMethod.Put, "/admin/certificates", certificate),
                     (HttpMethod.Delete, $"/admin/certificates?thumbprint={server.Admin.Thumbprint}", null),
                     (HttpMethod.Post, "/admin/certificates", """{"Name":"next","SecurityClearance":"Operator"}""")])
        {
            (int status, string answer) = await SendAsync(server, token, method, path, body);
            Assert.True(status == 403, $"{method} {path}: {status} {answer}");
            Assert.Contains("cannot change who is let in", answer, StringComparison.Ordinal);
        }

        Assert.Equal(200, (await SendAsync(server, token, HttpMethod.Get, "/admin/tokens")).Status);
    }

    [Fact]
    public async Task Operators_make_no_tokens_of_administrators_and_delete_none()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using X509Certificate2 operators = server.Authority.Client("operator");
        await server.RegisterAsync(operators, "Operator");
        JsonElement made = await MakeAsync(server, """{"Name":"root","SecurityClearance":"ClusterAdmin"}""");
        string path = $"/admin/tokens?id={made.GetProperty("Id").GetString()}";
        Assert.Equal(403, (await server.SendAsync(operators, HttpMethod.Delete, path)).Status);
        Assert.Equal(
            403,
            (await server.SendAsync(
                operators, HttpMethod.Post, "/admin/tokens", """{"Name":"x","SecurityClearance":"ClusterAdmin"}""")).Status);
        Assert.Equal(
            201,
            (await server.SendAsync(
                operators, HttpMethod.Post, "/admin/tokens", """{"Name":"x","SecurityClearance":"Operator"}""")).Status);
    }

    [Fact]
    public async Task Who_may_only_read_reads_counters_with_a_body_and_changes_none()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        await server.AdministerAsync(HttpMethod.Put, "/databases/shop/docs?id=d/1", "{}");
        JsonElement made = await MakeAsync(
            server, """{"Name":"reports","SecurityClearance":"ValidUser","Permissions":{"shop":"Read"}}""");
        string token = made.GetProperty("Token").GetString() ?? "";
        Assert.Equal((200, """{"Counters":[null]}"""), await CountersAsync("Get"));
        foreach (string type in new[] { "Increment", "Put", "Delete" })
        {
            (int status, string body) = await CountersAsync(type);
            Assert.Equal(403, status);
            Assert.Contains("demands ReadWrite", body, StringComparison.Ordinal);
        }

        Assert.Equal((200, """{"Counters":[null]}"""), await CountersAsync("Get"));

        Task<(int Status, string Body)> CountersAsync(string type) => SendAsync(
            server, token, HttpMethod.Post, "/databases/shop/counters",
            $$"""{"Documents":[{"DocumentId":"d/1","Operations":[{"Type":"{{type}}","CounterName":"c"}]}]}""");
    }

    [Theory]
    [InlineData("{}", "'Name'")]
    [InlineData("""{"Name":"x"}""", "'SecurityClearance'")]
    [InlineData("""{"Name":"x","SecurityClearance":"God"}""", "'God'")]
    [InlineData("""{"Name":"x","SecurityClearance":"ValidUser","Days":0}""", "from 1 to 366")]
    [InlineData("""{"Name":"x","SecurityClearance":"ValidUser","Days":1.5}""", "from 1 to 366")]
    [InlineData("""{"Name":"x","SecurityClearance":"ValidUser","Permissions":{"a":"Own"}}""", "database 'a'")]
    public async Task What_no_token_can_be_is_refused_by_name(string body, string reason)
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        (int status, string answer) = await server.SendAsync(server.Admin, HttpMethod.Post, "/admin/tokens", body);
        Assert.Equal(400, status);
        Assert.Contains(reason, answer, StringComparison.Ordinal);
        Assert.Equal("""{"Results":[]}""", await server.AdministerAsync(HttpMethod.Get, "/admin/tokens"));
    }

    [Fact]
    public async Task A_token_ends_at_its_end_and_expired_ones_make_room()
    {
        using var directory = new TemporaryDirectory();
        using var store = new AccessStore(directory.Path);
        var clock = new TestClock();
        using var tokens = new TokenRegistry(store, clock);
        (string text, string id) = TokenText.Draw();
        DateTime now = clock.GetUtcNow().UtcDateTime;
        var entry = new TokenEntry
        {
            Id = id,
            Hash = TokenText.HashOf(text) ?? "",
            Name = "short",
            Rights = Rights.All,
            NotBefore = now,
            NotAfter = now.AddDays(1)
        };
        await tokens.AddAsync(entry);
        Assert.Equal(entry, tokens.Identify(text).Entry);
        clock.Advance(TimeSpan.FromDays(1) + TimeSpan.FromSeconds(1));
        Assert.Contains("expired at", tokens.Identify(text).Complaint, StringComparison.Ordinal);
        (string other, string otherId) = TokenText.Draw();
        await tokens.AddAsync(entry with { Id = otherId, Hash = TokenText.HashOf(other) ?? "", NotAfter = now.AddDays(9) });
        Assert.Equal(otherId, Assert.Single(store.Tokens()).Id);
    }

    private static async Task<JsonElement> MakeAsync(SecuredServer server, string body) =>
        JsonDocument.Parse(await server.AdministerAsync(HttpMethod.Post, "/admin/tokens", body)).RootElement;

    private static async Task<(int Status, string Body)> SendAsync(
        SecuredServer server, string token, HttpMethod method, string path, string? body = null)
    {
        using HttpClient client = server.Client(null);
        using var request = new HttpRequestMessage(method, path)
        {
            Version = client.DefaultRequestVersion,
            VersionPolicy = client.DefaultVersionPolicy
        };
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        if (body is not null)
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        using HttpResponseMessage response = await client.SendAsync(request, Cancelled);
        return ((int)response.StatusCode, await response.Content.ReadAsStringAsync(Cancelled));
    }
}
