using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Stores;

namespace Treepie.Bench.Suites.Fdb;

/// <summary>Loads the rows into one engine in a process of its own, so that its memory can be told from the others'.</summary>
/// <param name="RowsPerSecond">Rows loaded per second, a thousand in each durable transaction, keys in no order.</param>
/// <param name="PeakResidentMiB">Greatest resident memory, mapped files included.</param>
/// <param name="PrivateMiB">Memory that no file stands behind, at the end.</param>
/// <param name="DiskMiB">Size of all files after closing.</param>
/// <param name="DiskPerPayload">Bytes written for each byte of key and value.</param>
internal sealed record FdbLoad(
    double RowsPerSecond, double PeakResidentMiB, double PrivateMiB, double DiskMiB, double DiskPerPayload)
{
    /// <summary>First argument of the process that loads.</summary>
    public const string Verb = "fdb-load";

    private const int RowsPerTransaction = 1_000;

    /// <summary>How stores of this suite are opened.</summary>
    public static StoreSettings Settings { get; } = new(IsDurable: true, MemoryBytes: 2L << 30);

    /// <summary>Starts the process and reads its figures.</summary>
    public static async Task<FdbLoad> RunAsync(StoreEngine engine, string path, int rows, CancellationToken cancellationToken)
    {
        string[] arguments =
            [typeof(FdbLoad).Assembly.Location, Verb, engine.Name, path, rows.ToString(CultureInfo.InvariantCulture)];
        using Process process = Process.Start(new ProcessStartInfo("dotnet", arguments) { RedirectStandardOutput = true })
            ?? throw new InvalidOperationException("Could not start a process.");
        string line = await process.StandardOutput.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        if (process.ExitCode != 0)
            throw new InvalidOperationException($"The process that loads {engine.Name} ended with code {process.ExitCode}.");

        double[] parts = [.. line.Split(' ').Select(part => double.Parse(part, CultureInfo.InvariantCulture))];
        return new FdbLoad(parts[0], parts[1], parts[2], parts[3], parts[4]);
    }

    /// <summary>What the process of <see cref="Verb"/> does.</summary>
    public static void Run(string name, string path, int rows)
    {
        StoreEngine engine = StoreEngines.Peers.Append(StoreEngines.Ours).First(engine => engine.Name == name);
        var data = new FdbData(rows);
        long payload = 0;
        ProcessCounters start = ProcessCounters.Now;
        double seconds, memory;
        using (IKeyValueStore store = engine.Open(path, Settings))
        {
            long began = Stopwatch.GetTimestamp();
            using IKeyValueSession session = store.OpenSession();
            payload = Write(data, session, 0);
            seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
            memory = ProcessCounters.PrivateMiB;
        }

        double disk = Scratch.SizeOf(path) / 1048576.0;
        double written = ProcessCounters.Now.Since(start).DiskBytes / payload;
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"{rows / seconds} {ProcessCounters.PeakResidentMiB} {memory} {disk} {written}"));
    }

    /// <summary>Writes all rows in a version; returns the bytes of keys and values.</summary>
    public static long Write(FdbData data, IKeyValueSession session, uint version)
    {
        long payload = 0;
        var entries = new Entries();
        Span<byte> key = stackalloc byte[FdbData.KeyBytes];
        for (int row = 0; row < data.Rows;)
        {
            entries.Clear();
            for (int end = Math.Min(row + RowsPerTransaction, data.Rows); row < end; row++)
            {
                data.Key(row, key);
                entries.Add(key, data.Value(row, version));
            }

            session.Write(entries);
            payload += entries.PayloadBytes;
        }

        return payload;
    }
}
