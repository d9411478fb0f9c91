using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Stores;

namespace Treepie.Bench.Suites.Fdb;

/// <summary>Gathers the figures of all rounds and makes the rows of them, with the goals they have to reach.</summary>
internal sealed class FdbTable(IReadOnlyList<string> absent)
{
    /// <summary>Ours with clients that await.</summary>
    public const string Async = "Treepie, async";

    /// <summary>LMDB behind an application that merges transactions.</summary>
    public const string Merged = "LMDB + merger";

    private const double MostJournalPerPayload = 4;

    private static readonly string _ours = StoreEngines.Ours.Name;
    private readonly Dictionary<(string Work, string Engine), List<FdbFigures>> _figures = [];
    private readonly Dictionary<string, FdbLoad> _loads = [];
    private readonly List<string> _engines = [];
    private readonly List<double[]> _direct = [], _synced = [];
    private readonly List<double> _dependent = [], _sequential = [];

    /// <summary>Notes how an engine loaded the rows.</summary>
    public void Add(string engine, FdbLoad load)
    {
        _engines.Add(engine);
        _loads.Add(engine, load);
    }

    /// <summary>Notes a round of an engine.</summary>
    public void Add(FdbWork work, string engine, FdbFigures figures)
    {
        if (!_figures.TryGetValue((work.Name, engine), out List<FdbFigures>? list))
            _figures.Add((work.Name, engine), list = []);
        list.Add(figures);
    }

    /// <summary>Notes a round of what the machine itself can do.</summary>
    public void AddLimits(double[] directWrites, double[] syncedWrites, double dependentReads, double sequentialReads)
    {
        _direct.Add(directWrites);
        _synced.Add(syncedWrites);
        _dependent.Add(dependentReads);
        _sequential.Add(sequentialReads);
    }

    /// <summary>All rows.</summary>
    public IEnumerable<BenchRow> Rows() =>
    [
        .. absent.Select(
            name => new BenchRow(name, "absent", true, 0) { Note = "its library was not found on this machine: not measured" }),
        .. WriteRows(),
        .. ReadRows(),
        .. LoadRows(),
    ];

    private IEnumerable<BenchRow> WriteRows()
    {
        double? limitRate = Limit(_direct, times => 1e6 / times.Average());
        string? buffered = _synced.TrueForAll(times => times.Length > 0)
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"a buffered 4 KB write and fdatasync: {Limit(_synced, times => Statistics.Percentile(times, 0.5)):0} µs")
            : null;
        yield return Row(FdbWork.OneWrite, "", "tx/s", true, figures => figures.PerSecond) with
        {
            Limit = limitRate,
            Goals = [new Goal(1.2)],
            Reason = "a transaction is one synced write for everyone: what its limit leaves is the room there is",
        };
        yield return Row(FdbWork.OneWrite, ", p50", "µs", false, figures => figures.P50) with
        {
            Limit = Limit(_direct, times => Statistics.Percentile(times, 0.5)),
            Goals = [Goal.AtMost(1.5)],
            Reason =
                "beside the write itself: a copy of each page from root to leaf, the frame and its hash, and the catalogue's "
                    + "page",
            Note = buffered,
        };
        yield return Row(FdbWork.OneWrite, ", p99", "µs", false, figures => figures.P99) with
        {
            Limit = Limit(_direct, times => Statistics.Percentile(times, 0.99))
        };
        foreach (BenchRow row in Costs(FdbWork.OneWrite))
            yield return row;

        yield return Row(FdbWork.TenWrites, "", "tx/s", true, figures => figures.PerSecond) with
        {
            Limit = limitRate,
            Goals = [new Goal(2.5)],
            Reason =
                "a transaction is one synced write for everyone: where the best peer does more than 0.4 of the limit's writes, "
                    + "nobody can do 2.5 times as many",
        };
        foreach (BenchRow row in Costs(FdbWork.TenWrites))
            yield return row;

