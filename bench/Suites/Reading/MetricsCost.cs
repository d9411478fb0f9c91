using System.Buffers;
using System.Diagnostics;
using System.Globalization;
using OpenTelemetry;
using OpenTelemetry.Metrics;
using Treepie.Bench.Measuring;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Reading;

/// <summary>
/// What metrics cost where they weigh most: the commonest query, and a put without a disk, in this process, with and without
/// somebody who collects them, in turns of a tenth of a second.
/// </summary>
internal static class MetricsCost
{
    /// <summary>First argument of the process that measures: then seconds.</summary>
    public const string Verb = "metrics-cost";

    private static readonly TimeSpan _turn = TimeSpan.FromMilliseconds(100);

    /// <summary>What the process of <see cref="Verb"/> does.</summary>
    public static async Task RunAsync(double seconds)
    {
        using var folder = new Scratch();
        var movies = new Movies(quick: false);
        await using Database database = await ReadProfile.OpenFilmsAsync(folder.Path, movies);
        await using Database memory = Database.OpenInMemory();
        var output = new ArrayBufferWriter<byte>(64 * 1024);
        var random = new Random(1);
        await PrintAsync(
            "query", seconds / 2,
            () => ReadProfile.AskAsync(database, movies.Years[random.Next(movies.Years.Length)], false, output));
        await PrintAsync(
            "put", seconds / 2,
            () =>
            {
                var batch = new WriteBatch();
                batch.Put($"films/{random.Next(1_000)}", """{"title":"Ran","year":1985}"""u8.ToArray());
                return memory.WriteAsync(batch);
            });
    }

    private static async Task PrintAsync(string what, double seconds, Func<Task> run)
    {
        List<double> without = [], with = [];
        for (long began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began).TotalSeconds < seconds;)
        {
            without.Add(await TurnAsync(run));
            using MeterProvider provider = Sdk.CreateMeterProviderBuilder()
                .AddMeter("Treepie")
                .AddReader(new BaseExportingMetricReader(new Nowhere()))
                .Build();
            with.Add(await TurnAsync(run));
        }

        double off = Statistics.Percentile(without, 0.5), on = Statistics.Percentile(with, 0.5);
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{what}: {off:0.00} µs without metrics, {on:0.00} µs with them ({(on / off) - 1:+0.0 %;-0.0 %}), medians of "
                + $"{with.Count} turns each"));
    }

    /// <summary>The median time of a call in one turn, µs.</summary>
    private static async Task<double> TurnAsync(Func<Task> run)
    {
        var times = new List<double>();
        for (long began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began) < _turn;)
        {
            long start = Stopwatch.GetTimestamp();
            await run();
            times.Add(Stopwatch.GetElapsedTime(start).TotalMicroseconds);
        }

        return Statistics.Percentile(times, 0.5);
    }

    private sealed class Nowhere : BaseExporter<Metric>
    {
        public override ExportResult Export(in Batch<Metric> batch) => ExportResult.Success;
    }
}
