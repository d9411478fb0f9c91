using System.Buffers;
using System.Diagnostics;
using System.Text.Json;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Suites.Reading;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Bench.Suites;

/// <summary>How long a load and the usual kinds of query take, in process and over HTTP.</summary>
internal sealed class ReadSuite : ISuite
{
    private const int MadeDocuments = 1_000_000;
    private const double MostSeconds = 0.7; // of one question in one round
    private const int GarbageBytes = 4096;

    public string Name => "read";

    public string Question =>
        $"""
        How long does one caller in process wait for a document by id (serialized with its metadata), and for the answers to
        common kinds of queries, whole documents, warm? 36,273 films, and {MadeDocuments:N0} generated documents of 200 bytes with
        the same fields. SQLite runs in the same process on the same data: JSON in a table, prepared statements, indexes over year
        and title and over title, which fit all queries but one that says so. Every answer of both is read and compared.
        Parameters are prepared beforehand. Neither counts more matches than it returns, except in *count*. Limit of the HTTP
        rows: a Kestrel in a process of its own that takes the same requests and answers with as many bytes (the median), from
        memory. Requests/s: 16 connections; client and server share the machine. A virtual machine's timer interrupts it 1,000
        times a second for about 50 µs, which hits one in a hundred calls of 10 µs, so p99 of such rows measures the machine more
        than either engine.
        """;

