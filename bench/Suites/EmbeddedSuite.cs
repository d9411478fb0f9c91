using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Suites.Embedded;
using Treepie.Sessions;

namespace Treepie.Bench.Suites;

/// <summary>What the API costs that a program meets: sessions and objects, in this process.</summary>
internal sealed class EmbeddedSuite : ISuite
{
    /// <summary>First argument of the process that opens a database once, asks once and says how long it took.</summary>
    public const string ColdVerb = "embedded-cold";

    /// <summary>More take LiteDB longer than everything else of the suite together.</summary>
    private const int MostForLiteDb = 20_000;

    private const string Tracked = "one change among 2,000 tracked, SaveChanges", Session = "open and dispose a session";

    public string Name => "embedded";

    public string Question =>
        """
        What does the API cost that a program meets, with objects on one side and a durable file on the other? Orders of some 700 bytes. SQLite: JSON texts, indexes on two
        expressions, prepared statements, WAL, `synchronous=full`, System.Text.Json. LiteDB: its mapper and two indexes, as it comes; with 20,000 orders only, since storing a million takes it more than ten minutes.
        One caller. The engines take turns, so that they meet the same machine; what they give is compared. Figures are of one call, session included.
        *Cold*: in a new process from the first line of the program to the order that was asked for, files in the page cache.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        if (!Sqlite.IsPresent)
            return [new BenchRow("SQLite is not on this machine", "absent", false, 0)];
        var rows = new List<BenchRow>();
        foreach (int orders in quick ? [500] : (int[])[20_000, 1_000_000])
            rows.AddRange(await MeasureAsync(orders, quick, progress, cancellationToken));
        return rows;
    }

    /// <summary>What the process of <see cref="ColdVerb"/> does.</summary>
    public static void RunCold(string engine, string path)
    {
        long began = Stopwatch.GetTimestamp();
        using IEmbeddedEngine opened = Open(engine, path);
        BenchOrder found = opened.ByCode(BenchOrder.CodeOf(7));
        double milliseconds = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        if (found.Id != 7)
            throw new InvalidOperationException($"{engine} found order {found.Id} instead of 7.");
        Console.WriteLine(milliseconds.ToString(CultureInfo.InvariantCulture));
    }

    private static IEmbeddedEngine Open(string engine, string folder) => engine switch
    {
        "treepie" => new TreepieEngine(Path.Combine(folder, "treepie")),
        "sqlite" => new SqliteEngine(Path.Combine(folder, "orders.sqlite")),
        _ => new LiteDbEngine(Path.Combine(folder, "orders.litedb")),
    };

    private static async Task<List<BenchRow>> MeasureAsync(
        int orders, bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        string[] names = orders <= MostForLiteDb ? ["treepie", "sqlite", "litedb"] : ["treepie", "sqlite"];
        string size = orders.ToString("N0", CultureInfo.InvariantCulture);
        var rows = new List<BenchRow>();
        IEmbeddedEngine[] engines = [.. names.Select(name => Open(name, folder.Path))];
        try
        {
            List<double> filled = [];
            foreach (IEmbeddedEngine engine in engines)
            {
                await progress.WriteLineAsync($"embedded: {engine.Name} stores {size} orders");
                long began = Stopwatch.GetTimestamp();
                engine.Fill(1, orders);
                engine.Index();
                filled.Add(orders / Stopwatch.GetElapsedTime(began).TotalSeconds);
            }

            double[][] rates = [.. filled.Select(rate => new[] { rate })];
            rows.Add(Row($"store {size} orders and their indexes", "orders/s", true, engines, rates));
            var random = new Random(1);
            int[] ids = [.. Enumerable.Range(0, 1 << 12).Select(_ => 1 + random.Next(orders))];
            string[] codes = [.. ids.Select(BenchOrder.CodeOf)];
            Agree(engines, ids);

            int rounds = quick ? 2 : 11;
            rows.Add(Calls(
                $"load, {size}", engines, rounds, quick ? 50 : 4_000, (engine, i) => engine.Load(ids[i % ids.Length])) with
            {
                Goals = [new Goal(3, "SQLite")]
            });
            rows.Add(
                Calls(
                    $"equality, {size}", engines, rounds, quick ? 50 : 2_000,
                    (engine, i) => engine.ByCode(codes[i % codes.Length])) with
                {
                    Goals = [new Goal(3, "SQLite")]
                });
            rows.Add(Calls($"sorted, first 20, {size}", engines, rounds, quick ? 10 : 300, (engine, _) => engine.Cheapest()) with
            {
                Goals = [new Goal(1, "SQLite")]
            });
            rows.Add(Calls($"load, change, save, {size}", engines, rounds, quick ? 10 : 300, (engine, i) =>
            {
                engine.Change(ids[i % ids.Length]);
                return engine;
            }) with
            {
                Goals = [new Goal(1, "SQLite")]
            });
            if (orders <= MostForLiteDb)
                rows.AddRange(Sessions(((TreepieEngine)engines[0]).Database, quick));
            cancellationToken.ThrowIfCancellationRequested();
        }
        finally
        {
            foreach (IEmbeddedEngine engine in engines)
                engine.Dispose();
        }

        await progress.WriteLineAsync($"embedded: cold, {size} orders");
        foreach (BenchRow row in rows)
            await progress.WriteLineAsync(
                $"{row.Row}: {row.Ours} {row.Unit}, {string.Join(", ", row.Peers.Select(peer => $"{peer.Key} {peer.Value}"))}");
        rows.Add(
            await ColdAsync(
                $"cold: open and first answer, {size}", names, engines, folder.Path, quick ? 1 : 9, cancellationToken));
        return rows;
    }

    private static void Agree(IEmbeddedEngine[] engines, int[] ids)
    {
        string Digest(IEmbeddedEngine engine) => string.Join(
            '|', ids.Take(50).Select(id => engine.Load(id).Code + engine.ByCode(BenchOrder.CodeOf(id)).Freight))
            + string.Join('|', engine.Cheapest().Select(order => order.Freight));
        string expected = Digest(engines[0]);
        foreach (IEmbeddedEngine engine in engines)
            if (Digest(engine) != expected)
                throw new InvalidOperationException($"{engine.Name} gives other orders than {engines[0].Name}.");
    }

    /// <summary>Microseconds of a call, a round of each engine after the other; and what ours allocates.</summary>
    private static BenchRow Calls(
        string what, IEmbeddedEngine[] engines, int rounds, int calls, Func<IEmbeddedEngine, int, object> call)
    {
        var times = engines.Select(_ => new List<double>()).ToArray();
        long bytes = 0;
        for (int round = -2; round < rounds; round++)
        {
            for (int at = 0; at < engines.Length; at++)
            {
                long allocated = GC.GetAllocatedBytesForCurrentThread();
                long began = Stopwatch.GetTimestamp();
                for (int i = 0; i < calls; i++)
                    call(engines[at], i + ((round + 2) * calls));
                double elapsed = Stopwatch.GetElapsedTime(began).TotalMicroseconds / calls;
                if (at == 0)
                    bytes = (GC.GetAllocatedBytesForCurrentThread() - allocated) / calls;
                if (round >= 0)
                    times[at].Add(elapsed);
            }
        }

        return Row(what, "µs", false, engines, [.. times.Select(list => list.ToArray())]) with
        {
            Note = string.Create(CultureInfo.InvariantCulture, $"{bytes:N0} bytes allocated")
        };
    }

    private static BenchRow Row(string what, string unit, bool higherIsBetter, IEmbeddedEngine[] engines, double[][] rounds) =>
        BenchRow.Of(what, unit, higherIsBetter, rounds[0]) with
        {
            Peers = engines.Skip(1).Select((engine, at) => (engine.Name, Value: Statistics.Median(rounds[at + 1])))
                .ToDictionary(peer => peer.Name, peer => peer.Value)
        };

    /// <summary>What only ours has.</summary>
    private static IEnumerable<BenchRow> Sessions(Database database, bool quick)
    {
        const int TrackedOrders = 2_000;
        int rounds = quick ? 2 : 31, sessions = quick ? 10 : 10_000;
        List<double> save = [], empty = [];
        using (DocumentSession session = database.OpenSession())
        {
            int count = Math.Min(TrackedOrders, (int)database.GetStatistics().DocumentCount);
            BenchOrder[] orders = [.. Enumerable.Range(1, count).Select(id => session.Load<BenchOrder>(id)).OfType<BenchOrder>()];
            for (int round = -3; round < rounds; round++)
            {
                orders[(round + 3) * 7 % orders.Length].Version++;
                long began = Stopwatch.GetTimestamp();
                session.SaveChanges();
                if (round >= 0)
                    save.Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds);
            }
        }

        long bytes = 0;
        for (int round = -2; round < rounds; round++)
        {
            long allocated = GC.GetAllocatedBytesForCurrentThread(), began = Stopwatch.GetTimestamp();
            for (int i = 0; i < sessions; i++)
                database.OpenSession().Dispose();
            bytes = (GC.GetAllocatedBytesForCurrentThread() - allocated) / sessions;
            if (round >= 0)
                empty.Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds / sessions);
        }

        yield return BenchRow.Of(Tracked, "µs", false, save);
        yield return BenchRow.Of(Session, "µs", false, empty) with
        {
            Note = string.Create(CultureInfo.InvariantCulture, $"{bytes:N0} bytes allocated; the goal is 300")
        };
    }

    private static async Task<BenchRow> ColdAsync(
        string what, string[] names, IEmbeddedEngine[] engines, string folder, int rounds, CancellationToken cancellationToken)
    {
        var times = names.Select(_ => new List<double>()).ToArray();
        for (int round = 0; round < rounds; round++)
            for (int at = 0; at < names.Length; at++)
                times[at].Add(await ColdAsync(names[at], folder, cancellationToken));
        return Row(what, "ms", false, engines, [.. times.Select(list => list.ToArray())]) with
        {
            Goals = [new Goal(1 / 1.2, "SQLite")],
            Note = "compiled as it runs (JIT): no package is precompiled here"
        };
    }

    private static async Task<double> ColdAsync(string engine, string folder, CancellationToken cancellationToken)
    {
        var start = new ProcessStartInfo("dotnet", [typeof(EmbeddedSuite).Assembly.Location, ColdVerb, engine, folder])
        {
            RedirectStandardOutput = true
        };
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("Could not start a process.");
        string line = await process.StandardOutput.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        return process.ExitCode == 0
            ? double.Parse(line, CultureInfo.InvariantCulture)
            : throw new InvalidOperationException(
                $"The process that opens {engine} in {folder} ended with code {process.ExitCode}.");
    }
}
