using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Bench.Suites;

/// <summary>How fast documents come in, and how soon they can be found.</summary>
internal sealed class IngestSuite : ISuite
{
    private const int BatchSize = 1_000;

    /// <summary>A query that makes the index every indexed row keeps: a number, a sort key, and words of a paragraph.</summary>
    private const string IndexedQuery = "from Movies where year = 1994 and search(extract, 'heist') order by title limit 10";

    public string Name => "ingest";

    public string Question =>
        """
        How many films (36,273, 23.5 MB of JSON) are stored per second, durably, in batches of 1,000 documents? *Indexed* ends
        when the last one is found by a query over year (number), title (sort) and the words of the extract. SQLite: WAL,
        `synchronous=full`, the same batches as transactions, in one thread; indexed: an expression index over year and title, and
        FTS5 over the extract. HTTP rows: Treepie's server, published for this system, in a process of its own, one bulk insert
        request.
        """;

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var movies = new Movies(quick);
        int rounds = quick ? 1 : 5;
        Dictionary<string, List<double>> figures = [];
        void Note(string figure, double value) =>
            (figures.TryGetValue(figure, out List<double>? list) ? list : figures[figure] = []).Add(value);

        for (int round = 0; round < rounds; round++)
        {
            await progress.WriteLineAsync($"ingest, round {round + 1} of {rounds}");
            foreach (bool indexed in new[] { false, true })
            {
                string kind = indexed ? "indexed" : "stored";
                Note(
                    $"embedded {kind}",
                    await EmbeddedAsync(movies, indexed, bytes => Note($"disk {kind}", bytes), cancellationToken));
                await HttpAsync(
                    movies, indexed, rate => Note($"http {kind}", rate), rate => Note($"warm {kind}", rate),
                    mib => Note($"memory {kind}", mib), cancellationToken);
                if (Sqlite.IsPresent)
                    Note($"sqlite {kind}", SqliteRun(movies, indexed, bytes => Note($"sqlite disk {kind}", bytes)));
            }
        }

        string sqlite = $"SQLite {Sqlite.Version}";
        BenchRow Row(string title, string unit, bool higher, string figure, string? peer) =>
            BenchRow.Of(title, unit, higher, figures[figure]) with
            {
                Peers = peer is not null && figures.TryGetValue(peer, out List<double>? values)
                    ? new Dictionary<string, double> { [sqlite] = Statistics.Median(values) }
                    : new Dictionary<string, double>(),
            };
        return
        [
            Row("in process, stored", "documents/s", true, "embedded stored", "sqlite stored"),
            Row("in process, indexed", "documents/s", true, "embedded indexed", "sqlite indexed"),
            Row("over HTTP, stored, a server just started", "documents/s", true, "http stored", null),
            Row("over HTTP, stored, its second import", "documents/s", true, "warm stored", null),
            Row("over HTTP, indexed, a server just started", "documents/s", true, "http indexed", null),
            Row("over HTTP, indexed, its second import", "documents/s", true, "warm indexed", null),
            Row("on disk, stored", "MiB", false, "disk stored", "sqlite disk stored"),
            Row("on disk, indexed", "MiB", false, "disk indexed", "sqlite disk indexed"),
            Row("server's resident memory after import, stored", "MiB", false, "memory stored", null),
            Row("server's resident memory after import, indexed", "MiB", false, "memory indexed", null),
        ];
    }

    private static async Task<double> EmbeddedAsync(
        Movies movies, bool indexed, Action<double> disk, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        double seconds;
        await using (Database database = Database.Open(folder.Path))
        {
            if (indexed)
                await FindAsync(database, cancellationToken);
            seconds = await Timing.SecondsAsync(async () =>
            {
                await using BulkInsert bulk = database.BulkInsert(new BulkInsertOptions { MaxBatchDocuments = BatchSize });
                foreach (Movie movie in movies.Documents)
                    await bulk.StoreAsync(movie.Id, movie.Json, cancellationToken);
                await bulk.CompleteAsync(cancellationToken);
                if (indexed)
                    await FindAsync(database, cancellationToken);
            });
        }

        disk(folder.SizeBytes / 1048576.0);
        return movies.Documents.Length / seconds;
    }

    private static async Task FindAsync(Database database, CancellationToken cancellationToken)
    {
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = IndexedQuery, WaitForNonStaleResults = true, WaitTimeout = TimeSpan.FromMinutes(5) },
            cancellationToken);
        while (results.MoveNext())
        {
        }
    }

    private static async Task HttpAsync(
        Movies movies, bool indexed, Action<double> first, Action<double> second, Action<double> memory,
        CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(folder.Path);
        foreach ((string name, Action<double> rate) in new[] { ("first", first), ("second", second) })
        {
            var films = new HttpDatabase(server.Client, name);
            await films.CreateAsync(cancellationToken);
            if (indexed)
                await films.QueryAsync(IndexedQuery, wait: true, cancellationToken);
            double seconds = await Timing.SecondsAsync(async () =>
            {
                await films.BulkInsertAsync(movies.Documents, cancellationToken);
                if (indexed)
                    await films.QueryAsync(IndexedQuery, wait: true, cancellationToken);
            });
            rate(movies.Documents.Length / seconds);
            if (name == "first")
                memory(server.ResidentMiB);
        }
    }

    private static double SqliteRun(Movies movies, bool indexed, Action<double> disk)
    {
        using var folder = new Scratch();
        double seconds;
        using (var sqlite = new SqliteMovies(Path.Combine(folder.Path, "movies.db"), indexed))
        {
            int last = 0;
            long began = System.Diagnostics.Stopwatch.GetTimestamp();
            foreach (Movie[] films in movies.Batches(BatchSize))
                sqlite.Insert(films, ref last);
            seconds = System.Diagnostics.Stopwatch.GetElapsedTime(began).TotalSeconds;
        }

        disk(folder.SizeBytes / 1048576.0);
        return movies.Documents.Length / seconds;
    }
}
