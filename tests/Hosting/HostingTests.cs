using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Treepie.Encryption;
using Treepie.Indexes;
using Treepie.Sessions;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Extensions.Hosting.Tests;

/// <summary>Databases and sessions by dependency injection.</summary>
public sealed class HostingTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_scope_has_one_session_under_all_its_names()
    {
        using IHost host = Host(services => services.AddTreepieDatabase(options => options.InMemory = true));
        await host.StartAsync(Token);
        await using (AsyncServiceScope scope = host.Services.CreateAsyncScope())
        {
            IDocumentSession session = scope.ServiceProvider.GetRequiredService<IDocumentSession>();
            Assert.Same(session, scope.ServiceProvider.GetRequiredService<IAsyncDocumentSession>());
            Assert.Same(session, scope.ServiceProvider.GetRequiredService<DocumentSession>());
            session.Store(new Thing { Id = "things/1" });
            session.SaveChanges();
        }

        using IServiceScope other = host.Services.CreateScope();
        Assert.NotNull(other.ServiceProvider.GetRequiredService<IDocumentSession>().Load<Thing>("things/1"));
        Assert.Same(host.Services.GetRequiredService<Database>(), host.Services.GetRequiredService<IDocumentStore>());
        await host.StopAsync(Token);
    }

    [Fact]
    public async Task Databases_under_keys_are_apart()
    {
        using IHost host = Host(services =>
        {
            services.AddTreepieDatabase(options => options.Path = Path.Combine(_directory.Path, "shop"));
            services.AddKeyedTreepieDatabase("logs", options => options.Path = Path.Combine(_directory.Path, "logs"));
        });
        await host.StartAsync(Token);
        using IServiceScope scope = host.Services.CreateScope();
        IDocumentSession logs = scope.ServiceProvider.GetRequiredKeyedService<IDocumentSession>("logs");
        logs.Store(new Thing { Id = "things/1" });
        logs.SaveChanges();
        Assert.Null(scope.ServiceProvider.GetRequiredService<IDocumentSession>().Load<Thing>("things/1"));
        Assert.Equal("logs", host.Services.GetRequiredKeyedService<IDocumentStore>("logs").Name);
    }

    [Fact]
    public async Task A_database_is_closed_with_its_host()
    {
        Database database;
        using (IHost host = Host(services => services.AddTreepieDatabase(options => options.Path = _directory.Path)))
        {
            await host.StartAsync(Token);
            database = host.Services.GetRequiredService<Database>();
            await host.StopAsync(Token);
        }

        Assert.Throws<ObjectDisposedException>(database.OpenSession);
        using Database again = Database.Open(_directory.Path); // its lock is free
    }

    [Fact]
    public async Task What_keeps_a_database_from_opening_is_said_when_the_program_starts()
    {
        using IHost host = Host(services => services.AddTreepieDatabase(_ => { }));
        OptionsValidationException error = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync(Token));
        Assert.Contains("TreepieHostingOptions.Path", error.Message, StringComparison.Ordinal);
        using IHost wrong = Host(services => services.AddKeyedTreepieDatabase("logs", options =>
            (options.InMemory, options.SlowQueries, options.BackgroundChecks) = (true, TimeSpan.FromSeconds(-1), TimeSpan.Zero)));
        error = await Assert.ThrowsAsync<OptionsValidationException>(() => wrong.StartAsync(Token));
        Assert.Equal(2, error.Failures.Count());
        Assert.All(error.Failures, failure => Assert.Contains("key 'logs'", failure, StringComparison.Ordinal));
        Assert.Contains(
            "added twice",
            Assert.Throws<InvalidOperationException>(
                () => Host(services => services.AddTreepieDatabase(_ => { }).AddTreepieDatabase(_ => { }))).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_database_in_memory_is_named_after_its_key()
    {
        using IHost host = Host(services => services
            .AddKeyedTreepieDatabase("logs", options => options.InMemory = true)
            .AddKeyedTreepieDatabase("shop", options =>
            {
                options.InMemory = true;
                options.Database = new DatabaseOptions { Name = "orders" };
            }));
        await host.StartAsync(Token);
        Assert.Equal("logs", host.Services.GetRequiredKeyedService<Database>("logs").Name);
        Assert.Equal("orders", host.Services.GetRequiredKeyedService<Database>("shop").Name);
    }

    [Fact]
    public async Task Health_is_that_of_the_database()
    {
        using IHost host = Host(
            services => services.AddTreepieDatabase(options => options.InMemory = true).AddHealthChecks().AddTreepie());
        await host.StartAsync(Token);
        HealthCheckService health = host.Services.GetRequiredService<HealthCheckService>();
        HealthReport report = await health.CheckHealthAsync(Token);
        Assert.Equal(HealthStatus.Healthy, report.Status);
        Assert.Equal(0L, report.Entries["treepie"].Data["documents"]);
        host.Services.GetRequiredService<Database>().Dispose();
        Assert.Equal(HealthStatus.Unhealthy, (await health.CheckHealthAsync(Token)).Status);
    }

    [Fact]
    public async Task Databases_are_those_of_the_sections_of_the_configuration()
    {
        IConfiguration configuration = Configuration(
            ("Treepie:shop:Path", Path.Combine(_directory.Path, "data")),
            ("Treepie:shop:Name", "the shop"),
            ("Treepie:shop:MaxQueryTime", "00:00:07"),
            ("Treepie:log:InMemory", "true"),
            ("Treepie:log:SlowQueries", "00:00:00.5"));
        using IHost host = Host(services => services
            .AddTreepieDatabase(Configuration(("InMemory", "true")))
            .AddKeyedTreepieDatabases(configuration.GetSection("Treepie"))
            .Configure<TreepieHostingOptions>("log", options => options.BackgroundChecks = TimeSpan.FromHours(1)));
        await host.StartAsync(Token);
        Database shop = host.Services.GetRequiredKeyedService<Database>("shop");
        Assert.Equal(("the shop", Path.Combine(_directory.Path, "data")), (shop.Name, shop.DataDirectory));
        Assert.Equal("log", host.Services.GetRequiredKeyedService<Database>("log").Name);
        var options = host.Services.GetRequiredService<IOptionsMonitor<TreepieHostingOptions>>();
        Assert.Equal(TimeSpan.FromSeconds(7), options.Get("shop").Database.MaxQueryTime);
        Assert.Equal(
            (TimeSpan.FromSeconds(0.5), TimeSpan.FromHours(1)),
            (options.Get("log").SlowQueries, options.Get("log").BackgroundChecks));
        Assert.True(options.CurrentValue.InMemory);
    }

    [Fact]
    public async Task The_key_of_a_database_is_read_where_its_section_says()
    {
        string file = Path.Combine(_directory.Path, "shop.key");
        using (EncryptionKey key = EncryptionKey.Generate())
            KeyFile.Create(file, key);
        (string, string?)[] settings = [("Path", Path.Combine(_directory.Path, "data")), ("Key", "file:" + file)];
        for (int run = 0; run < 2; run++)
        {
            using IHost host = Host(services => services.AddTreepieDatabase(Configuration(settings)));
            await host.StartAsync(Token);
            await host.StopAsync(Token);
        }

        using IHost without = Host(services => services.AddTreepieDatabase(Configuration(settings[0])));
        await Assert.ThrowsAnyAsync<TreepieException>(() => without.StartAsync(Token));
    }

    [Theory]
    [InlineData("Pth", "data", "'Pth' of the configuration is no setting of a database")]
    [InlineData("InMemory", "perhaps", "'true' or 'false'")]
    [InlineData("MaxQueryTime", "soon", "a time such as")]
    [InlineData("MaxDocumentBytes", "-1", "a whole number up to 2,147,483,647")]
    [InlineData("MaxDocumentBytes", "2147483648", "a whole number up to 2,147,483,647")]
    [InlineData("Key", "shop.key", "is no source of a key")]
    public async Task A_setting_that_cannot_be_read_is_named_when_the_host_starts(string setting, string value, string says)
    {
        (string, string?)[] settings = setting == "InMemory" ? [(setting, value)] : [("InMemory", "true"), (setting, value)];
        using IHost host = Host(services => services.AddTreepieDatabase(Configuration(settings)));
        var error = await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync(Token));
        Assert.Contains(says, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Slow_queries_are_logged_with_their_text_but_not_their_values()
    {
        var log = new CollectedLog();
        using IHost host = Host(services => services.AddSingleton<ILoggerFactory>(log).AddTreepieDatabase(options =>
            (options.InMemory, options.SlowQueries) = (true, TimeSpan.Zero)));
        await host.StartAsync(Token);
        string secret = "hidden";
        using (IServiceScope scope = host.Services.CreateScope())
            Assert.Empty(scope.ServiceProvider.GetRequiredService<IDocumentSession>().Query<Thing>().Where(t => t.Id == secret));
        string slow = Assert.Single(log.Lines, line => line.Contains("A query of the database", StringComparison.Ordinal));
        Assert.Contains("from Things where id() = $p0", slow, StringComparison.Ordinal);
        Assert.DoesNotContain(secret, slow, StringComparison.Ordinal);
        await host.StopAsync(Token);
        host.Dispose();
        Assert.Contains(log.Lines, line => line.StartsWith("Information: Opened the database", StringComparison.Ordinal));
        Assert.Contains(log.Lines, line => line.StartsWith("Information: Closed the database", StringComparison.Ordinal));
    }

    [Fact]
    public async Task What_goes_wrong_between_requests_is_logged_once()
    {
        var log = new CollectedLog();
        var clock = new SteppedClock();
        using IHost host = Host(services => services.AddSingleton<ILoggerFactory>(log).AddTreepieDatabase(options =>
        {
            options.InMemory = true;
            options.Database = new DatabaseOptions { TimeProvider = clock };
        }));
        await host.StartAsync(Token);
        Database database = host.Services.GetRequiredService<Database>();
        database.Indexes.Put(new IndexDefinition
        {
            Name = "Places",
            Collections = ["Places"],
            Fields = [new() { Name = "Shape", Spatial = new() { Wkt = "Shape" } }],
        });
        await database.WriteAsync(
            new WriteBatch().Put("places/1", "{\"Shape\":\"nowhere\",\"@metadata\":{\"@collection\":\"Places\"}}"u8), Token);
        await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromSeconds(60), ["Places"], Token);
        for (int check = 0; check < 3; check++)
            clock.Step();
        string failed = Assert.Single(log.Lines, line => line.Contains("The index Places", StringComparison.Ordinal));
        Assert.StartsWith("Warning: The index Places of the database", failed, StringComparison.Ordinal);
    }

    private static IConfiguration Configuration(params (string Key, string? Value)[] settings) => new ConfigurationBuilder()
        .AddInMemoryCollection(settings.Select(setting => KeyValuePair.Create(setting.Key, setting.Value)))
        .Build();

    private static IHost Host(Action<IServiceCollection> add)
    {
        HostApplicationBuilder builder = Microsoft.Extensions.Hosting.Host.CreateEmptyApplicationBuilder(null);
        add(builder.Services);
        return builder.Build();
    }

    private sealed class Thing
    {
        public string? Id { get; set; }
    }
}
