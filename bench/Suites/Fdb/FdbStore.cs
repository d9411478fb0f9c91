using System.Diagnostics;
using Treepie.Bench.Measuring;
using Treepie.Bench.Stores;

namespace Treepie.Bench.Suites.Fdb;

/// <summary>An engine with the loaded rows: runs clients against it and knows what it has to hold.</summary>
internal sealed class FdbStore(string name, IKeyValueStore store, FdbData data, uint[] versions) : IDisposable
{
    private const int MaxLatencies = 1 << 20;
    private const int CheckBatch = 1000;

    /// <summary>The engine's name.</summary>
    public string Name => name;

    /// <summary>The same store behind an application that merges what waits.</summary>
    public FdbStore Merged(string mergedName) => new(mergedName, new MergedStore(store), data, versions);

    private long JournalBytes => (store as TreepieStore)?.Statistics.JournalBytesWritten ?? 0;

    /// <summary>Runs the work on a thread for each client, for some time.</summary>
    public FdbFigures Run(FdbWork work, TimeSpan duration, uint version)
    {
        FdbClient[] clients = Clients(work, version);
        var latencies = new double[clients.Length][];
        var counts = new long[clients.Length];
        Exception? failure = null;
        using var ready = new Barrier(clients.Length + 1);
        long deadline = long.MaxValue;
        Thread[] threads = [.. clients.Select((client, index) => new Thread(() =>
        {
            double[] own = latencies[index] = new double[MaxLatencies / clients.Length];
            ready.SignalAndWait();
            ready.SignalAndWait();
            try
            {
                long before = Stopwatch.GetTimestamp();
                for (; before < Volatile.Read(ref deadline); counts[index]++)
                {
                    work.Run(client);
                    long after = Stopwatch.GetTimestamp();
                    own[counts[index] % own.Length] = Stopwatch.GetElapsedTime(before, after).TotalMicroseconds;
                    before = after;
                }
            }
            catch (Exception error)
            {
                failure = error;
            }
        }, maxStackSize: 1 << 20) { IsBackground = true })];
        foreach (Thread thread in threads)
            thread.Start();
        ready.SignalAndWait();
        ProcessCounters start = ProcessCounters.Now;
        long journal = JournalBytes;
        long began = Stopwatch.GetTimestamp();
        Volatile.Write(ref deadline, began + (long)(duration.TotalSeconds * Stopwatch.Frequency));
        ready.SignalAndWait();
        foreach (Thread thread in threads)
            thread.Join();
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        ProcessCounters used = ProcessCounters.Now.Since(start);
        if (failure is not null)
            throw new InvalidOperationException($"{name} failed in '{work.Name}': {failure.Message}", failure);

        return Figures(
            work, clients, counts.Sum(), seconds, used, JournalBytes - journal,
            [.. latencies.SelectMany((own, i) => own.Take((int)Math.Min(counts[i], own.Length)))]);
    }

    /// <summary>As <see cref="Run"/>, with clients that await instead of threads. Ours only.</summary>
    public async Task<FdbFigures> RunAsync(FdbWork work, TimeSpan duration, uint version)
    {
        FdbClient[] clients = Clients(work, version);
        var counts = new long[clients.Length];
        ProcessCounters start = ProcessCounters.Now;
        long journal = JournalBytes, began = Stopwatch.GetTimestamp();
        await Task.WhenAll(clients.Select((client, index) => Task.Run(async () =>
        {
            var session = (TreepieStore.Session)client.Session;
            for (; Stopwatch.GetElapsedTime(began) < duration; counts[index]++)
            {
                if (work.Reads > 0)
                    client.Read(work.Reads);
                await session.WriteAsync(client.Fill(work.Writes));
                client.Written(work.Writes);
            }
        })));
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        return Figures(work, clients, counts.Sum(), seconds, ProcessCounters.Now.Since(start), JournalBytes - journal, [0]);
    }

    /// <summary>Digest of some ranges: the same for every engine.</summary>
    public ulong RangesDigest(int ranges, int rows)
    {
        ulong random = 3, sum = 0;
        Span<byte> key = stackalloc byte[FdbData.KeyBytes];
        using IKeyValueSession session = store.OpenSession();
        for (int i = 0; i < ranges; i++)
        {
            data.Key((int)(FdbData.Next(ref random) % (uint)data.Rows), key);
            sum = (sum * 31) + session.ReadRange(key, rows);
        }

        return sum;
    }

    /// <summary>Reads every row and compares it with what was acknowledged last.</summary>
    public void Check()
    {
        var keys = new Entries();
        Span<byte> key = stackalloc byte[FdbData.KeyBytes];
        using IKeyValueSession session = store.OpenSession();
        for (int from = 0; from < data.Rows; from += CheckBatch)
        {
            var expected = default(Digest);
            keys.Clear();
            for (int row = from; row < Math.Min(from + CheckBatch, data.Rows); row++)
            {
                data.Key(row, key);
                keys.Add(key, default);
                expected.Add(key, data.Value(row, versions[row]));
            }

            if (session.Read(keys) != expected.Sum)
                throw new InvalidOperationException(
                    $"{name} does not hold what it acknowledged, in rows {from} to {from + CheckBatch}.");
        }
    }

    public void Dispose() => store.Dispose();

    private FdbClient[] Clients(FdbWork work, uint version) =>
        [.. Enumerable.Range(0, work.Clients)
            .Select(i => new FdbClient(data, versions, i, work.Clients, version, store.OpenSession()))];

    private static FdbFigures Figures(
        FdbWork work, FdbClient[] clients, long transactions, double seconds, ProcessCounters used, long journalBytes,
        double[] latencies)
    {
        double payload = clients.Sum(client => client.PayloadBytes);
        foreach (FdbClient client in clients)
            client.Dispose();
        Array.Sort(latencies);
        double At(double share) => latencies[Math.Min(latencies.Length - 1, (int)(share * latencies.Length))];
        return new FdbFigures(
            transactions / seconds, At(0.5), At(0.99), used.CpuSeconds * 1e6 / transactions / work.Keys,
            payload == 0 ? 0 : used.DiskBytes / payload, payload == 0 ? 0 : journalBytes / payload,
            used.AllocatedBytes / transactions);
    }
}
