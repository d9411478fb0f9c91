using System.Diagnostics;

namespace Treepie.Bench.Suites.Faster;

/// <summary>One measurement: so many threads, one kind of work, some time.</summary>
internal static class MapRun
{
    /// <summary>Operations of one call: a transaction, where there are any.</summary>
    public const int BatchOperations = 1000;

    /// <summary>
    /// Operations per second, and managed bytes allocated by each. Every run goes on in the list of keys where
    /// <paramref name="from"/>, from 0 to 1, says, so that short runs do not work on the same few keys again.
    /// </summary>
    public static (double PerSecond, double AllocatedBytes) Run(
        Func<IMapClient> open, MapWork work, IReadOnlyList<long[]> keys, int threads, TimeSpan duration, double from = 0)
    {
        long operations = 0, allocated = 0;
        Exception? failure = null;
        using var start = new Barrier(threads);
        Thread[] all = [.. Enumerable.Range(0, threads).Select(thread => new Thread(() =>
        {
            try
            {
                using IMapClient client = open();
                long[] own = keys[thread];
                Do(client, work, own.AsSpan(0, BatchOperations));
                start.SignalAndWait();
                long before = GC.GetAllocatedBytesForCurrentThread(), began = Stopwatch.GetTimestamp(), done = 0;
                for (int at = (int)(from * (own.Length / BatchOperations - 1)) * BatchOperations;
                     Stopwatch.GetElapsedTime(began) < duration;
                     at = (at + BatchOperations) % (own.Length - BatchOperations))
                {
                    Do(client, work, own.AsSpan(at, BatchOperations));
                    done += BatchOperations;
                }

                Interlocked.Add(ref allocated, GC.GetAllocatedBytesForCurrentThread() - before);
                Interlocked.Add(ref operations, done);
            }
            catch (Exception error)
            {
                failure = error;
            }
        }))];
        long began = Stopwatch.GetTimestamp();
        foreach (Thread thread in all)
            thread.Start();
        foreach (Thread thread in all)
            thread.Join();
        if (failure is not null)
            throw new InvalidOperationException($"A client failed: {failure.Message}", failure);
        return (operations / Math.Max(duration.TotalSeconds, 0.001), (double)allocated / Math.Max(operations, 1));
    }

    /// <summary>Sets all keys.</summary>
    public static void Load(Func<IMapClient> open, long keys)
    {
        using IMapClient client = open();
        long[] batch = new long[BatchOperations];
        for (long from = 0; from < keys; from += BatchOperations)
        {
            for (int i = 0; i < BatchOperations; i++)
                batch[i] = MapKeys.Key(Math.Min(from + i, keys - 1));
            client.Upsert(batch);
        }
    }

    private static void Do(IMapClient client, MapWork work, ReadOnlySpan<long> keys)
    {
        switch (work)
        {
            case MapWork.Read:
                client.Read(keys);
                break;
            case MapWork.Mix:
                client.Mix(keys);
                break;
            default:
                client.Upsert(keys);
                break;
        }
    }
}

/// <summary>What the threads do.</summary>
internal enum MapWork
{
    /// <summary>100/0.</summary>
    Read,

    /// <summary>50/50.</summary>
    Mix,

    /// <summary>0/100.</summary>
    Upsert,
}
