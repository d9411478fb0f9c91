using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Stores;
using Treepie.Bench.Suites.Faster;

namespace Treepie.Bench.Suites.Words;

/// <summary>Counts words drawn by Zipf's law in one store: <c>putIfAbsent</c> of each.</summary>
/// <param name="Puts">Puts made.</param>
/// <param name="Seconds">Time they took, without drawing the words.</param>
/// <param name="Distinct">Words that were new.</param>
/// <param name="Digest">Of the values of the first words.</param>
/// <param name="FileBytes">Bytes that the files really take: the flat file is sparse.</param>
internal sealed record WordRun(long Puts, double Seconds, long Distinct, ulong Digest, double FileBytes)
{
    /// <summary>First argument of the process that runs one engine alone.</summary>
    public const string Verb = "diskmap-run";

    /// <summary>Puts of one transaction.</summary>
    public const int PutsPerTransaction = 10_000;

    /// <summary>Puts per second.</summary>
    public double PerSecond => Puts / Seconds;

    /// <summary>Runs one store until all puts are made or the time is over.</summary>
    public static WordRun Run(
        StoreEngine engine, string folder, StoreSettings settings, long words, long puts, double mostSeconds)
    {
        var law = new ZipfLaw(1, words);
        var entries = new Entries();
        var text = new byte[32];
        long[] drawn = new long[PutsPerTransaction], first = [];
        double seconds = 0;
        long done = 0, distinct = 0;
        ulong digest;
        using (IKeyValueStore store = engine.Open(Path.Combine(folder, "words"), settings))
        {
            using IKeyValueSession session = store.OpenSession();
            while (done < puts && seconds < mostSeconds)
            {
                int count = (int)Math.Min(drawn.Length, puts - done);
                for (int i = 0; i < count; i++)
                    drawn[i] = law.Next();
                if (done == 0)
                    first = drawn[..count];
                Fill(entries, text, drawn.AsSpan(0, count));
                long began = Stopwatch.GetTimestamp();
                distinct += session.PutIfAbsent(entries);
                seconds += Stopwatch.GetElapsedTime(began).TotalSeconds;
                done += count;
            }

            Fill(entries, text, first);
            digest = session.Read(entries);
        }

        return new WordRun(done, seconds, distinct, digest, Directory.Exists(folder) ? Blocks(folder) : 0);
    }

    /// <summary>As one line, for <see cref="Parse"/>.</summary>
    public string Line => string.Create(CultureInfo.InvariantCulture, $"{Puts} {Seconds} {Distinct} {Digest} {FileBytes}");

    /// <summary>What <see cref="Line"/> says.</summary>
    public static WordRun Parse(string line)
    {
        string[] parts = line.Trim().Split(' ');
        CultureInfo culture = CultureInfo.InvariantCulture;
        return new WordRun(
            long.Parse(parts[0], culture), double.Parse(parts[1], culture), long.Parse(parts[2], culture),
            ulong.Parse(parts[3], culture), double.Parse(parts[4], culture));
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
