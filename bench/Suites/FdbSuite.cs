using Treepie.Bench.Measuring;
using Treepie.Bench.Stores;
using Treepie.Bench.Suites.Fdb;

namespace Treepie.Bench.Suites;

/// <summary>The storage engine alone, beside engines of its kind, in the shape of FoundationDB's published benchmark.</summary>
internal sealed class FdbSuite : ISuite
{
    private const int RangeRows = 1_000;

    public string Name => "fdb";

    public string Question =>
        """
        How many transactions per second does the storage engine alone do, on a million rows (16-byte random keys, values of 8 to
        100 random bytes), each write durable when it returns? A client is a thread (*async*: a task). The engines take turns in
        every round and run in the clients' process; peers are called directly, with all data in memory. LMDB: default syncs, read
        transactions renewed. *LMDB + merger*: the application combines waiting transactions. RocksDB: `sync`, its own group
        commit, 2 GiB cache, bloom filters, recycled logs, no compression. SQLite: WAL, `synchronous=full`, prepared statements,
        mapped file, one connection per client, writers queued in the application. Limits: a raw 4 KB `O_DIRECT|O_DSYNC` write to
        a zero-filled file; for reads, memory read in dependent steps (one per key) and in order. After the rounds every row of
        every engine is compared with what was acknowledged. Bytes on disk: as the device counts them, including checkpoints and
        compactions. CPU: of all threads, including the clients' work. Memory and size: each engine alone in a process.
        """;

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int rows = quick ? 50_000 : 1_000_000, rounds = quick ? 1 : 5;
        StoreEngine[] engines = [StoreEngines.Ours, .. StoreEngines.Peers.Where(engine => engine.IsPresent)];
        var table = new FdbTable([.. StoreEngines.Peers.Where(engine => !engine.IsPresent).Select(engine => engine.Name)]);
        using var folder = new Scratch();
        foreach (StoreEngine engine in engines)
        {
            await progress.WriteLineAsync($"fdb: {engine.Name} loads");
            table.Add(engine.Name, await FdbLoad.RunAsync(engine, PathOf(folder, engine), rows, cancellationToken));
        }

        var data = new FdbData(rows);
        FdbStore[] stores = [
            .. engines.Select(
                engine => new FdbStore(
                    engine.Name, engine.Open(PathOf(folder, engine), FdbLoad.Settings), data, new uint[rows]))];
        try
        {
            CompareRanges(stores);
            foreach (FdbStore store in stores)
                store.Check();
            for (int round = 0; round < rounds; round++)
            {
                await progress.WriteLineAsync($"fdb, round {round + 1} of {rounds}");
                cancellationToken.ThrowIfCancellationRequested();
                await RoundAsync(stores, table, folder, quick, (uint)(round + 1) << 24);
            }

            foreach (FdbStore store in stores)
                store.Check();
        }
        finally
        {
            foreach (FdbStore store in stores)
                store.Dispose();
        }

        return [.. table.Rows(), .. await FdbGrowth.RunAsync(quick, progress, cancellationToken)];
    }

    private static string PathOf(Scratch folder, StoreEngine engine) => Path.Combine(folder.Path, engine.Name.Split(' ')[0]);

    private static void CompareRanges(FdbStore[] stores)
    {
        ulong[] digests = [.. stores.Select(store => store.RangesDigest(20, RangeRows))];
        for (int i = 1; i < stores.Length; i++)
            if (digests[i] != digests[0])
                throw new InvalidOperationException($"{stores[i].Name} reads other ranges than {stores[0].Name}.");
    }

    private static FdbFigures RunMerged(FdbStore store, FdbWork work, TimeSpan duration, uint version)
    {
        using FdbStore merged = store.Merged(FdbTable.Merged);
        return merged.Run(work, duration, version);
    }

    private static async Task RoundAsync(FdbStore[] stores, FdbTable table, Scratch folder, bool quick, uint version)
    {
        TimeSpan writing = TimeSpan.FromSeconds(quick ? 0.25 : 1.2),
            reading = TimeSpan.FromSeconds(quick ? 0.15 : 0.8),
            limit = reading / 2;
        table.AddLimits(
            RawMachine.SyncedWrites(folder.Path, isDirect: true, limit),
            RawMachine.SyncedWrites(folder.Path, isDirect: false, limit),
            RawMachine.DependentReads(Environment.ProcessorCount, quick ? 16 << 20 : 128 << 20, limit),
            RawMachine.SequentialReads(Environment.ProcessorCount, limit));
        foreach (FdbWork work in FdbWork.All)
        {
            version += 1 << 20;
            foreach (FdbStore store in stores)
            {
                table.Add(work, store.Name, store.Run(work, work.Writes > 0 ? writing : reading, version));
                if (work.Clients == 1 || work.Writes == 0)
                    continue;

                if (store == stores[0])
                    table.Add(work, FdbTable.Async, await store.RunAsync(work, writing, version + (1 << 19)));
                else if (store.Name.StartsWith("LMDB", StringComparison.Ordinal))
                    table.Add(work, FdbTable.Merged, RunMerged(store, work, writing, version + (1 << 19)));
            }
        }
    }
}
