using System.Buffers;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.EncryptedSearch;
using Treepie.Queries;
using Treepie.Storage;
using Treepie.Store;
using Treepie.Writes;
using Scratch = Treepie.Bench.Measuring.Scratch;

namespace Treepie.Bench.Suites;

/// <summary>How long queries at a fixed rate wait on an encrypted database.</summary>
internal sealed class EncryptedSearchSuite : ISuite
{
    private const string Plain = "plain";
    private const string Files = "file-shaped, encrypted";
    private const int PerSecond = 500;

    private static readonly (string Name, double Share)[] _shares =
        [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];

    public string Name => "encrypted-search";

    public string Question =>
        $"""
        How long does a query wait on an encrypted database, compared with a plain one with the same films? The first ten films of
        a random year ordered by title, whole documents, in process. {PerSecond} queries per second start at fixed times, whatever
        happened to earlier ones (open loop); the time is measured from that moment to the last byte of the answer. The databases
        take turns in every round. *File-shaped*: a model of indexes that are encrypted files, decrypted for each query: the
        columns of year and title order, one AES-256-GCM file each, are decrypted completely by every query, which then finds the
        same films and reads them from the same encrypted database. All three must find the same number of films for each year.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var movies = new Movies(quick);
        int rounds = quick ? 1 : 3, queries = quick ? 250 : 10_000;
        using EncryptionKey key = EncryptionKey.Generate();
        using Scratch hiddenFolder = new(), plainFolder = new();
        await progress.WriteLineAsync("encrypted-search: load");
        await using Database hidden = await LoadAsync(hiddenFolder, movies, key, cancellationToken),
            plain = await LoadAsync(plainFolder, movies, null, cancellationToken);
        using var files = new SealedColumns(movies);
        Func<long, Task<int>>[] targets =
        [
            year => QueryAsync(hidden, year, wait: false, cancellationToken),
            year => QueryAsync(plain, year, wait: false, cancellationToken),
            year => Task.FromResult(ReadFiles(hidden, files, year)),
        ];
        foreach (long year in movies.Years)
        {
            int[] answers = [await targets[0](year), await targets[1](year), await targets[2](year)];
            if (answers.Distinct().Count() > 1)
                throw new InvalidOperationException($"The answers for {year} have {string.Join(", ", answers)} films.");
        }

        List<double>[] waits = [[], [], []];
        for (int round = 0; round < rounds; round++)
        {
            await progress.WriteLineAsync($"encrypted-search, round {round + 1} of {rounds}");
            for (int turn = 0; turn < targets.Length; turn++)
            {
                int target = (round + turn) % targets.Length;
                var random = new Random(round);
                long[] years = [.. Enumerable.Range(0, queries).Select(_ => movies.Years[random.Next(movies.Years.Length)])];
                waits[target].AddRange(
                    FixedRate.Run(
                        PerSecond, queries, i => targets[target](years[i]).GetAwaiter().GetResult(), cancellationToken));
            }
        }

        return
        [
            .. _shares.Select(share => new BenchRow(
                $"query, {share.Name}", "µs", false, Statistics.Percentile(waits[0], share.Share))
            {
                Peers = new Dictionary<string, double>
                {
                    [Plain] = Statistics.Percentile(waits[1], share.Share),
                    [Files] = Statistics.Percentile(waits[2], share.Share)
                },
                Goals = share.Share > 0.999 ? [new Goal(0.5, Plain)] : [],
            }),
            new BenchRow("decrypted by each query of the file-shaped index", "bytes", false, files.SealedBytes),
        ];
    }

    private static async Task<Database> LoadAsync(
        Scratch folder, Movies movies, EncryptionKey? key, CancellationToken cancellationToken)
    {
        Database database = Database.Open(folder.Path, new DatabaseOptions { EncryptionKey = key });
        foreach (Movie[] films in movies.Batches(1_000))
        {
            var batch = new WriteBatch();
            foreach (Movie movie in films)
                batch.Put(movie.Id, movie.Json);
            await database.WriteAsync(batch, cancellationToken);
        }

        await QueryAsync(database, movies.Years[0], wait: true, cancellationToken);
        return database;
    }

    /// <summary>Films of the answer.</summary>
    private static async Task<int> QueryAsync(Database database, long year, bool wait, CancellationToken cancellationToken)
    {
        var output = new ArrayBufferWriter<byte>(64 * 1024);
        using QueryResults results = await database.QueryAsync(
            new QueryRequest
            {
                Text = $"from Movies where year = {year} order by title limit {SealedColumns.First}",
                WaitForNonStaleResults = wait,
                WaitTimeout = TimeSpan.FromMinutes(5)
            }, cancellationToken);
        int films = 0;
        while (results.MoveNext())
        {
            results.WriteCurrent(output);
            films++;
        }

        return wait ? 0 : films;
    }

    private static int ReadFiles(Database database, SealedColumns files, long year)
    {
        var output = new ArrayBufferWriter<byte>(64 * 1024);
        List<string> ids = files.Find(year);
        using DatabaseSnapshot snapshot = database.BeginRead();
        foreach (string id in ids)
        {
            if (!snapshot.TryGet(id, out Document document))
                throw new InvalidOperationException($"{id} is missing.");
            document.WriteTo(output);
        }

        return ids.Count;
    }
}