        yield return Row(FdbWork.ManyWrites, "", "tx/s", true, figures => figures.PerSecond) with
        {
            Goals = [new Goal(3.5, "RocksDB"), new Goal(10, "LMDB"), new Goal(10, "SQLite")],
            Reason =
                "one thread at a time changes pages: some 1.5 µs a key, most of it waiting for lines of memory that are in no "
                    + "near cache; clients, frames, syncs and checkpoints take the other processor",
        };
        yield return Row(FdbWork.ManyWrites, ", async", "tx/s", true, figures => figures.PerSecond, Async);
        yield return Row(
            FdbWork.ManyWrites, ", journal per byte of payload", "×", false, figures => figures.JournalPerPayload) with
        {
            Peers = new Dictionary<string, double>(),
            Limit = MostJournalPerPayload,
            Goals = [Goal.AtMost(1)],
        };
        yield return Row(FdbWork.ManyWrites, ", p50", "µs", false, figures => figures.P50);
        yield return Row(FdbWork.ManyWrites, ", p99", "µs", false, figures => figures.P99);
        foreach (BenchRow row in Costs(FdbWork.ManyWrites).Concat(MergedRow(FdbWork.ManyWrites)))
            yield return row;
    }

    private IEnumerable<BenchRow> ReadRows()
    {
        double? dependent = Limit(_dependent, lines => lines / FdbWork.ManyReads.Keys);
        yield return Row(FdbWork.ManyReads, "", "tx/s", true, figures => figures.PerSecond) with
        {
            Limit = dependent,
            Goals = [new Goal(1.1, "LMDB"), new Goal(4, "RocksDB"), new Goal(4, "SQLite")],
        };
        foreach (BenchRow row in Costs(FdbWork.ManyReads))
            yield return row;

        yield return Row(FdbWork.Mixed, "", "tx/s", true, figures => figures.PerSecond) with
        {
            Goals = [new Goal(3.3)],
            Reason =
                "ten of a transaction's keys cost 10 to 15 µs of processor time with all waking and sleeping of its client: two "
                    + "processors do no more",
        };
        yield return Row(FdbWork.Mixed, ", async", "tx/s", true, figures => figures.PerSecond, Async);
        foreach (BenchRow row in Costs(FdbWork.Mixed).Concat(MergedRow(FdbWork.Mixed)))
            yield return row;

        const double AverageRowBytes = FdbData.KeyBytes + ((FdbData.MinValueBytes + FdbData.MaxValueBytes) / 2.0);
        yield return Row(FdbWork.Ranges, "", "keys/s", true, figures => figures.PerSecond * FdbWork.Ranges.Keys) with
        {
            Limit = Limit(_sequential, bytes => bytes / AverageRowBytes),
            Goals = [new Goal(1, "LMDB"), new Goal(5, "SQLite")],
        };
        foreach (BenchRow row in Costs(FdbWork.Ranges))
            yield return row;
    }

    private IEnumerable<BenchRow> LoadRows()
    {
        yield return Load("load, 1,000 rows a transaction", "rows/s", true, load => load.RowsPerSecond);
        yield return Load("load, written to disk per byte of payload", "×", false, load => load.DiskPerPayload);
        yield return Load("files after the load", "MiB", false, load => load.DiskMiB);
        yield return Load(
            "greatest resident memory of the load, mapped files included", "MiB", false, load => load.PeakResidentMiB);
        yield return Load("memory without mapped files, end of the load", "MiB", false, load => load.PrivateMiB);
    }

    private IEnumerable<BenchRow> Costs(FdbWork work)
    {
        yield return Row(work, ", CPU per key", "µs", false, figures => figures.CpuPerKey);
        if (work.Writes > 0)
            yield return Row(work, ", written to disk per byte of payload", "×", false, figures => figures.DiskPerPayload);
        yield return Row(work, ", allocated", "bytes/tx", false, figures => figures.AllocatedPerTransaction) with
        {
            Peers = new Dictionary<string, double>(),
            Note = work.Writes > 0
                ? "nothing for a key or a page: a transaction has the handle of its tree, a commit the state that its readers "
                    + "share, a checkpoint its lists"
                : null,
        };
    }

    private IEnumerable<BenchRow> MergedRow(FdbWork work) =>
        _figures.TryGetValue((work.Name, Merged), out List<FdbFigures>? merged)
            ? [Row(work, ", LMDB behind an application that merges", "tx/s", true, figures => figures.PerSecond) with
            {
                Peers = new Dictionary<string, double>
                {
                    [_engines.First(engine => engine.StartsWith("LMDB", StringComparison.Ordinal))] = Statistics.Median(
                        merged.Select(figures => figures.PerSecond)),
                },
            }]
            : [];

    private BenchRow Row(
        FdbWork work, string suffix, string unit, bool higher, Func<FdbFigures, double> figure, string? ours = null) =>
        BenchRow.Of(work.Name + suffix, unit, higher, [.. _figures[(work.Name, ours ?? _ours)].Select(figure)]) with
        {
            Peers = _engines.Where(engine => engine != _ours).ToDictionary(
                engine => engine, engine => Statistics.Median(_figures[(work.Name, engine)].Select(figure))),
        };

    private BenchRow Load(string title, string unit, bool higher, Func<FdbLoad, double> figure) =>
        new(title, unit, higher, figure(_loads[_ours]))
        {
            Peers = _engines.Where(engine => engine != _ours).ToDictionary(engine => engine, engine => figure(_loads[engine]))
        };

    private static double? Limit<T>(List<T> rounds, Func<T, double> figure) =>
        rounds.Exists(round => round is double[] { Length: 0 }) ? null : Statistics.Median(rounds.Select(figure));
}
