using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Stores;

namespace Treepie.Bench.Suites.Fdb;

/// <summary>What point operations cost as the data grows a hundredfold, one client, all in memory.</summary>
internal static class FdbGrowth
{
    private const double MostGrowth = 1.6;
    private static readonly FdbWork _reads = new("point read", 1, 10, 0, 0);
    private static readonly FdbWork _writes = new("point write, 1,000 a transaction", 1, 0, 1_000, 0);

    public static async Task<IReadOnlyList<BenchRow>> RunAsync(
        bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int[] sizes = quick ? [1_000, 10_000, 100_000] : [100_000, 1_000_000, 10_000_000];
        int rounds = quick ? 1 : 5;
        TimeSpan duration = TimeSpan.FromSeconds(quick ? 0.1 : 0.5);
        StoreEngine[] engines =
        [
            StoreEngines.Ours,
            .. StoreEngines.Peers.Where(engine => engine.IsPresent && engine.Name.StartsWith("LMDB", StringComparison.Ordinal))
        ];
        Dictionary<(string Engine, string Work, int Rows), List<double>> figures = [];
        using var folder = new Scratch();
        var stores = new List<(int Rows, FdbStore Store)>();
        try
        {
            foreach (int rows in sizes)
            {
                foreach (StoreEngine engine in engines)
                {
                    await progress.WriteLineAsync(
                        string.Create(CultureInfo.InvariantCulture, $"fdb growth: {engine.Name} loads {rows:N0} rows"));
                    stores.Add(
                        (rows, Load(
                            engine,
                            Path.Combine(
                                folder.Path, string.Create(CultureInfo.InvariantCulture, $"{engine.Name.Split(' ')[0]}-{rows}")),
                            rows)));
                }
            }

            for (int round = 0; round < rounds; round++)
            {
                foreach (FdbWork work in (FdbWork[])[_reads, _writes])
                {
                    foreach ((int rows, FdbStore store) in stores)
                    {
                        cancellationToken.ThrowIfCancellationRequested();
                        var key = (store.Name, work.Name, rows);
                        if (!figures.TryGetValue(key, out List<double>? list))
                            figures.Add(key, list = []);
                        list.Add(1e9 / store.Run(work, duration, (uint)(round + 1) << 24).PerSecond / work.Keys);
                    }
                }
            }
        }
        finally
        {
            foreach ((_, FdbStore store) in stores)
                store.Dispose();
        }

        return [.. ((FdbWork[])[_reads, _writes]).SelectMany(work => Rows(work, sizes, engines, figures))];
    }

    private static IEnumerable<BenchRow> Rows(
        FdbWork work, int[] sizes, StoreEngine[] engines,
        Dictionary<(string Engine, string Work, int Rows), List<double>> figures)
    {
        BenchRow Row(string title, string unit, Func<string, double[]> rounds) =>
            BenchRow.Of(title, unit, false, rounds(engines[0].Name)) with
            {
                Peers = engines.Skip(1).ToDictionary(engine => engine.Name, engine => Statistics.Median(rounds(engine.Name))),
            };
        foreach (int rows in sizes)
            yield return Row(
                string.Create(CultureInfo.InvariantCulture, $"{work.Name}, {rows:N0} rows"), "ns/key",
                engine => [.. figures[(engine, work.Name, rows)]]);
        yield return Row($"{work.Name}, growth of its cost with 100× the rows", "×", engine =>
            [.. figures[(engine, work.Name, sizes[^1])].Zip(
                figures[(engine, work.Name, sizes[0])], (large, small) => large / small)]) with
        {
            Limit = MostGrowth,
            Goals = [Goal.AtMost(1)],
            Reason =
                "a hundredth of the rows lies in the processor's caches, all of them do not: a look-up then waits for the lines "
                    + "of a leaf that it needs one after the other, and for the addresses of its pages, whose table does not fit "
                    + "either; the peer beside it has the same memory",
        };
    }

    /// <summary>
    /// Rows in the order of their keys, not synced one by one; the store is then opened as for every other row.
    /// </summary>
    private static FdbStore Load(StoreEngine engine, string path, int rows)
    {
        var data = new FdbData(rows, isSorted: true);
        using (IKeyValueStore store = engine.Open(path, FdbLoad.Settings with { IsDurable = false }))
        using (IKeyValueSession session = store.OpenSession())
            FdbLoad.Write(data, session, 0);
        return new FdbStore(engine.Name, engine.Open(path, FdbLoad.Settings), data, new uint[rows]);
    }
}
