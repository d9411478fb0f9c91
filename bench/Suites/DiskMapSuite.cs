using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Stores;
using Treepie.Bench.Suites.Words;

namespace Treepie.Bench.Suites;

/// <summary>Counting distinct words: putIfAbsent of strings by Zipf's law.</summary>
internal sealed class DiskMapSuite : ISuite
{
    private const int SmallPuts = 8_000_000, SmallWords = 1_800_000; // a fortieth of 320M puts, a twentieth of their words at most
    private const long WholePuts = 320_000_000, WholeWords = 36_000_000;
    private const long LimitBytes = 192L << 20;
    private const int Killed = 128 + 9; // the exit code of a process that the system ended
    private const double WholeSeconds = 300;

    public string Name => "diskmap";

    public string Question =>
        $"""
        How many `putIfAbsent` operations per second does a growing map do, with strings of ten bytes on average drawn by Zipf's
        law (0.99)? {SmallPuts / 1_000_000} million puts of up to {SmallWords / 100_000 / 10.0:0.0} million words, which fit in
        memory; then all {WholePuts / 1_000_000} million of up to {WholeWords / 1_000_000}, each engine in a process of its own
        with {LimitBytes >> 20} MiB of memory, including the system's cache of its files (a control group of Linux), for
        {WholeSeconds / 60:0} minutes at most. *Treepie*: `DiskMap`, relaxed durability, {WordRun.PutsPerTransaction:N0} puts per
        transaction, as for RocksDB, LMDB and SQLite, none of which syncs either. *In memory*: `MemoryMap`. The flat file is the
        obvious first design: open addressing in a mapped file, records in another, no transactions, rebuilt when full. All maps
        must find the same number of new words and read the same values.

        What helped: changes of a bucket are recorded by cache line, so the next transaction that changes it copies only those
        lines.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int puts = quick ? SmallPuts / 10 : SmallPuts, words = quick ? SmallWords / 10 : SmallWords;
        StoreEngine memory = new("Treepie in memory", IsPresent: true, (_, _) => new MemoryWords());
        var settings = new StoreSettings(IsDurable: false, MemoryBytes: 2L << 30);
        var runs = new Dictionary<string, List<WordRun>>();
        for (int round = 0; round < (quick ? 1 : 2); round++)
        {
            foreach (StoreEngine engine in OnDisk().Append(memory))
            {
                cancellationToken.ThrowIfCancellationRequested();
                await progress.WriteLineAsync($"diskmap, round {round + 1}: {engine.Name}");
                using var folder = new Scratch();
                WordRun run = WordRun.Run(engine, folder.Path, settings, words, puts, double.PositiveInfinity);
                Keep(runs, engine.Name, run);
                if (run.Distinct != runs.Values.First()[0].Distinct)
                    throw new InvalidOperationException(
                        $"{engine.Name} found {run.Distinct} words, the first {runs.Values.First()[0].Distinct}.");
            }
        }

        BenchRow[] small =
        [
            Row(
                $"putIfAbsent, {puts / 1e6:0.#}M puts, {runs["Treepie"][0].Distinct:N0} words", "Treepie", runs,
                "slots and records of the flat file (some 80 MB) lie in memory as a whole, most of what Zipf's law asks for even "
                    + "in the processor's caches, so a put costs it two accesses and no transaction"),
            Row(
                "the same, without durability", "Treepie in memory", runs,
                "as above; and a put of ours may be of any key and value that a serializer writes"),
            Sizes("bytes of files for each word", runs),
        ];
        return [.. small, .. await RunWholeAsync(quick, progress, cancellationToken)];
    }

    /// <summary>Runs one engine alone; the process of <see cref="WordRun.Verb"/>.</summary>
    public static void RunOne(string name, string folder, long words, long puts, double seconds)
    {
        StoreEngine engine = OnDisk().First(engine => engine.Name == name);
        // half of what there is: the rest is for the process and the system's cache
        var settings = new StoreSettings(IsDurable: false, MemoryBytes: LimitBytes / 2);
        Console.WriteLine(WordRun.Run(engine, folder, settings, words, puts, seconds).Line);
    }

    private static IEnumerable<StoreEngine> OnDisk() =>
        [DiskWords.Engine, FlatFileMap.Engine, .. StoreEngines.Peers.Where(engine => engine.IsPresent)];

    private static void Keep(Dictionary<string, List<WordRun>> runs, string name, WordRun run)
    {
        if (!runs.TryGetValue(name, out List<WordRun>? rounds))
            runs.Add(name, rounds = []);
        rounds.Add(run);
        if (run.Digest != runs.Values.First()[0].Digest)
            throw new InvalidOperationException($"{name} reads other values than the first did.");
    }

    /// <summary>The whole, beyond memory; nothing where memory cannot be limited.</summary>
    private static async Task<IReadOnlyList<BenchRow>> RunWholeAsync(
        bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        (long words, long puts, double seconds) = quick ? (100_000L, 200_000L, 2.0) : (WholeWords, WholePuts, WholeSeconds);
        var runs = new Dictionary<string, List<WordRun>>();
        foreach (StoreEngine engine in OnDisk())
        {
            cancellationToken.ThrowIfCancellationRequested();
            using MemoryLimit? limit = MemoryLimit.TryCreate(LimitBytes);
            if (limit is null)
            {
                await progress.WriteLineAsync("diskmap beyond memory is left out: no control group can be made here.");
                return [];
            }

            await progress.WriteLineAsync($"diskmap beyond memory: {engine.Name}");
            using var folder = new Scratch();
            CultureInfo culture = CultureInfo.InvariantCulture;
            ProcessStartInfo start = limit.Start(
                "dotnet",
                [
                    typeof(DiskMapSuite).Assembly.Location, WordRun.Verb, engine.Name, folder.Path, words.ToString(culture),
                    puts.ToString(culture), seconds.ToString(culture),
                ]);
            start.RedirectStandardOutput = true;
            using Process process = Process.Start(start)
                ?? throw new InvalidOperationException("Could not start a process.");
            string line = await process.StandardOutput.ReadToEndAsync(cancellationToken);
            await process.WaitForExitAsync(cancellationToken);
            if (process.ExitCode == Killed)
            {
                await progress.WriteLineAsync($"diskmap beyond memory: {engine.Name} ran out of memory and has no figures.");
                continue;
            }

            if (process.ExitCode != 0)
                throw new InvalidOperationException($"The process of {engine.Name} ended with code {process.ExitCode}.");

            Keep(runs, engine.Name, WordRun.Parse(line));
        }

        string of = $"{puts / 1e6:0.#}M puts of {words / 1e6:0.#}M words in {LimitBytes >> 20} MiB, {seconds / 60:0.#} minutes at most";
        return
        [
            Row($"putIfAbsent, {of}", "Treepie", runs, null),
            new BenchRow("puts made in that time", "M", HigherIsBetter: true, runs["Treepie"][0].Puts / 1e6)
            {
                Peers = Of(runs, static rounds => rounds[0].Puts / 1e6),
            },
            new BenchRow("words found", "M", HigherIsBetter: true, runs["Treepie"][0].Distinct / 1e6)
            {
                Peers = Of(runs, static rounds => rounds[0].Distinct / 1e6),
            },
            new BenchRow("files", "MiB", HigherIsBetter: false, runs["Treepie"][0].FileBytes / 1048576)
            {
                Peers = Of(runs, static rounds => rounds[0].FileBytes / 1048576),
                Note = "of as many words as each of them found",
            },
            Sizes("bytes of files for each of them", runs),
        ];
    }

    private static Dictionary<string, double> Of(
        Dictionary<string, List<WordRun>> runs, Func<List<WordRun>, double> figure) =>
        runs.Where(entry => !entry.Key.StartsWith("Treepie", StringComparison.Ordinal))
            .ToDictionary(entry => entry.Key, entry => figure(entry.Value));

    private static BenchRow Sizes(string name, Dictionary<string, List<WordRun>> runs) =>
        new(name, "bytes", HigherIsBetter: false, runs["Treepie"][^1].FileBytes / runs["Treepie"][^1].Distinct)
        {
            Peers = Of(runs, static rounds => rounds[^1].FileBytes / rounds[^1].Distinct),
        };

    private static BenchRow Row(string name, string ours, Dictionary<string, List<WordRun>> runs, string? reason) =>
        BenchRow.Of(name, "puts/s", higherIsBetter: true, [.. runs[ours].Select(run => run.PerSecond)]) with
        {
            Peers = Of(runs, static rounds => Statistics.Median([.. rounds.Select(run => run.PerSecond)])),
            Goals = [new Goal(4.7, "flat file"), new Goal(1, "LMDB"), new Goal(1, "RocksDB"), new Goal(1, "SQLite")],
            Reason = reason,
        };
}
