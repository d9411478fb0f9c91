using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net;
using System.Net.Http.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using OpenTelemetry;
using OpenTelemetry.Trace;
using Shop;
using Treepie.Store;

namespace Treepie.Extensions.Hosting.Tests;

/// <summary>The sample shop over HTTP, its databases in memory: how a program that uses Treepie is tested.</summary>
public sealed class ShopTests : IAsyncLifetime
{
    private readonly ConcurrentBag<Activity> _spans = [];
    private WebApplication? _shop;
    private HttpClient _client = new();

    private IServiceProvider Services => _shop?.Services ?? throw new InvalidOperationException("The shop has not started.");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.WebHost.UseTestServer();
        builder.Logging.ClearProviders();
        builder.Configuration.AddInMemoryCollection([new KeyValuePair<string, string?>("Shop:InMemory", "true")]);
        builder.Services.ConfigureOpenTelemetryTracerProvider((_, traces) => traces.AddProcessor(new Recorder(_spans)));
        _shop = ShopProgram.Build(builder);
        await _shop.StartAsync(Token);
        _client = _shop.GetTestClient();
        await Add("Red lamp", "A lamp for the desk", "Lamps", 20, 2);
        await Add("Desk", "Made of oak", "Tables", 200, 1);
        await Add("Blue lamp", "Hangs from the ceiling", "Lamps", 40, 5);
    }

    public async ValueTask DisposeAsync()
    {
        _client.Dispose();
        if (_shop is not null)
            await _shop.DisposeAsync();
    }

    [Fact]
    public async Task Products_are_found_by_words_price_and_id()
    {
        Assert.Equal(["Blue lamp", "Desk", "Red lamp"], await Names("/products"));
        Assert.Equal(["Desk", "Red lamp"], await Names("/products?search=desk"));
        Assert.Equal(["Red lamp"], await Names("/products?atMost=30"));
        Assert.Equal("Red lamp", (await _client.GetFromJsonAsync<Product>("/products/1", Token))?.Name);
        Assert.Equal(
            HttpStatusCode.NotFound, (await _client.GetAsync(new Uri("/products/99", UriKind.Relative), Token)).StatusCode);
        Dictionary<string, long>? categories = await _client.GetFromJsonAsync<Dictionary<string, long>>("/categories", Token);
        Assert.Equal(2, categories?["lamps"]);
    }

    [Fact]
    public async Task What_is_sold_leaves_the_stock()
    {
        Assert.Equal(HttpStatusCode.Created, await Buy(1, 2));
        Assert.Equal(HttpStatusCode.Conflict, await Buy(1, 1));
        Assert.Equal(HttpStatusCode.BadRequest, await Buy(1, 0));
        Assert.Equal(0, (await _client.GetFromJsonAsync<Product>("/products/1", Token))?.Stock);
        HttpStatusCode[] answers = await Task.WhenAll(Enumerable.Range(0, 20).Select(_ => Buy(3, 1)));
        Assert.Equal(0, (await _client.GetFromJsonAsync<Product>("/products/3", Token))?.Stock);
        Assert.Equal(5, answers.Count(answer => answer == HttpStatusCode.Created));
        Assert.Equal(HttpStatusCode.NotFound, await Buy(99, 1));
    }

    [Fact]
    public async Task The_stock_and_the_order_are_one_commit()
    {
        Database database = Services.GetRequiredService<Database>();
        Assert.Equal(HttpStatusCode.Created, await Buy(3, 1)); // reserves ids
        long before = database.GetStatistics().LastEtag;
        HttpResponseMessage answer = await _client.PostAsJsonAsync("/orders", new PurchaseRequest(2, 1), Token);
        Assert.Equal(HttpStatusCode.Created, answer.StatusCode);
        Order? order = await _client.GetFromJsonAsync<Order>(answer.Headers.Location, Token);
        Assert.Equal((2, 1, 200m), (order?.ProductId, order?.Amount, order?.Total));
        Assert.Equal(["Orders", "Products"], Collections(database).Order());
        Assert.Equal(before + 2, database.GetStatistics().LastEtag); // both, and nothing else
    }

    [Fact]
    public async Task The_shop_says_that_it_is_healthy() =>
        Assert.Equal("Healthy", await _client.GetStringAsync("/healthz", Token));

    [Fact]
    public async Task Searches_are_kept_in_the_database_with_their_key()
    {
        await Names("/products?search=lamp");

        Database log = Services.GetRequiredKeyedService<Database>("log");
        Assert.Equal(["SearchEntries"], Collections(log));
        Assert.Equal(["Products"], Collections(Services.GetRequiredService<Database>()));
        using IServiceScope scope = Services.CreateScope();
        var session = scope.ServiceProvider.GetRequiredKeyedService<IDocumentSession>("log");
        SearchEntry entry = Assert.Single(session.Query<SearchEntry>().ToList());
        Assert.Equal(("lamp", 2), (entry.Words, entry.Found));
        Assert.NotSame(session, scope.ServiceProvider.GetRequiredService<IDocumentSession>());
    }

    [Fact]
    public async Task The_telemetry_of_the_shop_traces_a_request_down_to_its_commits()
    {
        var trace = ActivityTraceId.CreateRandom();
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri("/orders", UriKind.Relative))
        {
            Content = JsonContent.Create(new PurchaseRequest(3, 1)),
        };
        request.Headers.Add("traceparent", $"00-{trace}-{ActivitySpanId.CreateRandom()}-01");

        using HttpResponseMessage answer = await _client.SendAsync(request, Token);

        Assert.Equal(HttpStatusCode.Created, answer.StatusCode);
        Activity[] seen = [.. _spans.Where(span => span.TraceId == trace && span.Source.Name == "Treepie")];
        Activity[] writes = [.. seen.Where(span => span.OperationName == "treepie.write")];
        Assert.NotEmpty(writes);
        Assert.All(writes, write => Assert.Equal("shop", write.GetTagItem("db.namespace")));
        Assert.All(
            writes,
            write => Assert.Equal(
                ["treepie.apply", "treepie.commit"],
                seen.Where(span => span.ParentSpanId == write.SpanId).Select(span => span.OperationName).Order()));
    }

    private static IEnumerable<string> Collections(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [.. snapshot.Collections().Select(collection => collection.Name).Where(name => !name.StartsWith('@'))];
    }

    private async Task<IEnumerable<string>> Names(string path) =>
        (await _client.GetFromJsonAsync<Product[]>(path, Token) ?? []).Select(product => product.Name);

    private async Task<HttpStatusCode> Buy(int product, int amount) =>
        (await _client.PostAsJsonAsync("/orders", new PurchaseRequest(product, amount), Token)).StatusCode;

    private async Task Add(string name, string description, string category, decimal price, int stock) =>
        (await _client.PostAsJsonAsync(
            "/products",
            new Product { Name = name, Description = description, Category = category, Price = price, Stock = stock },
            Token)).EnsureSuccessStatusCode();

    /// <summary>Keeps the spans that the telemetry of the shop records.</summary>
    private sealed class Recorder(ConcurrentBag<Activity> spans) : BaseProcessor<Activity>
    {
        public override void OnEnd(Activity data) => spans.Add(data);
    }
}
