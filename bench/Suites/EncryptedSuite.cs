using System.Diagnostics;
using Treepie.Bench.Measuring;
using Treepie.Bench.Stores;
using Treepie.Bench.Suites.Fdb;
using Treepie.Storage;
using Scratch = Treepie.Bench.Measuring.Scratch;

namespace Treepie.Bench.Suites;

/// <summary>What encryption costs the storage engine: the same work, encrypted and plain, by turns.</summary>
internal sealed class EncryptedSuite : ISuite
{
    private const string Plain = "plain";
    private const long AmpleBytes = 512L << 20;

    private static readonly (FdbWork Work, string Name, double Goal)[] _works =
    [
        (new FdbWork("1 client × 1 read", 1, 1, 0, 0), "hot point reads, 1 client × 1 read", 0.9),
        (FdbWork.ManyReads, "hot point reads, 100 clients × 10 reads", 0.9),
        (FdbWork.Ranges, "hot scans, 100 clients × 1,000-key ranges", 0.9),
        (FdbWork.OneWrite, "durable, 1 client × 1 write", 0.9),
        (FdbWork.ManyWrites, "durable, 100 clients × 10 writes", 0.9),
    ];

    public string Name => "encrypted";

    public string Question =>
        """
        What does encryption cost the storage engine? The rows of `fdb` (16-byte random keys, values of 8 to 100 bytes), the same
        work on an encrypted and a plain environment, in turns in every round, in one process, files in the page cache. Memory:
        512 MiB per environment, which holds the million rows and changed pages; then the default of 64 MiB. *Hot*: what is read
        was read before. *Bulk load*: a thousand rows per durable transaction into a new environment, including closing. *Open*:
        opening and the first value. Afterwards every row of both is compared with what was acknowledged.
        """;

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken) =>
    [
        .. await RunAsync(AmpleBytes, "", quick, progress, cancellationToken),
        .. await RunAsync(StorageOptions.DefaultMemoryBudgetBytes, ", in 64 MiB", quick, progress, cancellationToken),
    ];

    private static async Task<IReadOnlyList<BenchRow>> RunAsync(
        long memoryBytes, string suffix, bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int rows = quick ? 20_000 : 1_000_000, rounds = quick ? 1 : 5;
        var data = new FdbData(rows);
        using EncryptionKey key = EncryptionKey.Generate();
        using Scratch hidden = new(), plain = new();
        Pair load = new(), open = new();
        var works = _works.ToDictionary(entry => entry.Work, _ => new Pair());
        await progress.WriteLineAsync($"encrypted{suffix}: load");
        for (int round = 0; round < Math.Min(3, rounds); round++)
            load.Measure(
                round,
                isHidden => Load(
                    data, isHidden ? hidden : plain, isHidden ? key : null, memoryBytes,
                    isKept: round == Math.Min(3, rounds) - 1));

        FdbStore[] stores = [.. new[] { (hidden, (EncryptionKey?)key), (plain, null) }.Select(entry =>
            new FdbStore(
                entry.Item2 is null ? Plain : "encrypted",
                new TreepieStore(PathOf(entry.Item1), FdbLoad.Settings, entry.Item2, memoryBytes), data, new uint[rows]))];
        try
        {
            for (int round = 0; round < rounds; round++)
            {
                await progress.WriteLineAsync($"encrypted{suffix}, round {round + 1} of {rounds}");
                for (int work = 0; work < _works.Length; work++)
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    FdbWork what = _works[work].Work;
                    var time = TimeSpan.FromSeconds(quick ? 0.15 : what.Writes > 0 ? 1.5 : 1);
                    uint version = ((uint)(round + 1) << 24) + ((uint)(work + 1) << 20);
                    works[what].Measure(round, isHidden => stores[isHidden ? 0 : 1].Run(what, time, version).PerSecond);
                }
            }

            foreach (FdbStore store in stores)
                store.Check();
        }
        finally
        {
            foreach (FdbStore store in stores)
                store.Dispose();
        }

        for (int round = 0; round < (quick ? 3 : 31); round++)
            open.Measure(round, isHidden => OpenMicroseconds(data, isHidden ? hidden : plain, isHidden ? key : null));
        return
        [
            .. _works.Select(entry => works[entry.Work].Row(entry.Name + suffix, "transactions/s", true, new Goal(entry.Goal, Plain))),
            load.Row("bulk load" + suffix, "rows/s", true, new Goal(0.6, Plain)),
            open.Row("open, and the first value" + suffix, "µs", false, null),
        ];
    }

    private static string PathOf(Scratch folder) => Path.Combine(folder.Path, "store");

    private static double Load(FdbData data, Scratch folder, EncryptionKey? key, long memoryBytes, bool isKept)
    {
        string path = PathOf(folder);
        long began = Stopwatch.GetTimestamp();
        using (var store = new TreepieStore(path, FdbLoad.Settings, key, memoryBytes))
        using (IKeyValueSession session = store.OpenSession())
            FdbLoad.Write(data, session, 0);
        double rate = data.Rows / Stopwatch.GetElapsedTime(began).TotalSeconds;
        if (!isKept)
            Directory.Delete(path, recursive: true);
        return rate;
    }

    private static double OpenMicroseconds(FdbData data, Scratch folder, EncryptionKey? key)
    {
        var entries = new Entries();
        Span<byte> row = stackalloc byte[FdbData.KeyBytes];
        data.Key(1, row);
        entries.Add(row, default);
        long began = Stopwatch.GetTimestamp();
        using var store = new TreepieStore(PathOf(folder), FdbLoad.Settings, key);
        using IKeyValueSession session = store.OpenSession();
        if (session.Read(entries) == 0)
            throw new InvalidOperationException("The first value is not there.");
        return Stopwatch.GetElapsedTime(began).TotalMicroseconds;
    }

    /// <summary>Rounds of the encrypted environment and of the plain one.</summary>
    private sealed class Pair
    {
        private readonly List<double> _hidden = [], _plain = [];

        /// <summary>Both, in an order that changes from round to round.</summary>
        public void Measure(int round, Func<bool, double> measure)
        {
            for (int turn = 0; turn < 2; turn++)
            {
                bool isHidden = (round + turn) % 2 == 0;
                (isHidden ? _hidden : _plain).Add(measure(isHidden));
            }
        }

        public BenchRow Row(string row, string unit, bool higherIsBetter, Goal? goal) =>
            BenchRow.Of(row, unit, higherIsBetter, _hidden) with
            {
                Peers = new Dictionary<string, double> { [Plain] = Statistics.Median(_plain) },
                Goals = goal is null ? [] : [goal],
                Reason =
                    "the rows take some 110 MiB: what is changed and what is decrypted share the memory, so that in less of it "
                        + "checkpoints begin earlier and pages are decrypted again; a plain environment reads its pages in the "
                        + "system's cache, which is not counted",
            };
    }
}
