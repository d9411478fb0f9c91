using Treepie.Server.Databases;
using Treepie.Server.Operations;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Operations;

/// <summary>What is logged of work that outlives its request: its failures, and not that what it needs was closed.</summary>
public sealed class WorkEndTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Work_under_which_its_database_is_closed_did_not_fail()
    {
        using var log = new WrittenLog();
        await using TestServer server = await TestServer.StartAsync(log: log);
        await server.PutAsync("users/1", "{}");
        DatabaseLease lease = server.Context.Databases.Enter("db");
        var closed = new TaskCompletionSource();
        Operation enforcing = server.Context.Backups.Start(
            server.Context.Operations.Of("db"), "enforcing revisions", async (_, stop) =>
            {
                using DatabaseLease inside = lease;
                await closed.Task.WaitAsync(stop);
                await lease.Database.Revisions.EnforceAsync([], false, stop);
                return static _ => { };
            },
            lease);
        await lease.Database.DisposeAsync();
        closed.SetResult();
        await Eventually.TrueAsync(() => enforcing.IsOver, "the end of the operation");
        Assert.Equal(OperationStatus.Canceled, enforcing.Status);
        Assert.DoesNotContain("enforcing revisions", log.Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Work_that_ends_because_the_server_stops_did_not_fail()
    {
        using var log = new WrittenLog();
        var stopped = new TaskCompletionSource();
        Operation restore;
        await using (TestServer server = await TestServer.StartAsync(log: log))
            restore = server.Context.Backups.Start(
                server.Context.Operations.OfServer, "restore", async (_, _) =>
                {
                    await stopped.Task;
                    throw new InvalidOperationException("no place", new ObjectDisposedException("catalogue"));
                });
        stopped.SetResult();
        await Eventually.TrueAsync(() => restore.IsOver, "the end of the operation");
        Assert.Equal(OperationStatus.Canceled, restore.Status);
        Assert.DoesNotContain("restore", log.Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Work_that_uses_what_it_disposed_failed()
    {
        using var log = new WrittenLog();
        await using TestServer server = await TestServer.StartAsync(log: log);
        DatabaseLease lease = server.Context.Databases.Enter("db");
        Operation work = server.Context.Backups.Start(
            server.Context.Operations.Of("db"), "trial", (_, _) =>
            {
                using DatabaseLease inside = lease;
                throw new ObjectDisposedException("something of its own");
            },
            lease);
        await Eventually.TrueAsync(() => log.Text.Contains("The trial, operation", StringComparison.Ordinal), "the log");
        Assert.Equal(OperationStatus.Faulted, work.Status);
    }

    [Fact]
    public async Task Work_that_is_killed_did_not_fail()
    {
        using var log = new WrittenLog();
        await using TestServer server = await TestServer.StartAsync(log: log);
        Operation work = server.Context.Backups.Start(
            server.Context.Operations.OfServer, "trial", static async (_, stop) =>
            {
                await Task.Delay(Timeout.Infinite, stop);
                return static _ => { };
            });
        work.Kill();
        await Eventually.TrueAsync(() => work.IsOver, "the end of the operation");
        Assert.Equal(OperationStatus.Canceled, work.Status);
        Assert.DoesNotContain("trial", log.Text, StringComparison.Ordinal);
    }
}
