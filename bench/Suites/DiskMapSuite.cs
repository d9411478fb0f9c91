using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Stores;
using Treepie.Bench.Suites.Faster;
using Treepie.Bench.Suites.Words;

namespace Treepie.Bench.Suites;

/// <summary>Counting distinct words: putIfAbsent of strings by Zipf's law.</summary>
internal sealed class DiskMapSuite : ISuite
{
    private const int FullPuts = 8_000_000, FullWords = 1_800_000; // a fortieth of 320M puts, a twentieth of their words at most
    private const int WordsPerTransaction = 10_000;

    public string Name => "diskmap";

    public string Question =>
        $"""
        How many `putIfAbsent` a second, of strings of ten bytes on average drawn by Zipf's law (0.99), while the map grows? {FullPuts / 1_000_000} million puts of up to {FullWords / 100_000 / 10.0:0.0} million
        words, a fortieth of the original 320 million of 36. *Treepie*: `DiskMap`, durability relaxed, {WordsPerTransaction:N0} puts for each transaction, as for RocksDB, LMDB and SQLite, none of which syncs either. *In
        memory*: `MemoryMap`. The flat file (open addressing in a mapped file, records in another, no transactions, rebuilt when full) is what one builds first. Every map must find
        as many new words as the others, and read the same values.

        What helped: changes of a bucket are noted line by line, so the next transaction that changes it copies those lines alone.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int puts = quick ? FullPuts / 10 : FullPuts, words = quick ? FullWords / 10 : FullWords;
        long[] drawn = MapKeys.ZipfNumbers(1, words, puts);
        StoreEngine memory = new("Treepie in memory", IsPresent: true, (_, _) => new MemoryWords());
        StoreEngine[] engines =
            [DiskWords.Engine, memory, FlatFileMap.Engine, .. StoreEngines.Peers.Where(engine => engine.IsPresent)];
        var perSecond = new Dictionary<string, List<double>>();
        var sizes = new Dictionary<string, double>();
        int? expected = null;
        ulong? digest = null;
        for (int round = 0; round < (quick ? 1 : 2); round++)
        {
            foreach (StoreEngine engine in engines)
            {
                cancellationToken.ThrowIfCancellationRequested();
                await progress.WriteLineAsync($"diskmap, round {round + 1}: {engine.Name}");
                using var folder = new Scratch();
                (double seconds, int distinct, ulong read, double bytes) = Run(engine, folder, drawn);
                if ((expected ??= distinct) != distinct || (digest ??= read) != read)
                    throw new InvalidOperationException(
                        $"{engine.Name} found {distinct} words, the first {expected}; or reads other values.");
                if (!perSecond.TryGetValue(engine.Name, out List<double>? rounds))
                    perSecond.Add(engine.Name, rounds = []);
                rounds.Add(puts / seconds);
                sizes[engine.Name] = bytes / distinct;
            }
        }

        return
        [
            Row($"putIfAbsent, {puts / 1e6:0.#}M puts, {expected:N0} words", "Treepie", perSecond),
            Row("the same, without durability", "Treepie in memory", perSecond),
            new BenchRow("bytes of files for each word", "bytes", HigherIsBetter: false, sizes["Treepie"])
            {
                Peers = sizes.Where(entry => !entry.Key.StartsWith("Treepie", StringComparison.Ordinal)).ToDictionary(),
            },
        ];
    }

    private static BenchRow Row(string name, string ours, Dictionary<string, List<double>> perSecond) =>
        BenchRow.Of(name, "puts/s", higherIsBetter: true, perSecond[ours]) with
        {
            Peers = perSecond.Where(entry => !entry.Key.StartsWith("Treepie", StringComparison.Ordinal))
                .ToDictionary(entry => entry.Key, entry => Statistics.Median(entry.Value)),
            Goals = [new Goal(4.7, "flat file"), new Goal(1, "LMDB"), new Goal(1, "RocksDB"), new Goal(1, "SQLite")],
            Reason =
                "slots and records of the flat file (some 80 MB) lie in memory as a whole, most of what Zipf's law asks for even "
                    + "in the processor's caches, so a put costs it two accesses and no transaction; the original's ratio is of "
                    + "a run forty times as long, which this is not",
        };

    private static (double Seconds, int Distinct, ulong Digest, double FileBytes) Run(
        StoreEngine engine, Scratch folder, long[] drawn)
    {
        var entries = new Entries();
        var text = new byte[32];
        double seconds = 0;
        int distinct = 0;
        ulong digest;
        using (IKeyValueStore store = engine.Open(
            Path.Combine(folder.Path, "words"), new StoreSettings(IsDurable: false, MemoryBytes: 2L << 30)))
        {
            using IKeyValueSession session = store.OpenSession();
            for (int at = 0; at < drawn.Length; at += WordsPerTransaction)
            {
                Fill(entries, text, drawn.AsSpan(at, Math.Min(WordsPerTransaction, drawn.Length - at)));
                long began = Stopwatch.GetTimestamp();
                distinct += session.PutIfAbsent(entries);
                seconds += Stopwatch.GetElapsedTime(began).TotalSeconds;
            }

            Fill(entries, text, drawn.AsSpan(0, WordsPerTransaction));
            digest = session.Read(entries);
        }

        return (seconds, distinct, digest, Directory.Exists(folder.Path) ? Blocks(folder.Path) : 0);
    }

    private static void Fill(Entries entries, byte[] text, ReadOnlySpan<long> numbers)
    {
        entries.Clear();
        foreach (long number in numbers)
            entries.Add(Word(number, text), BitConverter.GetBytes(number));
    }

    /// <summary>
    /// A word for each number: a hash of it in letters, with 4 to 16 bytes, ten on average; the number itself makes it unique.
    /// </summary>
    private static ReadOnlySpan<byte> Word(long number, byte[] text)
    {
        number.TryFormat(text, out int length, "X", CultureInfo.InvariantCulture);
        ulong hash = (ulong)MapKeys.Key(number);
        int wanted = Math.Max(length, 4 + (int)(hash % 13));
        for (; length < wanted; hash >>= 4)
            text[length++] = (byte)('g' + (int)(hash & 15));
        return text.AsSpan(0, length);
    }

    /// <summary>Bytes that the files really take: the flat file is sparse.</summary>
    private static double Blocks(string directory)
    {
        using Process process = Process.Start(
            new ProcessStartInfo("du", ["-s", "-B1", directory]) { RedirectStandardOutput = true })
            ?? throw new InvalidOperationException("du could not be started.");
        string text = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return double.Parse(text.Split('\t')[0], CultureInfo.InvariantCulture);
    }
}
