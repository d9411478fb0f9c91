using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Treepie.Sessions;
using Treepie.Tests.Support;

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
        InvalidOperationException error = await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync(Token));
        Assert.Contains("TreepieHostingOptions.Path", error.Message, StringComparison.Ordinal);
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
