using System.Buffers;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Bench.Suites;

/// <summary>How long a load and a query take, in process and over HTTP.</summary>
internal sealed class ReadSuite : ISuite
{
    private const int LimitAnswerBytes = 800;

    public string Name => "read";

    public string Question =>
        """
        How long does one caller wait for a random film by id (serialised with its metadata), and for the first ten films of a random year ordered by
        title, whole documents? 36,273 films, warm. SQLite in process: the same rows by an indexed id, and by an expression index over year and title.
        Limit of the HTTP rows: a Kestrel in a process of its own that answers 800 bytes from memory. Requests/s: 16 connections, client and server share the
        machine.
        """;

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var movies = new Movies(quick);
        int calls = quick ? 200 : 20_000, rounds = quick ? 1 : 3;
        var random = new Random(1);
        string[] ids = [.. Enumerable.Range(0, calls).Select(_ => movies.Documents[random.Next(movies.Documents.Length)].Id)];
        long[] years = [.. Enumerable.Range(0, calls).Select(_ => movies.Years[random.Next(movies.Years.Length)])];
        var rows = new List<BenchRow>();

        await progress.WriteLineAsync("read: in process");
        await InProcessAsync(movies, ids, years, rounds, rows, cancellationToken);
        await progress.WriteLineAsync("read: over HTTP");
        await OverHttpAsync(movies, ids, years, rounds, rows, cancellationToken);
        return rows;
    }

    private static async Task InProcessAsync(
        Movies movies, string[] ids, long[] years, int rounds, List<BenchRow> rows, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        await using Database database = Database.Open(folder.Path);
        foreach (Movie[] films in movies.Batches(1_000))
        {
            var batch = new WriteBatch();
            foreach (Movie movie in films)
                batch.Put(movie.Id, movie.Json);
            await database.WriteAsync(batch, cancellationToken);
        }

        await QueryAsync(database, years[0], wait: true, cancellationToken);
        using SqliteMovies? sqlite = Sqlite.IsPresent
            ? new SqliteMovies(Path.Combine(folder.Path, "peer.sqlite"), indexed: true)
            : null;
        int last = 0;
        foreach (Movie[] films in movies.Batches(1_000))
            sqlite?.Insert(films, ref last);

        var output = new ArrayBufferWriter<byte>(64 * 1024);
        var loads = new Series();
        var queries = new Series();
        for (int round = 0; round < rounds; round++)
        {
            loads.Add(await Timing.LatenciesAsync(ids.Length, i =>
            {
                output.ResetWrittenCount();
                using DatabaseSnapshot snapshot = database.BeginRead();
                if (!snapshot.TryGet(ids[i], out Document document))
                    throw new InvalidOperationException($"{ids[i]} is missing.");
                document.WriteTo(output);
                return ValueTask.CompletedTask;
            }));
            queries.Add(
                await Timing.LatenciesAsync(
                    years.Length, async i => await QueryAsync(database, years[i], wait: false, cancellationToken)));
            if (sqlite is null)
                continue;
            loads.AddPeer(await Timing.LatenciesAsync(ids.Length, i =>
            {
                sqlite.Load(ids[i]);
                return ValueTask.CompletedTask;
            }));
            queries.AddPeer(await Timing.LatenciesAsync(years.Length, i =>
            {
                sqlite.ByYear(years[i]);
                return ValueTask.CompletedTask;
            }));
        }

        string peer = $"SQLite {Sqlite.Version}";
        rows.AddRange(loads.Rows("load by id, in process", peer));
        rows.AddRange(queries.Rows("query year, sorted, first 10, in process", peer));
    }

    private static async Task QueryAsync(Database database, long year, bool wait, CancellationToken cancellationToken)
    {
        var output = new ArrayBufferWriter<byte>(64 * 1024);
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = Rql(year), WaitForNonStaleResults = wait, WaitTimeout = TimeSpan.FromMinutes(5) },
            cancellationToken);
        while (results.MoveNext())
            results.WriteCurrent(output);
    }

    private static string Rql(long year) => $"from Movies where year = {year} order by title limit 10";

    private static async Task OverHttpAsync(
        Movies movies, string[] ids, long[] years, int rounds, List<BenchRow> rows, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(folder.Path);
        await using ServerUnderTest limit = await ServerUnderTest.StartLimitAsync(LimitAnswerBytes);
        var films = new HttpDatabase(server.Client, "bench");
        await films.CreateAsync(cancellationToken);
        await films.BulkInsertAsync(movies.Documents, cancellationToken);
        await films.QueryAsync(Rql(years[0]), wait: true, cancellationToken);

        var nothing = new HttpDatabase(limit.Client, "bench");
        int calls = Math.Min(ids.Length, 5_000);
        var loads = new Series();
        var queries = new Series();
        List<double> loadRates = [], queryRates = [], limitRates = [];
        for (int round = 0; round < rounds; round++)
        {
            loads.Add(await Timing.LatenciesAsync(calls, async i => await films.LoadAsync(ids[i], cancellationToken)));
            queries.Add(
                await Timing.LatenciesAsync(
                    calls, async i => await films.QueryAsync(Rql(years[i]), wait: false, cancellationToken)));
            double[] transport = await Timing.LatenciesAsync(
                calls, async i => await nothing.LoadAsync(ids[i], cancellationToken));
            loads.AddLimit(transport);
            queries.AddLimit(transport);
            loadRates.Add(
                await Timing.ThroughputAsync(16, ids.Length, async i => await films.LoadAsync(ids[i], cancellationToken)));
            queryRates.Add(
                await Timing.ThroughputAsync(
                    16, years.Length, async i => await films.QueryAsync(Rql(years[i]), wait: false, cancellationToken)));
            limitRates.Add(
                await Timing.ThroughputAsync(16, ids.Length, async i => await nothing.LoadAsync(ids[i], cancellationToken)));
        }

        rows.AddRange(loads.Rows("load by id, over HTTP", ""));
        rows.AddRange(queries.Rows("query year, sorted, first 10, over HTTP", ""));
        rows.Add(
            BenchRow.Of("loads over HTTP, 16 connections", "requests/s", true, loadRates) with
            {
                Limit = Statistics.Median(limitRates)
            });
        rows.Add(
            BenchRow.Of("queries over HTTP, 16 connections", "requests/s", true, queryRates) with
            {
                Limit = Statistics.Median(limitRates)
            });
        rows.Add(new BenchRow("server's greatest resident memory of this run", "MiB", false, server.PeakResidentMiB));
    }

    /// <summary>Rounds of latencies of ours, a peer and the limit.</summary>
    private sealed class Series
    {
        private readonly List<double[]> _ours = [], _peer = [], _limit = [];

        public void Add(double[] round) => _ours.Add(round);

        public void AddPeer(double[] round) => _peer.Add(round);

        public void AddLimit(double[] round) => _limit.Add(round);

        public IEnumerable<BenchRow> Rows(string title, string peerName) =>
            new[] { (0.5, "p50"), (0.99, "p99") }.Select(at => At(title, at.Item1, at.Item2, peerName));

        private BenchRow At(string title, double share, string label, string peerName)
        {
            double[] Each(List<double[]> rounds) => [.. rounds.Select(round => Statistics.Percentile(round, share))];
            return BenchRow.Of($"{title}, {label}", "µs", false, Each(_ours)) with
            {
                Peers = _peer.Count == 0
                    ? new Dictionary<string, double>()
                    : new Dictionary<string, double> { [peerName] = Statistics.Median(Each(_peer)) },
                Limit = _limit.Count == 0 ? null : Statistics.Median(Each(_limit)),
            };
        }
    }
}
