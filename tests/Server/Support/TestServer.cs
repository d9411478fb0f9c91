using System.Net;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Support;

/// <summary>
/// A program of a test's own around the API, on a real port, as anybody could write it with <c>AddTreepie</c> and
/// <c>MapTreepie</c>. It has a database <c>db</c>, and a client whose base address is below it.
/// </summary>
internal sealed class TestServer : IAsyncDisposable
{
    private readonly TemporaryDirectory _directory;
    private readonly WebApplication _app;

    private TestServer(TemporaryDirectory directory, WebApplication app)
    {
        _directory = directory;
        _app = app;
        Url = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single();
        Http = new HttpClient { BaseAddress = new Uri(Url + "/databases/db/") };
    }

    public string Url { get; }

    /// <summary>What the endpoints share, to see what they hold.</summary>
    public ServerContext Context => _app.Services.GetRequiredService<TreepieServices>().Contexts[0];

    public HttpClient Http { get; }

    /// <summary>What it answers to: method and pattern of each route, in a fixed order.</summary>
    public IReadOnlyList<(string Method, string Path)> Routes =>
    [
        .. _app.Services.GetRequiredService<EndpointDataSource>().Endpoints.OfType<RouteEndpoint>()
            .SelectMany(static route => (route.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods ?? ["GET", "POST"])
                .Select(method => (method, route.RoutePattern.RawText ?? "/")))
            .Order(),
    ];

    public DatabaseCatalog Catalog => _app.Services.GetRequiredService<DatabaseCatalog>();

    public static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static async Task<TestServer> StartAsync(
        Action<TreepieServerOptions>? configure = null, ILoggerProvider? log = null)
    {
        var directory = new TemporaryDirectory();
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        if (log is not null)
            builder.Logging.AddProvider(log);
        builder.Services.AddTreepie(options =>
        {
            options.DataDirectory = directory.Path;
            options.Database = options.Database with { DefaultStaleWait = Eventually.Patience };
            configure?.Invoke(options);
        });
        WebApplication app = builder.Build();
        app.MapTreepie();
        DatabaseCatalog catalog = app.Services.GetRequiredService<DatabaseCatalog>();
        _ = catalog.Find("db") ?? catalog.Create("db"); // a directory of the test's own may have it
        await app.StartAsync(Cancelled);
        return new TestServer(directory, app);
    }

    public async Task PutAsync(string id, string json)
    {
        using HttpResponseMessage response = await SendAsync(HttpMethod.Put, $"docs?id={Uri.EscapeDataString(id)}", json);
        await JsonOf(response, HttpStatusCode.Created);
    }

    public async Task<HttpResponseMessage> SendAsync(
        HttpMethod method, string url, string? body = null, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(method, url);
        if (body is not null)
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");

        foreach ((string name, string value) in headers)
            request.Headers.TryAddWithoutValidation(name, value);

        return await Http.SendAsync(request, Cancelled);
    }

    public async Task<HttpResponseMessage> SendAsync(HttpMethod method, string url, byte[] body)
    {
        using var request = new HttpRequestMessage(method, url) { Content = new ByteArrayContent(body) };
        return await Http.SendAsync(request, Cancelled);
    }

    public async Task<JsonElement> GetAsync(string url)
    {
        using HttpResponseMessage response = await Http.GetAsync(new Uri(url, UriKind.RelativeOrAbsolute), Cancelled);
        return await JsonOf(response, HttpStatusCode.OK);
    }

    /// <summary>The number of documents, to see that bad input changed nothing.</summary>
    public async Task<long> CountAsync() => (await GetAsync("stats")).GetProperty("CountOfDocuments").GetInt64();

    /// <summary>The answer's body, which must have this status.</summary>
    public static async Task<JsonElement> JsonOf(HttpResponseMessage response, HttpStatusCode expected)
    {
        string text = await response.Content.ReadAsStringAsync(Cancelled);
        Assert.True(response.StatusCode == expected, $"Expected {expected}, got {(int)response.StatusCode}: {text}");
        using var document = JsonDocument.Parse(text);
        return document.RootElement.Clone();
    }

    /// <summary>An error as the protocol describes it; gives its message.</summary>
    public static async Task<string> ErrorOf(HttpResponseMessage response, HttpStatusCode expected, string wireType)
    {
        JsonElement body = await JsonOf(response, expected);
        Assert.EndsWith(wireType, body.GetProperty("Type").GetString(), StringComparison.Ordinal);
        string message = body.GetProperty("Message").GetString()!;
        Assert.Contains(message, body.GetProperty("Error").GetString(), StringComparison.Ordinal);
        Assert.StartsWith("/", body.GetProperty("Url").GetString(), StringComparison.Ordinal);
        return message;
    }

    public async ValueTask DisposeAsync()
    {
        Http.Dispose();
        await _app.StopAsync(CancellationToken.None);
        await _app.DisposeAsync();
        _directory.Dispose();
    }
}
