using System.Buffers;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Treepie.Bench.Measuring;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Reading;

/// <summary>
/// Asks a database in this process one question of the suite over films, for a profiler or for two builds that take turns.
/// </summary>
internal static class ReadProfile
{
    /// <summary>First argument of the process that asks: then seconds, and the name of the question or how it begins.</summary>
    public const string Verb = "read-profile";

    /// <summary>What the process of <see cref="Verb"/> does.</summary>
    public static async Task RunAsync(double seconds, string question)
    {
        ReadQuestion asked = ReadQuestion.All.First(known => known.Name.StartsWith(question, StringComparison.Ordinal));
        using var folder = new Scratch();
        var movies = new Movies(quick: false);
        ReadSet films = ReadSet.Films(movies);
        await using Database database = await OpenFilmsAsync(folder.Path, movies);
        await AskAsync(database, asked, ReadQuestion.Parameters(asked.Values(films, new Random(2))), new ArrayBufferWriter<byte>(), wait: true);
        var output = new ArrayBufferWriter<byte>(64 * 1024);
        var random = new Random(1);
        JsonElement[] prepared = [.. Enumerable.Range(0, 200).Select(_ => ReadQuestion.Parameters(asked.Values(films, random)))];
        for (int half = 0; half < 2; half++)
        {
            var times = new List<double>();
            long allocated = GC.GetAllocatedBytesForCurrentThread();
            for (long began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began).TotalSeconds < seconds / 2;)
            {
                JsonElement parameters = prepared[random.Next(prepared.Length)];
                long start = Stopwatch.GetTimestamp();
                await AskAsync(database, asked, parameters, output);
                times.Add(Stopwatch.GetElapsedTime(start).TotalMicroseconds);
            }

            allocated = GC.GetAllocatedBytesForCurrentThread() - allocated;
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"p5 {Statistics.Percentile(times, 0.05):0.0} µs   "
                    + $"p50 {Statistics.Percentile(times, 0.5):0.0} µs   p99 {Statistics.Percentile(times, 0.99):0.0} µs   "
                    + $"{allocated / times.Count} bytes a query"));
        }
    }

    /// <summary>A new database with all films, and the index that the question needs.</summary>
    public static async Task<Database> OpenFilmsAsync(string path, Movies movies)
    {
        Database database = Database.Open(path);
        foreach (Movie[] films in movies.Batches(1_000))
        {
            var batch = new WriteBatch();
            foreach (Movie movie in films)
                batch.Put(movie.Id, movie.Json);
            await database.WriteAsync(batch);
        }

        await AskAsync(database, movies.Years[0], wait: true, new ArrayBufferWriter<byte>());
        return database;
    }

    private static async Task AskAsync(
        Database database, ReadQuestion question, JsonElement parameters, ArrayBufferWriter<byte> output, bool wait = false)
    {
        output.ResetWrittenCount();
        using QueryResults results = await database.QueryAsync(
            new QueryRequest
            {
                Text = question.FullRql,
                Parameters = parameters,
                CountsResults = question.Counts,
                WaitForNonStaleResults = wait,
                WaitTimeout = TimeSpan.FromMinutes(5),
            });
        while (results.MoveNext())
            results.WriteCurrent(output);
    }

    /// <summary>Asks for the first ten films of a year by title.</summary>
    public static async Task AskAsync(Database database, long year, bool wait, ArrayBufferWriter<byte> output)
    {
        output.ResetWrittenCount();
        string text = $"from Movies where year = {year} order by title limit 10";
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = text, WaitForNonStaleResults = wait, WaitTimeout = TimeSpan.FromMinutes(5) });
        while (results.MoveNext())
            results.WriteCurrent(output);
    }
}
