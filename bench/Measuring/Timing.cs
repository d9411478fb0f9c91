using System.Diagnostics;

namespace Treepie.Bench.Measuring;

/// <summary>Clocks around work.</summary>
internal static class Timing
{
    /// <summary>Microseconds of each call of one caller after the other.</summary>
    public static async Task<double[]> LatenciesAsync(int calls, Func<int, ValueTask> call)
    {
        double[] microseconds = new double[calls];
        for (int i = 0; i < calls; i++)
        {
            long began = Stopwatch.GetTimestamp();
            await call(i);
            microseconds[i] = Stopwatch.GetElapsedTime(began).TotalMicroseconds;
        }

        return microseconds;
    }

    /// <summary>Calls per second of several callers at once.</summary>
    public static async Task<double> ThroughputAsync(int callers, int calls, Func<int, ValueTask> call)
    {
        int next = 0;
        long began = Stopwatch.GetTimestamp();
        await Task.WhenAll(Enumerable.Range(0, callers).Select(_ => Task.Run(async () =>
        {
            for (int i = Interlocked.Increment(ref next); i <= calls; i = Interlocked.Increment(ref next))
                await call(i - 1);
        })));
        return calls / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    /// <summary>Seconds of one piece of work.</summary>
    public static async Task<double> SecondsAsync(Func<Task> work)
    {
        long began = Stopwatch.GetTimestamp();
        await work();
        return Stopwatch.GetElapsedTime(began).TotalSeconds;
    }
}
