using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Bench.Suites;

/// <summary>How long from nothing to an answer.</summary>
internal sealed class StartSuite : ISuite
{
    /// <summary>First argument of the process that opens a database once and says how long it took.</summary>
    public const string OpenVerb = "open-once";

    private const string Rql = "from Movies where year = 1994 order by title limit 10";

    public string Name => "start";

    public string Question =>
        """
        How long does it take from nothing to an answer? Each figure is from a new process, so it includes the start of the
        runtime and the compilation of code where a user waits for them. Database of 36,273 films with an index, files in the page
        cache. *Embedded open*: the call of `Database.Open` alone, in a process that did nothing before. Limit: the same with an
        empty ASP.NET server, for the server's row.
        """;

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var movies = new Movies(quick);
        int rounds = quick ? 1 : 9;
        using var folder = new Scratch();
        string path = Path.Combine(folder.Path, "databases", "bench");
        Directory.CreateDirectory(path);
        await using (Database database = Database.Open(path))
        {
            foreach (Movie[] films in movies.Batches(1_000))
            {
                var batch = new WriteBatch();
                foreach (Movie movie in films)
                    batch.Put(movie.Id, movie.Json);
                await database.WriteAsync(batch, cancellationToken);
            }

            using QueryResults results = await database.QueryAsync(
                new QueryRequest { Text = Rql, WaitForNonStaleResults = true, WaitTimeout = TimeSpan.FromMinutes(5) },
                cancellationToken);
        }

        List<double> server = [], limit = [], firstAnswer = [], open = [], openAndQuery = [];
        for (int round = 0; round < rounds; round++)
        {
            await progress.WriteLineAsync($"start, round {round + 1} of {rounds}");
            await using (ServerUnderTest started = await ServerUnderTest.StartAsync(folder.Path))
            {
                server.Add(started.StartTime.TotalMilliseconds);
                firstAnswer.Add(
                    1000
                        * await Timing.SecondsAsync(
                            () => new HttpDatabase(started.Client, "bench").QueryAsync(Rql, wait: false, cancellationToken)));
            }

            await using (ServerUnderTest started = await ServerUnderTest.StartLimitAsync(100))
                limit.Add(started.StartTime.TotalMilliseconds);
            double[] milliseconds = await OpenInNewProcessAsync(path, cancellationToken);
            open.Add(milliseconds[0]);
            openAndQuery.Add(milliseconds[1]);
        }

        return
        [
            BenchRow.Of("server, process start to available", "ms", false, server) with { Limit = Statistics.Median(limit) },
            BenchRow.Of("server, first query after its start", "ms", false, firstAnswer),
            BenchRow.Of("embedded open", "ms", false, open),
            BenchRow.Of("embedded open and first query", "ms", false, openAndQuery),
        ];
    }

    /// <summary>What the process of <see cref="OpenVerb"/> does: opens, queries, prints milliseconds of both.</summary>
    public static async Task OpenOnceAsync(string path)
    {
        long began = Stopwatch.GetTimestamp();
        await using Database database = Database.Open(path);
        double open = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        using (QueryResults results = await database.QueryAsync(new QueryRequest { Text = Rql }))
        {
            if (!results.MoveNext())
                throw new InvalidOperationException("The query found nothing.");
        }

        double query = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{open} {query}"));
    }

    private static async Task<double[]> OpenInNewProcessAsync(string path, CancellationToken cancellationToken)
    {
        var start = new ProcessStartInfo("dotnet", [typeof(StartSuite).Assembly.Location, OpenVerb, path])
        {
            RedirectStandardOutput = true
        };
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("Could not start a process.");
        string line = await process.StandardOutput.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        if (process.ExitCode != 0)
            throw new InvalidOperationException($"The process that opens {path} ended with code {process.ExitCode}.");
        return [.. line.Split(' ').Select(part => double.Parse(part, CultureInfo.InvariantCulture))];
    }
}
