using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Treepie.Lifecycle;
using Treepie.Server.Databases;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Databases;

/// <summary>Databases that nobody uses are closed, and nobody notices but the memory and the files.</summary>
public sealed class IdleDatabasesTests
{
    [Fact]
    public async Task A_database_that_nobody_uses_is_closed_and_opens_again_with_all_that_was_acknowledged()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("a/1", """{"Name":"a"}""");
        DatabaseGate gate = server.Context.Databases;
        gate.CloseIdle(TimeSpan.FromHours(1));
        Assert.True(IsOpen(server)); // it was used a moment ago
        gate.CloseIdle(TimeSpan.Zero);
        Assert.False(IsOpen(server));
        Assert.Null(gate.TryLook("db"));
        Assert.False(IsOpen(server)); // to look at it opens nothing
        JsonElement found = await server.GetAsync("docs?id=a/1");
        Assert.Equal("a", found.GetProperty("Results")[0].GetProperty("Name").GetString());
        Assert.True(IsOpen(server));
    }

    [Fact]
    public async Task One_that_is_read_from_or_has_work_of_its_own_stays_open()
    {
        await using TestServer server = await TestServer.StartAsync();
        DatabaseGate gate = server.Context.Databases;
        using (gate.Enter("db"))
        {
            gate.CloseIdle(TimeSpan.Zero);
            Assert.True(IsOpen(server));
        }

        Database database = server.Catalog.Find("db")!;
        await database.Lifecycle.SetAsync(
            LifecycleTask.Expiration, new LifecycleSettings { Frequency = TimeSpan.FromHours(1) }, TestServer.Cancelled);
        gate.CloseIdle(TimeSpan.Zero);
        Assert.True(IsOpen(server));
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, null, TestServer.Cancelled);
        gate.CloseIdle(TimeSpan.Zero);
        Assert.False(IsOpen(server));
    }

    [Fact]
    public async Task To_look_at_a_database_is_no_use_of_it()
    {
        var clock = new TestClock();
        await using TestServer server = await TestServer.StartAsync(
            options => options.Database = options.Database with { TimeProvider = clock });
        using (server.Context.Databases.Enter("db"))
            clock.Advance(TimeSpan.FromMinutes(1));
        clock.Advance(TimeSpan.FromMinutes(10));
        using (DatabaseLease? look = server.Context.Databases.TryLook("db"))
            Assert.NotNull(look);
        server.Context.Databases.CloseIdle(TimeSpan.FromMinutes(11));
        Assert.True(IsOpen(server));
        server.Context.Databases.CloseIdle(TimeSpan.FromMinutes(10));
        Assert.False(IsOpen(server));
    }

    [Fact]
    public async Task Requests_that_come_while_databases_are_closed_are_all_answered()
    {
        const int Writers = 4, Each = 50;
        await using TestServer server = await TestServer.StartAsync();
        using var done = new CancellationTokenSource();
        int closed = 0;
        var closing = Task.Run(
            () =>
            {
                while (!done.IsCancellationRequested)
                {
                    server.Context.Databases.CloseIdle(TimeSpan.Zero);
                    closed += IsOpen(server) ? 0 : 1;
                }
            },
            TestServer.Cancelled);
        await Task.WhenAll(Enumerable.Range(0, Writers).Select(async writer =>
        {
            for (int i = 0; i < Each; i++)
                await server.PutAsync($"{writer}/{i}", "{}");
        }));
        await done.CancelAsync();
        await closing;
        Assert.Equal(Writers * Each, await server.CountAsync());
        Assert.True(closed > 0, "No database was closed meanwhile.");
    }

    /// <summary>
    /// With <c>TREEPIE_DATABASES=10000</c> as many; they need more files than the process may open, so most are closed at a time.
    /// </summary>
    [Fact]
    public async Task More_databases_than_the_process_has_files_for_are_served()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Limits of a process are set on Linux.");
        const int OpenFiles = 500;
        int databases = int.Parse(
            Environment.GetEnvironmentVariable("TREEPIE_DATABASES") ?? "200", System.Globalization.CultureInfo.InvariantCulture);
        await using ServerProcess server = await LimitedServer.StartAsync(OpenFiles);
        for (int i = 0; i < databases; i++)
        {
            using (HttpResponseMessage created = await server.Http.PutAsJsonAsync(
                $"/admin/databases?name=db{i}", new { DatabaseName = $"db{i}" }, TestServer.Cancelled))
                Assert.Equal(HttpStatusCode.Created, created.StatusCode);
            using var thing = new StringContent(
                $$$"""{"Number":{{{i}}},"@metadata":{"@collection":"Things"}}""", Encoding.UTF8, "application/json");
            using HttpResponseMessage put = await server.Http.PutAsync(
                new Uri($"/databases/db{i}/docs?id=a/1", UriKind.Relative), thing, TestServer.Cancelled);
            Assert.Equal(HttpStatusCode.Created, put.StatusCode);
            await AssertFoundByIndexAsync(server, i);
        }

        for (int i = 0; i < databases; i += Math.Max(1, databases / 200))
        {
            JsonElement found = await server.Http.GetFromJsonAsync<JsonElement>(
                $"/databases/db{i}/docs?id=a/1", TestServer.Cancelled);
            Assert.Equal(i, found.GetProperty("Results")[0].GetProperty("Number").GetInt32());
            await AssertFoundByIndexAsync(server, i);
        }

        JsonElement all = await server.Http.GetFromJsonAsync<JsonElement>("/databases?namesOnly=true", TestServer.Cancelled);
        Assert.Equal(databases, all.GetProperty("Databases").GetArrayLength());
        Assert.Equal(0, await server.StopAsync());
    }

    private static async Task AssertFoundByIndexAsync(ServerProcess server, int number)
    {
        using var query = new StringContent(
            $$"""
              {"Query":"from Things where Number = {{number}}","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:01:00"}
              """,
            Encoding.UTF8, "application/json");
        using HttpResponseMessage response = await server.Http.PostAsync(
            new Uri($"/databases/db{number}/queries", UriKind.Relative), query, TestServer.Cancelled);
        JsonElement answer = await TestServer.JsonOf(response, HttpStatusCode.OK);
        Assert.StartsWith("Auto/", answer.GetProperty("IndexName").GetString(), StringComparison.Ordinal);
        Assert.Equal(1, answer.GetProperty("TotalResults").GetInt32());
    }

    private static bool IsOpen(TestServer server) => server.Catalog.Describe("db")!.IsOpen;
}
