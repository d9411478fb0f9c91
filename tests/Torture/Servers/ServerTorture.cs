using System.Diagnostics;
using System.Globalization;
using System.Text.Json.Nodes;
using Treepie.Tests.Support;

namespace Treepie.Torture.Servers;

/// <summary>
/// Runs the real server under clients of every kind, kills it (SIGKILL) at random moments and restarts it on the same
/// directory, over and over, alternating between an encrypted and a plain database. After each restart every client verifies
/// the server; at the end the server is stopped and each of its files is checked.
/// </summary>
internal sealed class ServerTorture(int seed, bool isEncrypted, Action<string> say)
{
    /// <summary>Name of the mode on the command line.</summary>
    public const string ModeName = "server";

    private const string Database = "storm";
    private const int Writers = 3;

    /// <summary>Maximum time until a process is killed, whatever was acknowledged until then.</summary>
    private static readonly TimeSpan _longestLife = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Runs for the given time in periods of two minutes at most, alternately encrypted and plain. Returns a description of
    /// the failure, or null.
    /// </summary>
    public static string? Run(int seed, TimeSpan time, Action<string> say)
    {
        var watch = Stopwatch.StartNew();
        TimeSpan life = TimeSpan.FromMinutes(2) < time / 2 ? TimeSpan.FromMinutes(2) : time / 2;
        for (int i = 0; watch.Elapsed < time; i++)
        {
            bool isEncrypted = (seed + i) % 2 == 0;
            say($"Seed {seed + i}, {(isEncrypted ? "encrypted" : "plain")}");
            try
            {
                new ServerTorture(seed + i, isEncrypted, say).RunAsync(life).GetAwaiter().GetResult();
            }
            catch (Exception exception)
            {
                string told = $"A promise of the server is broken (seed {seed + i}): {exception}\n"
                    + $"Again: dotnet run -c Release --project tests/Torture -- --mode {ModeName} --first {seed + i}";
                say(told);
                return told;
            }
        }

        return null;
    }

    /// <summary>Works and kills for the given time, then stops and checks.</summary>
    public async Task RunAsync(TimeSpan time)
    {
        var watch = Stopwatch.StartNew();
        var random = new Random(seed);
        using var files = new TemporaryDirectory();
        string data = Path.Combine(files.Path, "data"), backups = Path.Combine(files.Path, "backups");
        Directory.CreateDirectory(backups);
        string[] arguments = ["--backup-folder", $"{BackupClient.Place}={backups}"];
        string[] keys = [];
        string? seal = null;
        if (isEncrypted)
        {
            string master = Path.Combine(files.Path, "master.key"), sealing = Path.Combine(files.Path, "seal.key");
            await CommandLineProcess.SucceedAsync("key", "generate", master);
            await CommandLineProcess.SucceedAsync("key", "generate", sealing);
            seal = (await File.ReadAllTextAsync(sealing)).Trim();
            keys = ["--master-key", $"file:{master}"];
            arguments = [.. arguments, "--key-source", $"{BackupClient.KeySource}=file:{sealing}"];
        }

        StormWriter[] writers =
            [.. Enumerable.Range(1, Writers).Select(number => new StormWriter(number, new Random(random.Next())))];
        List<IStormClient> clients =
        [
            .. writers,
            new ExchangeClients(3, new Random(random.Next())),
            new CountingClient(2, new Random(random.Next())),
            new BulkClient(new Random(random.Next())),
            new QueryClient(new Random(random.Next())),
            new BackupClient(writers, seal, new Random(random.Next())),
        ];
        if (isEncrypted)
            clients.Add(new KeyClient(new Random(random.Next())));

        ServerProcess server = await ServerProcess.StartAsync(data, [.. arguments, .. keys]);
        int kills = 0;
        try
        {
            await PrepareAsync(server, clients);
            do
            {
                await WorkUntilKilledAsync(server, clients, random);
                kills++;
                await server.DisposeAsync();
                server = await ServerProcess.StartAsync(data, [.. arguments, .. keys]);
                await VerifyAsync(server, clients);
                say(string.Create(
                    CultureInfo.InvariantCulture,
                    $"{watch.Elapsed.TotalSeconds:0} s, kill {kills}: {string.Join("; ", clients.Select(one => one.Report))}"));
            }
            while (watch.Elapsed < time);

            ServerTortureException.ThrowUnless(await server.StopAsync() == 0, "The server did not stop cleanly.");
            await CommandLineProcess.SucceedAsync(["check", data, .. keys]);
        }
        catch
        {
            string kept = Path.Combine(Path.GetTempPath(), $"treepie-torture-{seed}");
            say($"The last server wrote:\n{server.Output}\nIts files are kept at {kept}.");
            await server.DisposeAsync();
            if (!Directory.Exists(kept))
                Directory.Move(files.Path, kept);
            throw;
        }
        finally
        {
            await server.DisposeAsync();
        }
    }

    private async Task PrepareAsync(ServerProcess server, List<IStormClient> clients)
    {
        using var database = new DatabaseClient(server.Url, Database);
        if (isEncrypted)
            await database.GiveKeyAsync(Database);

        await database.SendAsync(HttpMethod.Put, $"/admin/databases?name={Database}", new JsonObject
        {
            ["DatabaseName"] = Database,
            ["Encrypted"] = isEncrypted,
        });
        foreach (IStormClient client in clients)
            await client.PrepareAsync(database);
    }

    /// <summary>
    /// Kills the server after a random number of acknowledgements or some seconds, plus a random moment, so that kills hit
    /// every stage of the work, and hit work in progress as reliably on a slow machine as on a fast one.
    /// </summary>
    private static async Task WorkUntilKilledAsync(ServerProcess server, List<IStormClient> clients, Random random)
    {
        int left = random.Next(1, random.Next(4) == 0 ? 2_000 : 300);
        var moment = TimeSpan.FromMicroseconds(random.Next(20_000));
        var enough = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var database = new DatabaseClient(server.Url, Database);
        Task[] work = [
            .. clients.Select(client => UntilGoneAsync(client, database, () =>
            {
                if (Interlocked.Decrement(ref left) == 0)
                    enough.SetResult();
            }))];
        await Task.WhenAny([enough.Task, Task.Delay(_longestLife), .. work]);
        await Task.Delay(moment);
        Task? ended = work.FirstOrDefault(static task => task.IsCompleted);
        await server.KillAsync();
        await Task.WhenAll(work);
        ServerTortureException.ThrowUnless(ended is null, "The server ended by itself.");
    }

    private static async Task UntilGoneAsync(IStormClient client, DatabaseClient database, Action acknowledged)
    {
        try
        {
            await client.RunAsync(database, acknowledged);
        }
        catch (Exception exception) when (DatabaseClient.IsGone(exception))
        {
            // The server was killed.
        }
    }

    private static async Task VerifyAsync(ServerProcess server, List<IStormClient> clients)
    {
        using var database = new DatabaseClient(server.Url, Database);
        foreach (IStormClient client in clients)
            await client.VerifyAsync(database);
    }
}
