using System.Diagnostics;
using Treepie.Bench.Measuring;
using Treepie.Bench.Stores;
using Treepie.Bench.Suites.Opening;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Scratch = Treepie.Bench.Measuring.Scratch;

namespace Treepie.Bench.Suites;

/// <summary>How long an environment takes to open, by size of the data and by length of the journal tail.</summary>
internal sealed class OpenSuite : ISuite
{
    private const string TreeName = "entries"; // that of TreepieStore
    private const int ValueBytes = 1000;
    private const int KeysPerTransaction = 2000;
    private static readonly StoreSettings _settings = new(IsDurable: false, MemoryBytes: 64 << 20);

    public string Name => "open";

    public string Question =>
        $"""
        How long does opening take, and does it grow with the data? `StorageEnvironment.Open`, then the first value read, in a
        process that has opened others before, files in the page cache. 1 MB and 1 GB: values of {ValueBytes} bytes under random
        keys, closed cleanly; peers open the same keys and values. 100 GB: a sparse file with 1 MB of values, all other pages in
        use according to the bitmap. Journal tail: commits of ten values each that no checkpoint contains, from a process that
        died; without peers, whose tails are not comparable.
        """.ReplaceLineEndings("\n");

    public Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int rounds = quick ? 3 : 31;
        var rows = new List<BenchRow>();
        foreach (int megabytes in quick ? [1] : (int[])[1, 1000])
        {
            progress.WriteLine($"open: {megabytes} MB");
            rows.AddRange(Sizes($"{Label(megabytes)} of values", megabytes * 1_000_000L / ValueBytes, rounds, cancellationToken));
        }

        progress.WriteLine("open: 100 GB, sparse");
        rows.AddRange(Sparse(100L << 30, rounds));
        foreach (int mebibytes in quick ? [0, 1] : (int[])[0, 1, 16])
        {
            cancellationToken.ThrowIfCancellationRequested();
            progress.WriteLine($"open: journal tail of {mebibytes} MiB");
            rows.Add(Tail(mebibytes, rounds));
        }

