using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Stores;
using Treepie.Bench.Suites.Faster;

namespace Treepie.Bench.Suites;

/// <summary>
/// Hash maps of 8-byte keys and values in the shape of YCSB: ours beside FASTER and ConcurrentDictionary, and the durable forms
/// beside each other.
/// </summary>
internal sealed class FasterSuite : ISuite
{
    private const int DrawnKeys = 4_000_000;
    private const long DurableKeys = 1_000_000;

    public string Name => "faster";

    public string Question =>
        """
        How many operations per second does a hash map of ten million 8-byte keys and values do? As in YCSB: keys are hashes of
        numbers, drawn uniformly or by Zipf's law (0.99); reads, upserts, or both in turn; one thread or two. *In memory*:
        `MemoryMap`, the form of `DiskMap` without durability, one operation per call, or (*batched*) `TryGetValues` and `SetAll`
        with a thousand keys; FASTER through its unsafe context, its log entirely in memory; `ConcurrentDictionary` created with
        its capacity. *Durable*, a million keys, loaded without syncing: `DiskMap` with a thousand upserts per transaction; FASTER
        with its log on a local device and a fold-over checkpoint per thousand; RocksDB, LMDB and SQLite with a thousand per
        transaction, synced. The maps take turns in every round; what a map reads is compared with what was written, before and
        after. Memory: the growth of the process when the map was loaded. FASTER opens its files with `O_SYNC`, so its checkpoints
        are as durable as our commits.

        What helped reads in memory: free slots hide their keys, so four keys of a cache line are compared without reading the
        tags, one memory access for nine of ten keys; and a short path to that line (170 → 90 instructions, so the processor
        overlaps more look-ups). What did not help: comparing two lines at once without a branch (49 → 51 ns); pairs of lines on
        128-byte boundaries.
        """;

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        long keys = quick ? 100_000 : 10_000_000;
        var figures = new MapFigures();
        IReadOnlyList<long[]>[] drawn = Draw(keys, quick);
        InMemory(keys, drawn, quick, figures, progress, cancellationToken);
        await progress.WriteLineAsync("faster: durable forms");
        long durableKeys = Math.Min(keys, DurableKeys);
        Durable(durableKeys, Draw(durableKeys, quick), quick, figures, progress, cancellationToken);
        return figures.Rows();
    }

    private static IReadOnlyList<long[]>[] Draw(long keys, bool quick) =>
    [
        [.. Enumerable.Range(0, 2).Select(thread => MapKeys.Uniform(thread, keys, quick ? DrawnKeys / 40 : DrawnKeys))],
        [.. Enumerable.Range(0, 2).Select(thread => MapKeys.Zipf(thread + 2, keys, quick ? DrawnKeys / 40 : DrawnKeys))],
    ];

    private static void InMemory(
        long keys, IReadOnlyList<long[]>[] drawn, bool quick, MapFigures figures, TextWriter progress,
        CancellationToken cancellationToken)
    {
        var ours = new MemoryMapUnderTest();
        IMapUnderTest[] maps = [ours, new FasterMap(keys, directory: null), new DictionaryUnderTest((int)keys)];
        try
        {
            foreach (IMapUnderTest map in maps)
            {
                progress.WriteLine($"faster: {map.Name} loads");
                double before = ResidentMiB();
                MapRun.Load(map.Open, keys);
                figures.AddMemory(map.Name, (ResidentMiB() - before) * (1 << 20) / keys);
            }

            Verify(maps, drawn);
            TimeSpan duration = TimeSpan.FromSeconds(quick ? 0.02 : 0.5);
            for (int round = 0; round < (quick ? 1 : 3); round++)
            {
                progress.WriteLine($"faster, round {round + 1}");
                cancellationToken.ThrowIfCancellationRequested();
                for (int skew = 0; skew < 2; skew++)
                {
                    foreach (MapWork work in Enum.GetValues<MapWork>())
                    {
                        for (int threads = 1; threads <= 2; threads++)
                        {
                            foreach (IMapUnderTest map in maps)
                                figures.Add(
                                    skew, work, threads, isDurable: false, map.Name,
                                    MapRun.Run(map.Open, work, drawn[skew], threads, duration));
                            if (work != MapWork.Mix)
                                figures.Add(
                                    skew, work, threads, isDurable: false, MapFigures.Batched,
                                    MapRun.Run(ours.OpenBatched, work, drawn[skew], threads, duration));
                        }
                    }
                }
            }

            Verify(maps, drawn);
        }
        finally
        {
            foreach (IMapUnderTest map in maps)
                map.Dispose();
        }
    }

    private static void Durable(
        long keys, IReadOnlyList<long[]>[] drawn, bool quick, MapFigures figures, TextWriter progress,
        CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        List<IMapUnderTest> maps = [new DiskMapUnderTest(Path.Combine(folder.Path, "treepie"), keys)];
        try
        {
            maps.Add(new FasterMap(keys, Directory.CreateDirectory(Path.Combine(folder.Path, "faster")).FullName));
            foreach (StoreEngine engine in StoreEngines.Peers.Where(engine => engine.IsPresent))
                maps.Add(new StoreUnderTest(engine, Path.Combine(folder.Path, engine.Name.Split(' ')[0])));
            foreach (IMapUnderTest map in maps)
            {
                progress.WriteLine($"faster: {map.Name} loads, durable");
                MapRun.Load(map is ILoadedApart apart ? apart.OpenToLoad : map.Open, keys);
            }

            Verify(maps, drawn);
            TimeSpan duration = TimeSpan.FromSeconds(quick ? 0.02 : 1);
            for (int round = 0; round < (quick ? 1 : 3); round++)
            {
                cancellationToken.ThrowIfCancellationRequested();
                for (int skew = 0; skew < 2; skew++)
                {
                    foreach (MapWork work in Enum.GetValues<MapWork>())
                    {
                        foreach (IMapUnderTest map in maps)
                            figures.Add(
                                skew, work, threads: 1, isDurable: true, map.Name,
                                MapRun.Run(map.Open, work, drawn[skew], 1, duration));
                    }
                }
            }

            Verify(maps, drawn);
        }
        finally
        {
            foreach (IMapUnderTest map in maps)
                map.Dispose();
        }
    }

    private static void Verify(IReadOnlyList<IMapUnderTest> maps, IReadOnlyList<long[]>[] drawn)
    {
        foreach (IMapUnderTest map in maps)
        {
            using IMapClient client = map.Open();
            for (int at = 0; at < 100 * MapRun.BatchOperations; at += MapRun.BatchOperations)
            {
                ReadOnlySpan<long> keys = drawn[1][0].AsSpan(at, MapRun.BatchOperations);
                if (client.Read(keys) != client.Expect(keys))
                    throw new InvalidOperationException($"{map.Name} reads other values than were written.");
            }
        }
    }

    private static double ResidentMiB()
    {
        GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        return ProcessCounters.PrivateMiB;
    }
}
