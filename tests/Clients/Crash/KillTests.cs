using System.Net.Http.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Crash;

/// <summary>
/// The server is killed (SIGKILL) while clients write, again and again, on the same directory. After every restart: what was
/// acknowledged is there with its content, a batch is there as a whole or not at all, deletions hold, and the clients go on where
/// they were.
/// </summary>
public sealed class KillTests
{
    private const string Database = "crash";
    private const int Kills = 20;
    private const int Writers = 3;

    [Fact]
    public async Task Every_acknowledged_document_survives_twenty_kills_and_no_batch_is_there_in_part()
    {
        var random = new Random(Seed.Next());
        using var data = new TemporaryDirectory();
        BatchWriter[] writers = [.. Enumerable.Range(1, Writers).Select(number => new BatchWriter(number))];
        var inserter = new BulkInserter();
        ServerProcess server = await StartAsync(data, create: true);
        try
        {
            for (int kill = 1; kill <= Kills; kill++)
            {
                await WriteUntilKilledAsync(server, writers, inserter, random);
                await server.DisposeAsync();
                server = await StartAsync(data);
                Survivors survivors = await VerifyAsync(server, writers, inserter);
                TestContext.Current.TestOutputHelper?.WriteLine(
                    $"Kill {kill}: {survivors.Count} documents; batches "
                    + $"{string.Join(", ", writers.Select(w => w.Acknowledged))}; "
                    + $"bulk inserts {inserter.Acknowledged.Count} of {inserter.Begun}");
            }

            Assert.Equal(0, await server.StopAsync());
            await server.DisposeAsync();
            server = await StartAsync(data);
            await VerifyAsync(server, writers, inserter);
        }
        finally
        {
            TestContext.Current.TestOutputHelper?.WriteLine($"The last server wrote:\n{server.Output}");
            await server.DisposeAsync();
        }
    }

    private static async Task<ServerProcess> StartAsync(TemporaryDirectory data, bool create = false)
    {
        ServerProcess server = await ServerProcess.StartAsync(data.Path);
        if (create)
        {
            using HttpResponseMessage response = await server.Http.PutAsJsonAsync(
                $"/admin/databases?name={Database}", new { DatabaseName = Database }, TestContext.Current.CancellationToken);
            response.EnsureSuccessStatusCode();
        }

        return server;
    }

    /// <summary>
    /// Kills after a random number of acknowledgements and then a random moment more, so that it meets every stage of a write and
    /// is as certain to find work in flight on a slow machine as on a fast one.
    /// </summary>
    private static async Task WriteUntilKilledAsync(
        ServerProcess server, BatchWriter[] writers, BulkInserter inserter, Random random)
    {
        int left = random.Next(1, 50);
        var moment = TimeSpan.FromMicroseconds(random.Next(0, 20_000));
        var enough = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        void Acknowledged()
        {
            if (Interlocked.Decrement(ref left) == 0)
                enough.SetResult();
        }

        Task[] clients =
        [
            .. writers.Select(writer => writer.RunAsync(server.Url, Database, Acknowledged)),
            inserter.RunAsync(server.Url, Database, Acknowledged),
        ];
        await Task.WhenAny([enough.Task, .. clients]);
        await Task.Delay(moment, TestContext.Current.CancellationToken);
        await server.KillAsync();
        await Task.WhenAll(clients);
        Assert.True(enough.Task.IsCompleted, $"The server ended by itself. It wrote:\n{server.Output}");
    }

    private static async Task<Survivors> VerifyAsync(ServerProcess server, BatchWriter[] writers, BulkInserter inserter)
    {
        Survivors survivors = await Survivors.ReadAsync(server.Http, Database);
        foreach (BatchWriter writer in writers)
            writer.GoOnAfter(survivors.Verify(writer));

        survivors.Verify(inserter);
        return survivors;
    }
}
