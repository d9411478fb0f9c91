using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Near;
using Treepie.Indexing.Spatial;

namespace Treepie.Bench.Suites;

/// <summary>Places and vectors, beside loops over all of them in memory.</summary>
internal sealed class NearSuite : ISuite
{
    private const string Loop = "loop over an array";
    private const string Exact = "ours, exact";
    private const int Questions = 40;

    public string Name => "near";

    public string Question =>
        """
        How fast are places and vectors found? 22,841 cities: those within a circle, the nearest ten, and the nearest ten of those
        within a circle, each around 40 cities, compared with a loop over an array in memory that computes every distance; counts
        and distances must be equal. 20,000 vectors of 96 numbers in 200 clusters: the nearest ten by the graph, of all vectors
        and with a condition that leaves a tenth or a hundredth, compared with the exact search of the same index; the note has
        the share of the true nearest ten. One thread, everything in the system's memory; the mean of the queries' median times.
        """;

    public Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        AddPlaces(rows, quick, progress, cancellationToken);
        AddVectors(rows, quick, progress, cancellationToken);
        return Task.FromResult<IReadOnlyList<BenchRow>>(rows);
    }

    private static void AddPlaces(List<BenchRow> rows, bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        progress.WriteLine("near: places");
        using var files = new Scratch();
        using var index = new CityIndex(files.Path, CityIndex.Load(quick ? 2_000 : int.MaxValue), cancellationToken);
        var random = new Random(3);
        GeoPoint[] centres =
            [.. Enumerable.Range(0, quick ? 3 : Questions).Select(_ => index.Cities[random.Next(index.Cities.Length)])];
        foreach (double radius in (double[])[20, 200, 2_000])
        {
            foreach (GeoPoint centre in centres)
                Require(index.CountWithin(Geometry.Around(centre, radius)), index.LoopWithin(centre, radius), 0.5);
            rows.Add(Row(
                string.Create(CultureInfo.InvariantCulture, $"count within {radius} km"),
                Mean(centres, quick, centre => index.CountWithin(Geometry.Around(centre, radius))), Loop,
                Mean(centres, quick, centre => index.LoopWithin(centre, radius))));
        }

        foreach (GeoPoint centre in centres)
            Require(index.TenthDistance(centre, null), index.LoopTenth(centre), 1e-4);
        double loop = Mean(centres, quick, index.LoopTenth);
        rows.Add(Row("nearest 10", Mean(centres, quick, centre => index.TenthDistance(centre, null)), Loop, loop));
        rows.Add(
            Row(
                "nearest 10 within 200 km",
                Mean(centres, quick, centre => index.TenthDistance(centre, Geometry.Around(centre, 200))), Loop, loop));
    }

    private static void AddVectors(List<BenchRow> rows, bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        progress.WriteLine("near: vectors");
        int count = quick ? 1_500 : 20_000;
        using var files = new Scratch();
        long began = Stopwatch.GetTimestamp();
        using var index = new EmbeddingIndex(files.Path, count, cancellationToken);
        rows.Add(new BenchRow("vectors indexed", "vectors/s", true, count / Stopwatch.GetElapsedTime(began).TotalSeconds));
        rows.Add(
            new BenchRow("size of the index of vectors", "MB", false, files.SizeBytes / 1e6)
            {
                Limit = (long)count * EmbeddingIndex.Dimensions * sizeof(float) / 1e6
            });
        float[][] wanted = [.. Enumerable.Range(0, quick ? 5 : Questions).Select(_ => index.Draw())];
        foreach ((
            string? kind,
            string name) in ((string?, string)[])
            [
                (null, "nearest 10 vectors"), ("few", "nearest 10 of a tenth"), ("rare", "nearest 10 of a hundredth")
            ])
        {
            double recall = wanted.Average(
                vector => index.Nearest(vector, kind, exact: false).Intersect(index.Nearest(vector, kind, exact: true)).Count()
                    / 10.0);
            BenchRow row = Row(
                name, Mean(wanted, quick, vector => index.Nearest(vector, kind, exact: false)), Exact,
                Mean(wanted, quick, vector => index.Nearest(vector, kind, exact: true)));
            rows.Add(row with { Note = string.Create(CultureInfo.InvariantCulture, $"recall {recall:0.000}") });
        }
    }

    private static void Require(double ours, double expected, double tolerance)
    {
        if (Math.Abs(ours - expected) > tolerance)
            throw new InvalidOperationException($"The index says {ours}, a loop says {expected}.");
    }

    private static BenchRow Row(string name, double ours, string peer, double theirs) =>
        new(name, "µs", false, ours) { Peers = new Dictionary<string, double> { [peer] = theirs } };

    private static double Mean<TQuestion, TAnswer>(TQuestion[] questions, bool quick, Func<TQuestion, TAnswer> ask) =>
        questions.Average(question => Median(quick ? 2 : 7, () => ask(question)));

    private static double Median<T>(int rounds, Func<T> ask)
    {
        ask();
        var times = new List<double>();
        for (int i = 0; i < rounds; i++)
        {
            long began = Stopwatch.GetTimestamp();
            ask();
            times.Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds);
        }

        return Statistics.Median(times);
    }
}
