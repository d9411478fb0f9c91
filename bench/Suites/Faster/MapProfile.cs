using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;

namespace Treepie.Bench.Suites.Faster;

/// <summary>
/// One kind of work on maps in memory, in turn, for some rounds: what to put under a profiler, and to compare two builds by.
/// </summary>
internal static class MapProfile
{
    /// <summary>
    /// First argument: <c>map-profile &lt;maps, with commas: treepie, batched, dictionary, faster&gt; &lt;read|mix|upsert&gt;
    /// &lt;uniform|zipf&gt; &lt;threads&gt; &lt;seconds&gt; &lt;keys&gt;</c>.
    /// </summary>
    public const string Verb = "map-profile";

    private const int Rounds = 40;

    public static void Run(string names, string workName, string skew, int threads, double seconds, long keys)
    {
        MapWork work = Enum.Parse<MapWork>(workName, ignoreCase: true);
        long[][] drawn = [
            .. Enumerable.Range(0, threads)
                .Select(
                    thread => skew == "zipf"
                        ? MapKeys.Zipf(thread + 2, keys, 4_000_000)
                        : MapKeys.Uniform(thread, keys, 4_000_000))];
        var ours = new MemoryMapUnderTest();
        var loaded = new List<IMapUnderTest>();
        var maps = new List<(string Name, Func<IMapClient> Open)>();
        foreach (string name in names.Split(','))
        {
            IMapUnderTest map = name switch
            {
                "faster" => new FasterMap(keys, directory: null),
                "dictionary" => new DictionaryUnderTest((int)keys),
                _ => ours,
            };
            if (!loaded.Contains(map))
                MapRun.Load(map.Open, keys);
            loaded.Add(map);
            maps.Add((name, name == "batched" ? ours.OpenBatched : map.Open));
        }

        // By processor time, so that others on the machine matter less; in short turns, so that they meet all alike.
        var figures = maps.ConvertAll(_ => new List<double>());
        for (int round = -2; round < Rounds; round++)
        {
            for (int i = 0; i < maps.Count; i++)
            {
                ProcessCounters start = ProcessCounters.Now;
                TimeSpan duration = TimeSpan.FromSeconds(seconds / Rounds);
                double operations = MapRun.Run(maps[i].Open, work, drawn, threads, duration, (round + 2) * 0.618 % 1).PerSecond
                    * duration.TotalSeconds;
                if (round >= 0)
                    figures[i].Add(operations / ProcessCounters.Now.Since(start).CpuSeconds);
            }
        }

        for (int i = 0; i < maps.Count; i++)
            Console.WriteLine(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{maps[i].Name}, {work}, {skew}, {threads} threads: {Statistics.Median(figures[i]) / 1e6:0.00} M per second "
                        + $"of processor time, ± {Statistics.Spread(figures[i]):P0}, "
                        + $"{Statistics.Median(figures[i].Zip(figures[^1], (own, last) => own / last)):0.00}× the last"));
        if (loaded.Contains(ours))
            Console.WriteLine(
                string.Create(CultureInfo.InvariantCulture, $"bytes for each key: {(double)ours.MemoryBytes / keys:0.0}"));
        foreach (IMapUnderTest map in loaded.Distinct())
            map.Dispose();
    }
}
