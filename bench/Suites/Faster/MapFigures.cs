using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Faster;

/// <summary>Figures of all rounds, and the rows they make.</summary>
internal sealed class MapFigures
{
    /// <summary>Ours through its calls for many keys.</summary>
    public const string Batched = "Treepie batched";

    private const string Ours = "Treepie", Faster = "FASTER", Dictionary = "ConcurrentDictionary";

    private readonly Dictionary<(int Skew, MapWork Work, int Threads, bool IsDurable), Dictionary<string, List<(
        double PerSecond, double AllocatedBytes)>>> _figures = [];
    private readonly Dictionary<string, double> _memory = [];

    public void Add(
        int skew, MapWork work, int threads, bool isDurable, string map, (double PerSecond, double AllocatedBytes) figure)
    {
        if (!_figures.TryGetValue(
            (skew, work, threads, isDurable), out Dictionary<string, List<(double PerSecond, double AllocatedBytes)>>? row))
            _figures.Add((skew, work, threads, isDurable), row = []);
        if (!row.TryGetValue(map, out List<(double PerSecond, double AllocatedBytes)>? rounds))
            row.Add(map, rounds = []);
        rounds.Add(figure);
    }

    /// <summary>Bytes for each key.</summary>
    public void AddMemory(string map, double bytesPerKey) => _memory[map] = bytesPerKey;

    public IReadOnlyList<BenchRow> Rows()
    {
        var rows = new List<BenchRow>();
        foreach ((
            (int skew, MapWork work, int threads, bool isDurable),
            Dictionary<string, List<(double PerSecond, double AllocatedBytes)>> maps) in _figures
            .OrderBy(entry => entry.Key.IsDurable)
                .ThenBy(entry => entry.Key.Skew)
                .ThenBy(entry => entry.Key.Work)
                .ThenBy(entry => entry.Key.Threads))
        {
            string name =
                $"{(isDurable ? "durable" : "in memory")}, {(skew == 0 ? "uniform" : "Zipf")}, {Name(work)}, {threads} "
                    + $"thread{(threads > 1 ? "s" : "")}";
            rows.Add(Row(name, maps, Ours, isDurable, work));
            if (maps.ContainsKey(Batched))
                rows.Add(Row(name + ", batched", maps, Batched, isDurable, work));
        }

        rows.Add(new BenchRow("memory for each key, in memory", "bytes", HigherIsBetter: false, _memory[Ours])
        {
            Peers = _memory.Where(entry => entry.Key != Ours).ToDictionary(),
            Goals = [new Goal(2, Dictionary)],
            Note = "between 19 and 38 by how far the last doubling of buckets lies back",
        });
        rows.Add(Allocated("managed bytes for each read, in memory", MapWork.Read, isDurable: false));
        rows.Add(Allocated("managed bytes for each upsert, in memory", MapWork.Upsert, isDurable: false));
        rows.Add(Allocated("managed bytes for each upsert, durable, in transactions of 1,000", MapWork.Upsert, isDurable: true));
        return rows;
    }

    private static string Name(MapWork work) => work switch
    {
        MapWork.Read => "100/0",
        MapWork.Mix => "50/50",
        _ => "0/100",
    };

    private static BenchRow Row(
        string name, Dictionary<string, List<(double PerSecond, double AllocatedBytes)>> maps, string ours, bool isDurable,
        MapWork work)
    {
        Goal[] goals = isDurable ? [new Goal(1)]
            : work == MapWork.Read ? [new Goal(1.2, Dictionary), new Goal(2, Faster)]
            : work == MapWork.Upsert && ours == Batched ? [new Goal(1, Dictionary), new Goal(1, Faster)]
            : [];
        return BenchRow.Of(name, "ops/s", higherIsBetter: true, [.. maps[ours].Select(figure => figure.PerSecond)]) with
        {
            Peers = maps.Where(entry => !entry.Key.StartsWith(Ours, StringComparison.Ordinal))
                .ToDictionary(entry => entry.Key, entry => Statistics.Median(entry.Value.Select(figure => figure.PerSecond))),
            Goals = goals,
            Reason = isDurable
                ? "FASTER appends the thousand records to its log, 24 KB in one piece, and keeps no page in order; here a "
                    + "thousand random keys are in nearly as many buckets of 8 KiB, each copied for its snapshot and told in the "
                    + "journal"
                : "the reads of one key at a time are bound by how many accesses to memory the processor has in flight; many "
                    + "keys in one call (batched) are not",
        };
    }

    private BenchRow Allocated(string name, MapWork work, bool isDurable)
    {
        Dictionary<string, List<(double PerSecond, double AllocatedBytes)>> maps = _figures[(0, work, 1, isDurable)];
        return new BenchRow(name, "bytes", HigherIsBetter: false, Median(Ours))
        {
            Peers = maps.Keys.Where(map => !map.StartsWith(Ours, StringComparison.Ordinal)).ToDictionary(map => map, Median),
        };

        double Median(string map) => Math.Round(Statistics.Median(maps[map].Select(figure => figure.AllocatedBytes)), 2);
    }
}