    private static string Peer => $"SQLite {Sqlite.Version}";

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var movies = new Movies(quick);
        int rounds = quick ? 1 : 3;
        ReadSet[] sets = [ReadSet.Films(movies), ReadSet.Made(quick ? 2_000 : MadeDocuments)];
        var rows = new List<BenchRow>();
        foreach (ReadSet set in sets)
            await InProcessAsync(set, quick, rounds, rows, progress, cancellationToken);
        await progress.WriteLineAsync("read: over HTTP");
        await OverHttpAsync(movies, quick ? 200 : 20_000, rounds, rows, cancellationToken);
        return rows;
    }

    private static async Task InProcessAsync(
        ReadSet set, bool quick, int rounds, List<BenchRow> rows, TextWriter progress, CancellationToken cancellationToken)
    {
        await progress.WriteLineAsync($"read, {set.Name}: import");
        using var folder = new Scratch();
        await using Database database = Database.Open(folder.Path);
        await ImportAsync(database, set, cancellationToken);
        ReadQuestion sorted = ReadQuestion.All.First(question => question.Name.StartsWith("equality and a sort", StringComparison.Ordinal));
        long began = Stopwatch.GetTimestamp();
        await AskAsync(database, sorted, ReadQuestion.Parameters(sorted.Values(set, new Random(1))), cancellationToken, wait: true);
        double first = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        using ReadPeer? peer = Sqlite.IsPresent ? new ReadPeer(Path.Combine(folder.Path, "peer.sqlite"), set) : null;

        var random = new Random(1);
        string[] ids = [.. Enumerable.Range(0, 1_000).Select(_ => set.At(random.Next(set.Count)).Id)];
        var output = new ArrayBufferWriter<byte>(64 * 1024);
        var loads = new ReadSeries();
        await MeasureAsync(
            loads, rounds, quick,
            i =>
            {
                output.ResetWrittenCount();
                using DatabaseSnapshot snapshot = database.BeginRead();
                if (!snapshot.TryGet(ids[i % ids.Length], out Document document))
                    throw new InvalidOperationException($"{ids[i % ids.Length]} is missing.");
                document.WriteTo(output);
                return ValueTask.CompletedTask;
            },
            peer is null
                ? null
                : i =>
                {
                    peer.Load(ids[i % ids.Length]);
                    return ValueTask.CompletedTask;
                });
        rows.AddRange(Both(loads, $"{set.Name}: load by id", 3));
        foreach (ReadQuestion question in ReadQuestion.All)
        {
            await progress.WriteLineAsync($"read, {set.Name}: {question.Name}");
            cancellationToken.ThrowIfCancellationRequested();
            object[][] values = [.. Enumerable.Range(0, 40).Select(_ => question.Values(set, random))];
            JsonElement[] parameters = [.. values.Select(ReadQuestion.Parameters)];
            await AskAsync(database, question, parameters[0], cancellationToken, wait: true);
            // The first query may have added a field to the index: measure with the index complete.
            await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(5), cancellationToken: cancellationToken);
            await CompareAsync(database, peer, question, values, parameters, cancellationToken);
            var series = new ReadSeries();
            await MeasureAsync(
                series, rounds, quick,
                async i => await AskAsync(database, question, parameters[i % parameters.Length], cancellationToken),
                peer is null
                    ? null
                    : i =>
                    {
                        peer.Ask(question, values[i % values.Length]);
                        return ValueTask.CompletedTask;
                    });
            rows.AddRange(Both(series, $"{set.Name}: {question.Name}", question.Least));
        }

        JsonElement garbage = ReadQuestion.Parameters(sorted.Values(set, random));
        const int garbageCalls = 200;
        long before = GC.GetTotalAllocatedBytes(precise: true);
        for (int i = 0; i < garbageCalls; i++)
            await AskAsync(database, sorted, garbage, cancellationToken);
        rows.Add(
            new BenchRow(
                $"{set.Name}: garbage of {sorted.Name}", "bytes", false,
                (GC.GetTotalAllocatedBytes(precise: true) - before) / (double)garbageCalls)
            {
                Limit = GarbageBytes,
                Goals = [Goal.AtMost(1)],
            });
        rows.Add(
            new BenchRow($"{set.Name}: first query of a shape after the import", "ms", false, first)
            {
                Limit = 1_000,
                Goals = [Goal.AtMost(1)],
            });
    }

    private static async Task ImportAsync(Database database, ReadSet set, CancellationToken cancellationToken)
    {
        for (int at = 0; at < set.Count;)
        {
            var batch = new WriteBatch();
            for (int end = Math.Min(at + 1_000, set.Count); at < end; at++)
            {
                ReadDocument document = set.At(at);
                batch.Put(document.Id, document.Json);
            }

            await database.WriteAsync(batch, cancellationToken);
        }
    }

    /// <summary>Both answer alike, or figures would say nothing.</summary>
    private static async Task CompareAsync(
        Database database, ReadPeer? peer, ReadQuestion question, object[][] values, JsonElement[] parameters,
        CancellationToken cancellationToken)
    {
        for (int i = 0; i < 5 && peer is not null; i++)
        {
            long ours = await AskAsync(database, question, parameters[i], cancellationToken);
            long other = peer.Ask(question, values[i]);
            if (ours != other)
                throw new InvalidOperationException(
                    $"'{question.Name}' gives {ours} where SQLite gives {other}, with {JsonSerializer.Serialize(values[i])}.");
        }
    }

    /// <summary>Ours and the peer by turns, each for the same time at most, after a round of each that does not count.</summary>
    private static async Task MeasureAsync(
        ReadSeries series, int rounds, bool quick, Func<int, ValueTask> ours, Func<int, ValueTask>? peer)
    {
        for (int round = quick ? 0 : -1; round < rounds; round++)
        {
            double[] times = await CallsAsync(ours);
            double[]? others = peer is null ? null : await CallsAsync(peer);
            if (round < 0)
                continue; // code is compiled and pages are read
            series.Add(times);
            if (others is not null)
                series.AddPeer(others);
        }

        async Task<double[]> CallsAsync(Func<int, ValueTask> call)
        {
            var microseconds = new List<double>();
            long began = Stopwatch.GetTimestamp();
            for (int i = 0; i < (quick ? 20 : 20_000) && Stopwatch.GetElapsedTime(began).TotalSeconds < MostSeconds; i++)
            {
                long start = Stopwatch.GetTimestamp();
                await call(i);
                microseconds.Add(Stopwatch.GetElapsedTime(start).TotalMicroseconds);
            }

            return [.. microseconds];
        }
    }

    private static IEnumerable<BenchRow> Both(ReadSeries series, string title, double least) =>
        [series.Row(title, 0.5, Peer, new Goal(least, Peer)), series.Row(title, 0.99, Peer, new Goal(least, Peer))];

    /// <summary>Asks and reads all documents: their number, or the matches.</summary>
    private static async Task<long> AskAsync(
        Database database, ReadQuestion question, JsonElement parameters, CancellationToken cancellationToken, bool wait = false)
    {
        ArrayBufferWriter<byte> output = _output.Value!;
        output.ResetWrittenCount();
        using QueryResults results = await database.QueryAsync(
            new QueryRequest
            {
                Text = question.FullRql,
                Parameters = parameters,
                CountsResults = question.Counts,
                WaitForNonStaleResults = wait,
                WaitTimeout = TimeSpan.FromMinutes(5),
            },
            cancellationToken);
        if (question.Counts)
            return results.TotalResults;

        long found = 0;
        for (; results.MoveNext(); found++)
            results.WriteCurrent(output);
        return found;
    }

    private static readonly ThreadLocal<ArrayBufferWriter<byte>> _output = new(static () => new ArrayBufferWriter<byte>(64 * 1024));

    private static string Rql(long year) => $"from Movies where year = {year} order by title limit 10";

    private static async Task OverHttpAsync(
        Movies movies, int most, int rounds, List<BenchRow> rows, CancellationToken cancellationToken)
    {
        var random = new Random(1);
        string[] ids = [.. Enumerable.Range(0, most).Select(_ => movies.Documents[random.Next(movies.Documents.Length)].Id)];
        long[] years = [.. Enumerable.Range(0, most).Select(_ => movies.Years[random.Next(movies.Years.Length)])];
        using var folder = new Scratch();
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(folder.Path);
        var films = new HttpDatabase(server.Client, "bench");
        await films.CreateAsync(cancellationToken);
        await films.BulkInsertAsync(movies.Documents, cancellationToken);
        await films.QueryAsync(Rql(years[0]), wait: true, cancellationToken);
        await AskAsync(
            "load by id, over HTTP", "loads over HTTP, 16 connections",
            async (database, i) => await database.LoadAsync(ids[i], cancellationToken));
        await AskAsync(
            "equality and a sort, first 10, over HTTP", "queries over HTTP, 16 connections",
            async (database, i) => await database.QueryAsync(Rql(years[i]), wait: false, cancellationToken));
        rows.Add(new BenchRow("server's greatest resident memory of this run", "MiB", false, server.PeakResidentMiB));

        async Task AskAsync(string latency, string rate, Func<HttpDatabase, int, Task<int>> ask)
        {
            int calls = Math.Min(most, 5_000);
            double[] lengths = new double[Math.Min(most, 100)];
            for (int i = 0; i < lengths.Length; i++)
                lengths[i] = await ask(films, i);
            await using ServerUnderTest limit = await ServerUnderTest.StartLimitAsync((int)Statistics.Median(lengths));
            var nothing = new HttpDatabase(limit.Client, "bench");
            var series = new ReadSeries();
            List<double> rates = [], limitRates = [];
            for (int round = 0; round < rounds; round++)
            {
                series.Add(await Timing.LatenciesAsync(calls, async i => await ask(films, i)));
                series.AddLimit(await Timing.LatenciesAsync(calls, async i => await ask(nothing, i)));
                rates.Add(await Timing.ThroughputAsync(16, most, async i => await ask(films, i)));
                limitRates.Add(await Timing.ThroughputAsync(16, most, async i => await ask(nothing, i)));
            }

            rows.Add(series.Row(latency, 0.5, ""));
            rows.Add(series.Row(latency, 0.99, "", Goal.AtMost(3)));
            rows.Add(
                BenchRow.Of(rate, "requests/s", true, rates) with
                {
                    Limit = Statistics.Median(limitRates),
                    Goals = [new Goal(0.6, IsLimit: true)],
                });
        }
    }
}
