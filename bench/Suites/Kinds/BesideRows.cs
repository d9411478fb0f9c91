using System.Diagnostics;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Kinds;

/// <summary>Counters under many clients, what revisions cost, and documents that expire beside writers.</summary>
internal static class BesideRows
{
    private const int Clients = 100;

    public static async Task<BenchRow> CountersAsync(int counters, TimeSpan duration, CancellationToken cancellationToken)
    {
        using var files = new Scratch();
        using Database database = Database.Open(Path.Combine(files.Path, "treepie"));
        await database.WriteAsync(new WriteBatch().Put("pages/1", "{}"u8), cancellationToken);
        using var end = new CancellationTokenSource(duration);
        long began = Stopwatch.GetTimestamp(), done = 0;
        await Task.WhenAll(Enumerable.Range(0, Clients).Select(client => Task.Run(
            async () =>
            {
                var random = new Random(client);
                while (!end.IsCancellationRequested)
                {
                    await database.WriteAsync(
                        new WriteBatch().IncrementCounter("pages/1", $"c{random.Next(counters)}"), cancellationToken);
                    Interlocked.Increment(ref done);
                }
            },
            cancellationToken)));
        var row = new BenchRow(
            $"increments, {Clients} clients, {counters:N0} counters", "ops/s", true,
            done / Stopwatch.GetElapsedTime(began).TotalSeconds);
        if (!Sqlite.IsPresent)
            return row;
        double peer = await Task.Run(() => Upserts(Path.Combine(files.Path, "sqlite"), counters, duration), cancellationToken);
        return row with
        {
            Peers = new Dictionary<string, double> { [$"SQLite {Sqlite.Version}"] = peer },
            Note = "each increment is durable before the next of its client; SQLite has one writer that never waits for another",
        };
    }

    public static async Task<IReadOnlyList<BenchRow>> RevisionsAsync(int documents, CancellationToken cancellationToken)
    {
        double without = await PutsAsync(documents, null, cancellationToken),
            with = await PutsAsync(documents, new RevisionsRule { MinimumToKeep = 3 }, cancellationToken);
        return
        [
            new BenchRow("puts, no revisions", "documents/s", true, without),
            new BenchRow("puts, the last three revisions kept", "documents/s", true, with),
        ];
    }

    public static async Task<IReadOnlyList<BenchRow>> ExpiryAsync(int documents, CancellationToken cancellationToken)
    {
        using var files = new Scratch();
        using Database database = Database.Open(files.Path);
        await using (BulkInsert insert = database.BulkInsert())
            for (int i = 0; i < documents; i++)
                await insert.StoreAsync(
                    $"d/{i}", """{"a":1,"@metadata":{"@expires":"2020-01-01T00:00:00Z"}}"""u8.ToArray(), cancellationToken);
        double alone = await LatencyAsync(database, Task.Delay(TimeSpan.FromSeconds(1), cancellationToken), cancellationToken);
        await database.Lifecycle.SetAsync(
            LifecycleTask.Expiration, new LifecycleSettings { Frequency = TimeSpan.FromHours(1) }, cancellationToken);
        long began = Stopwatch.GetTimestamp();
        Task<long> run = Task.Run(() => database.Lifecycle.RunAsync(cancellationToken), cancellationToken);
        double beside = await LatencyAsync(database, run, cancellationToken);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        return
        [
            new BenchRow($"documents that expire, of {documents:N0}", "documents/s", true, await run / seconds),
            new BenchRow("a writer beside that, p99", "ms", false, beside)
            {
                Limit = alone,
                Note = "limit: the same writer alone"
            },
        ];
    }

    private static async Task<double> PutsAsync(int documents, RevisionsRule? rule, CancellationToken cancellationToken)
    {
        using var files = new Scratch();
        using Database database = Database.Open(files.Path);
        if (rule is not null)
            await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = rule }, cancellationToken);
        long began = Stopwatch.GetTimestamp();
        for (int round = 0; round < 5; round++)
            for (int at = 0; at < documents; at += 1_000)
            {
                using var batch = new WriteBatch();
                for (int i = at; i < Math.Min(documents, at + 1_000); i++)
                    batch.Put($"d/{i}", Encoding.UTF8.GetBytes($$"""{"round":{{round}},"text":"{{new string('x', 300)}}"}"""));
                await database.WriteAsync(batch, cancellationToken);
            }

        return 5.0 * documents / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static async Task<double> LatencyAsync(Database database, Task meanwhile, CancellationToken cancellationToken)
    {
        var times = new List<double>();
        while (!meanwhile.IsCompleted)
        {
            long began = Stopwatch.GetTimestamp();
            await database.WriteAsync(new WriteBatch().Put("other/1", "{}"u8), cancellationToken);
            times.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
        }

        times.Sort();
        return times.Count == 0 ? 0 : times[(int)(times.Count * 0.99)];
    }

    private static double Upserts(string file, int counters, TimeSpan duration)
    {
        using var sqlite = new Sqlite(file, isShared: false);
        sqlite.Execute("create table counter(name text primary key, value integer) without rowid");
        using Sqlite.Statement upsert = sqlite.Prepare(
            "insert into counter values(?1, 1) on conflict(name) do update set value = value + 1");
        var random = new Random(0);
        long began = Stopwatch.GetTimestamp(), done = 0;
        while (Stopwatch.GetElapsedTime(began) < duration)
        {
            upsert.Bind(1, $"c{random.Next(counters)}").Step();
            done++;
        }

        return done / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }
}
