using System.Net;
using System.Security.Claims;
using System.Security.Principal;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.DependencyInjection;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Server.Tests;

/// <summary>The API in somebody else's ASP.NET program.</summary>
public sealed class MapTreepieTests
{
    private const int TextBytes = 20_000;

    [Fact]
    public async Task One_database_of_the_programs_own_is_served_beside_its_other_routes()
    {
        using var directory = new TemporaryDirectory();
        await using Database database = Database.Open(Path.Combine(directory.Path, "shop"));
        await database.WriteAsync(
            new WriteBatch().Put("users/1", """{"name":"Ada"}"""u8.ToArray()), TestContext.Current.CancellationToken);
        await using WebApplication app = Build();
        app.MapGet("/", () => "the program's own page");
        app.MapTreepie(database);
        await app.StartAsync(TestContext.Current.CancellationToken);
        using HttpClient http = app.GetTestClient();
        Assert.Equal("the program's own page", await GetAsync(http, "/"));
        Assert.Contains("Ada", await GetAsync(http, "/databases/shop/docs?id=users/1"), StringComparison.Ordinal);
        using HttpResponseMessage create = await http.PutAsync(
            new Uri("/admin/databases?name=other", UriKind.Relative), null, TestContext.Current.CancellationToken);
        Assert.Contains(
            "shop", await create.Content.ReadAsStringAsync(TestContext.Current.CancellationToken), StringComparison.Ordinal);
        Assert.Equal(400, (int)create.StatusCode);
        using HttpResponseMessage none = await http.GetAsync(
            new Uri("/somewhere", UriKind.Relative), TestContext.Current.CancellationToken);
        Assert.Equal(404, (int)none.StatusCode);
    }

    [Fact]
    public async Task Below_a_group_clients_are_told_the_groups_address()
    {
        using var directory = new TemporaryDirectory();
        await using Database database = Database.Open(Path.Combine(directory.Path, "shop"));
        await using WebApplication app = Build();
        app.MapGroup("/data").MapTreepie(database);
        await app.StartAsync(TestContext.Current.CancellationToken);
        using HttpClient http = app.GetTestClient();
        using var topology = JsonDocument.Parse(await GetAsync(http, "/data/topology?name=shop"));
        Assert.Equal("http://localhost/data", topology.RootElement.GetProperty("Nodes")[0].GetProperty("Url").GetString());
        Assert.Contains("CountOfDocuments", await GetAsync(http, "/data/databases/shop/stats"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_catalogue_of_the_programs_own_stays_open_after_the_app()
    {
        using var directory = new TemporaryDirectory();
        await using var catalog = new DatabaseCatalog(directory.Path);
        await using (WebApplication app = Build())
        {
            app.MapTreepie(catalog);
            await app.StartAsync(TestContext.Current.CancellationToken);
            using HttpClient http = app.GetTestClient();
            using HttpResponseMessage created = await http.PutAsync(
                new Uri("/admin/databases?name=a", UriKind.Relative), null, TestContext.Current.CancellationToken);
            Assert.Equal(201, (int)created.StatusCode);
        }

        Assert.Equal(["a"], catalog.Names);
        Assert.NotNull(catalog.Find("a"));
    }

    [Theory]
    [InlineData("127.0.0.1", null, 200)]
    [InlineData("::1", null, 200)]
    [InlineData("::ffff:127.0.0.1", null, 200)]
    [InlineData("192.0.2.7", null, 403)]
    [InlineData("192.0.2.7", "AllowAnonymous", 200)]
    [InlineData("192.0.2.7", "RequireAuthorization", 200)]
    [InlineData("192.0.2.7", "User", 200)]
    public async Task On_an_address_that_others_reach_the_program_must_say_who_may(string address, string? decision, int expected)
    {
        using var directory = new TemporaryDirectory();
        await using Database database = Database.Open(Path.Combine(directory.Path, "shop"));
        await using WebApplication app = Build();
        app.Use((http, next) =>
        {
            http.Connection.LocalIpAddress = IPAddress.Parse(address);
            if (decision == "User")
                http.User = new ClaimsPrincipal(new GenericIdentity("somebody", "test"));
            return next(http);
        });
        IEndpointConventionBuilder endpoints = app.MapTreepie(database);
        if (decision == "AllowAnonymous")
            endpoints.AllowAnonymous();
        else if (decision == "RequireAuthorization")
            endpoints.RequireAuthorization(static policy => policy.RequireAssertion(static _ => true));
        await app.StartAsync(TestContext.Current.CancellationToken);
        using HttpClient http = app.GetTestClient();
        using HttpResponseMessage response = await http.GetAsync(
            new Uri("/databases/shop/stats", UriKind.Relative), TestContext.Current.CancellationToken);
        Assert.Equal(expected, (int)response.StatusCode);
    }

    [Fact]
    public void Without_AddTreepie_the_message_says_what_is_missing()
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        using var app = (IDisposable)builder.Build();
        Assert.Contains(
            "AddTreepie", Assert.Throws<InvalidOperationException>(() => ((WebApplication)app).MapTreepie()).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_program_that_compresses_answers_compresses_short_and_long_ones()
    {
        using var directory = new TemporaryDirectory();
        await using Database database = Database.Open(Path.Combine(directory.Path, "shop"));
        var batch = new WriteBatch();
        for (int i = 0; i < 8; i++)
            batch.Put(
                $"users/{i}",
                System.Text.Encoding.UTF8.GetBytes(
                    $$$"""{"t":"{{{new string('x', TextBytes)}}}","@metadata":{"@collection":"Users"}}"""));
        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddTreepie();
        builder.Services.AddResponseCompression();
        await using WebApplication app = builder.Build();
        app.UseResponseCompression();
        app.MapTreepie(database);
        await app.StartAsync(TestContext.Current.CancellationToken);
        using var handler = new SocketsHttpHandler { AutomaticDecompression = DecompressionMethods.GZip };
        using var http = new HttpClient(handler) { BaseAddress = new Uri(app.Urls.First()) };
        using var plain = new HttpClient { BaseAddress = http.BaseAddress, DefaultRequestHeaders = { { "Accept-Encoding", "gzip" } } };
        foreach (int count in (int[])[1, 8])
        {
            string query = $$"""{"Query":"from Users limit {{count}}"}""";
            using HttpResponseMessage read = await http.PostAsync(
                new Uri("/databases/shop/queries", UriKind.Relative), new StringContent(query),
                TestContext.Current.CancellationToken);
            using var answer = JsonDocument.Parse(
                await read.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
            Assert.Equal(count, answer.RootElement.GetProperty("Results").GetArrayLength());
            using HttpResponseMessage packed = await plain.PostAsync(
                new Uri("/databases/shop/queries", UriKind.Relative), new StringContent(query),
                TestContext.Current.CancellationToken);
            Assert.Equal(["gzip"], packed.Content.Headers.ContentEncoding);
            Assert.InRange(
                (await packed.Content.ReadAsByteArrayAsync(TestContext.Current.CancellationToken)).Length, 1, TextBytes / 2);
        }
    }

    private static WebApplication Build()
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseTestServer();
        builder.Services.AddTreepie();
        builder.Services.AddAuthorization();
        return builder.Build();
    }

    private static Task<string> GetAsync(HttpClient http, string url) =>
        http.GetStringAsync(new Uri(url, UriKind.Relative), TestContext.Current.CancellationToken);
}
