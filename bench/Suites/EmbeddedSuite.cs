using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Treepie.Bench.Embedded;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Sessions;

namespace Treepie.Bench.Suites;

/// <summary>What the API costs that a program meets: sessions and objects, in this process.</summary>
internal sealed class EmbeddedSuite : ISuite
{
    /// <summary>First argument of the process that opens a database once, asks once and says how long it took.</summary>
    public const string ColdVerb = "embedded-cold";

    /// <summary>First argument of the process that measures all engines, with the settings that a program has by itself.</summary>
    public const string RowsVerb = "embedded-rows";

    private const int BatchOrders = 1_000;

    /// <summary>Seconds for each kind of call in the native program.</summary>
    private const string NativeSeconds = "2";

    /// <summary>More take LiteDB longer than everything else of the suite together.</summary>
    private const int MostForLiteDb = 20_000;

    private const string Tracked = "one change among 2,000 tracked, SaveChanges", Session = "open and dispose a session";

    public string Name => "embedded";

    public string Question =>
        """
        What does the API cost a program, with objects on one side and a durable file on the other? Orders of about 700 bytes.
        SQLite: JSON texts, indexes on two expressions, prepared statements, WAL, `synchronous=full`, System.Text.Json. LiteDB:
        its mapper and two indexes, default settings; with 20,000 orders only, since storing a million takes it more than ten
        minutes. One caller. The engines take turns, and their results are compared. Figures are for one call, session included.
        *Cold*: in a new process, from the program's first line to the requested order, files in the page cache; with code
        compiled at run time, precompiled (`PublishReadyToRun`), or native (`PublishAot`). *Native*: the same calls in that native
        program, one engine after the other.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        if (!Sqlite.IsPresent)
            return [new BenchRow("SQLite is not on this machine", "absent", false, 0)];
        var rows = new List<BenchRow>();
        foreach (int orders in quick ? [500] : (int[])[20_000, 1_000_000])
        {
            await progress.WriteLineAsync($"embedded: {orders} orders");
            string json = await RunAsync(
                "dotnet",
                [typeof(EmbeddedSuite).Assembly.Location, RowsVerb, orders.ToString(CultureInfo.InvariantCulture), $"{quick}"],
                cancellationToken);
            rows.AddRange(JsonSerializer.Deserialize<BenchRow[]>(json) ?? []);
        }

        return rows;
    }

    /// <summary>What the process of <see cref="RowsVerb"/> does.</summary>
    public static async Task RunRowsAsync(int orders, bool quick)
    {
        List<BenchRow> rows = await MeasureAsync(orders, quick, Console.Error, CancellationToken.None);
        await Console.Out.WriteAsync(JsonSerializer.Serialize(rows));
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
        "treepie" => new TreepieEngine(
            folder, database => database.OpenSession(),
            database => database.BulkInsertObjects(new() { MaxBatchDocuments = BatchOrders })),
        "sqlite" => new SqliteEngine(
            folder, (JsonTypeInfo<BenchOrder>)JsonSerializerOptions.Default.GetTypeInfo(typeof(BenchOrder))),
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
            rows.Add(Row($"store {size} orders and their indexes", "orders/s", true, [.. engines.Select(one => one.Name)], rates));
            int[] ids = BenchOrder.SomeOf(orders);
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

        string[] inCode = [.. names.Select((_, at) => engines[at].Name)];
        string bench = typeof(EmbeddedSuite).Assembly.Location;
        rows.Add(
            await ColdAsync(
                $"cold, {size}", inCode, quick ? 1 : 9,
                at => RunAsync("dotnet", [bench, ColdVerb, names[at], folder.Path], cancellationToken)) with
            {
                Goals = [new Goal(1 / 1.2, "SQLite")]
            });
        if (quick)
            return rows; // publishing takes minutes, and tests publish such a program elsewhere

        foreach ((string how, string[] options) in (IReadOnlyList<(string, string[])>)[
            ("compiled beforehand", ["-p:PublishReadyToRun=true", "--self-contained", "false"]),
            ("native", ["-p:PublishAot=true", $"-p:CppCompilerAndLinker={Compiler()}"])])
        {
            await progress.WriteLineAsync($"embedded: {how}");
            using var published = new Scratch();
            await PublishAsync(published.Path, options, cancellationToken);
            string program = Path.Combine(published.Path, "Treepie.Bench.Embedded");
            Task<string> Start(int at, params string[] more) => RunAsync(
                program, [more[0], names[at], folder.Path, .. more[1..]], cancellationToken);
            rows.Add(
                await ColdAsync($"cold, {how}, {size}", inCode[..2], 9, at => Start(at, "cold")) with
                {
                    Goals = [new Goal(1 / 1.2, "SQLite")]
                });
            if (how == "native")
                rows.AddRange(
                    await NativeAsync(size, inCode[..2], at => Start(at, "warm", $"{orders}", NativeSeconds)));
        }

        return rows;
    }

    /// <summary>What the published program measures of each engine, some times in turn.</summary>
    private static async Task<IEnumerable<BenchRow>> NativeAsync(string size, string[] names, Func<int, Task<string>> run)
    {
        const int Turns = 3;
        string[] what = ["load", "equality", "sorted, first 20", "load, change, save"];
        double[] goals = [3, 3, 1, 1];
        var times = what.Select(_ => names.Select(_ => new List<double>()).ToArray()).ToArray();
        for (int turn = 0; turn < Turns; turn++)
            for (int at = 0; at < names.Length; at++)
            {
                string[] lines = (await run(at)).Split('\n', StringSplitOptions.RemoveEmptyEntries);
                for (int row = 0; row < what.Length; row++)
                    times[row][at].Add(double.Parse(lines[row], CultureInfo.InvariantCulture));
            }

        return what.Select((call, row) => Row(
            $"{call}, native, {size}", "µs", false, names, [.. times[row].Select(list => list.ToArray())]) with
        {
            Goals = [new Goal(goals[row], "SQLite")]
        });
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
        TimeSpan warm = rounds > 2 ? TimeSpan.FromSeconds(1.5) : TimeSpan.Zero; // until code is compiled as it stays
        foreach (IEmbeddedEngine engine in engines)
        {
            long began = Stopwatch.GetTimestamp();
            for (int i = 0; i < calls || Stopwatch.GetElapsedTime(began) < warm; i++)
                call(engine, i);
        }

        for (int round = 0; round < rounds; round++)
        {
            for (int at = 0; at < engines.Length; at++)
            {
                long allocated = GC.GetAllocatedBytesForCurrentThread();
                long began = Stopwatch.GetTimestamp();
                for (int i = 0; i < calls; i++)
                    call(engines[at], i + (round * calls));
                times[at].Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds / calls);
                if (at == 0)
                    bytes = (GC.GetAllocatedBytesForCurrentThread() - allocated) / calls;
            }
        }

        return Row(what, "µs", false, [.. engines.Select(one => one.Name)], [.. times.Select(list => list.ToArray())]) with
        {
            Note = string.Create(CultureInfo.InvariantCulture, $"{bytes:N0} bytes allocated")
        };
    }

    private static BenchRow Row(string what, string unit, bool higherIsBetter, IReadOnlyList<string> names, double[][] rounds) =>
        BenchRow.Of(what, unit, higherIsBetter, rounds[0]) with
        {
            Peers = names.Skip(1).Select((name, at) => (Name: name, Value: Statistics.Median(rounds[at + 1])))
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

    private static async Task<BenchRow> ColdAsync(string what, string[] names, int rounds, Func<int, Task<string>> run)
    {
        var times = names.Select(_ => new List<double>()).ToArray();
        for (int round = 0; round < rounds; round++)
            for (int at = 0; at < names.Length; at++)
                times[at].Add(double.Parse(await run(at), CultureInfo.InvariantCulture));
        return Row(what, "ms", false, names, [.. times.Select(list => list.ToArray())]);
    }

    private static Task<string> PublishAsync(string folder, string[] options, CancellationToken cancellationToken)
    {
        string project = Path.Combine(Corpus.RepositoryRoot, "bench", "Embedded", "Embedded.csproj");
        string runtime = RuntimeInformation.OSArchitecture == Architecture.Arm64 ? "linux-arm64" : "linux-x64";
        return RunAsync(
            "dotnet", ["publish", project, "-c", "Release", "-r", runtime, "-o", folder, "-v", "quiet", .. options],
            cancellationToken);
    }

    private static string Compiler() => File.Exists("/usr/bin/clang") ? "clang" : "gcc";

    /// <summary>Runs a program with the settings that programs have by themselves; gives what it prints.</summary>
    private static async Task<string> RunAsync(string program, string[] arguments, CancellationToken cancellationToken)
    {
        var start = new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true };
        start.Environment["DOTNET_TieredPGO"] = "1"; // this one has the server's settings
        start.Environment["DOTNET_GCgen0MaxBudget"] = "0";
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("Could not start a process.");
        string output = await process.StandardOutput.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        return process.ExitCode == 0
            ? output
            : throw new InvalidOperationException(
                $"'{program} {string.Join(' ', arguments)}' ended with code {process.ExitCode}: {output}");
    }
}