        return Task.FromResult<IReadOnlyList<BenchRow>>(rows);
    }

    private static string Label(int megabytes) => megabytes < 1000 ? $"{megabytes} MB" : $"{megabytes / 1000} GB";

    private static List<BenchRow> Sizes(string what, long keys, int rounds, CancellationToken cancellationToken)
    {
        Dictionary<string, double> open = [], read = [];
        BenchRow? ourOpen = null, ourRead = null;
        ulong? digest = null;
        foreach (StoreEngine engine in (StoreEngine[])
        [
            StoreEngines.Ours, .. StoreEngines.Peers.Where(engine => engine.IsPresent)
        ])
        {
            cancellationToken.ThrowIfCancellationRequested();
            using var folder = new Scratch();
            string path = Path.Combine(folder.Path, "store");
            Load(engine, path, keys);
            (List<double> opened, List<double> first, ulong found) = engine == StoreEngines.Ours
                ? Measure(path, keys, rounds)
                : Measure(engine, path, keys, rounds);
            if ((digest ??= found) != found)
                throw new InvalidOperationException($"{engine.Name} reads another value than the others.");
            if (engine == StoreEngines.Ours)
            {
                ourOpen = BenchRow.Of($"open, {what}", "ms", false, opened);
                ourRead = BenchRow.Of($"open and first read, {what}", "ms", false, first);
                continue;
            }

            open[engine.Name] = Statistics.Median(opened);
            read[engine.Name] = Statistics.Median(first);
        }

        return [ourOpen! with { Peers = open }, ourRead! with { Peers = read }]; // ours is among the engines
    }

    private static IEnumerable<BenchRow> Sparse(long bytes, int rounds)
    {
        const long Keys = 1_000_000 / ValueBytes;
        using var folder = new Scratch();
        string path = Path.Combine(folder.Path, "store");
        OpenedStores.MakeSparse(path, bytes, environment => Put(environment, 0, Keys));
        (List<double> open, List<double> read, _) = Measure(path, Keys, rounds);
        long length = new FileInfo(Path.Combine(path, "data.treepie")).Length;
        string note = $"a file of {length / 1e9:0} GB, {OpenedStores.BlockBytes(path) / 1e6:0.0} MB of it on the disk";
        return
        [
            BenchRow.Of("open, 100 GB in use, sparse", "ms", false, open) with { Note = note },
            BenchRow.Of("open and first read, 100 GB in use, sparse", "ms", false, read),
        ];
    }

    private static BenchRow Tail(int mebibytes, int rounds)
    {
        using var folder = new Scratch();
        long tail = OpenedStores.MakeTail(folder.Path, (long)mebibytes << 20, Put);
        List<double> open = [];
        for (int round = -2; round < rounds; round++)
        {
            long began = Stopwatch.GetTimestamp();
            using StorageEnvironment environment = StorageEnvironment.Open(folder.Path); // writes nothing, so the tail stays
            if (round >= 0)
                open.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
        }

        return BenchRow.Of($"open, journal tail of {mebibytes} MiB", "ms", false, open) with
        {
            Note = $"{tail / 1024.0 / 1024:0.0} MiB of frames"
        };
    }

    private static (List<double> Open, List<double> Read, ulong Digest) Measure(string path, long keys, int rounds)
    {
        List<double> open = [], read = [];
        ulong found = 0;
        for (int round = -2; round < rounds; round++)
        {
            long began = Stopwatch.GetTimestamp();
            using StorageEnvironment environment = StorageEnvironment.Open(path);
            double opened = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
            var digest = default(Digest);
            using (ReadScope scope = environment.Read())
            {
                byte[] key = Key(keys / 2);
                if (scope.GetTree(TreeName).TryGet(key, out ReadOnlySpan<byte> value))
                    digest.Add(key, value);
            }

            found = digest.Sum;
            if (round < 0)
                continue;
            open.Add(opened);
            read.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
        }

        return (open, read, found);
    }

    private static (List<double> Open, List<double> Read, ulong Digest) Measure(
        StoreEngine engine, string path, long keys, int rounds)
    {
        List<double> open = [], read = [];
        var wanted = new Entries();
        wanted.Add(Key(keys / 2), []);
        ulong found = 0;
        for (int round = -2; round < rounds; round++)
        {
            long began = Stopwatch.GetTimestamp();
            using IKeyValueStore store = engine.Open(path, _settings);
            double opened = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
            using IKeyValueSession session = store.OpenSession();
            found = session.Read(wanted);
            if (round < 0)
                continue;
            open.Add(opened);
            read.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
        }

        return (open, read, found);
    }

    private static void Load(StoreEngine engine, string path, long keys)
    {
        using IKeyValueStore store = engine.Open(path, _settings);
        using IKeyValueSession session = store.OpenSession();
        var entries = new Entries();
        var value = new byte[ValueBytes];
        for (long at = 0; at < keys; at += KeysPerTransaction)
        {
            entries.Clear();
            for (long i = at; i < Math.Min(keys, at + KeysPerTransaction); i++)
            {
                BitConverter.TryWriteBytes(value, i);
                entries.Add(Key(i), value);
            }

            session.Write(entries);
        }
    }

    private static void Put(StorageEnvironment environment, long from, long count) => environment.Write(transaction =>
    {
        var tree = transaction.GetOrCreateTree(TreeName);
        var value = new byte[ValueBytes];
        for (long i = from; i < from + count; i++)
        {
            BitConverter.TryWriteBytes(value, i);
            tree.Put(Key(i), value);
        }

        return true;
    });

    private static byte[] Key(long number) =>
        [.. BitConverter.GetBytes((ulong)number * 0x9E3779B97F4A7C15), .. BitConverter.GetBytes(number)];
}
