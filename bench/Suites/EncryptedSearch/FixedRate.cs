using System.Diagnostics;

namespace Treepie.Bench.Suites.EncryptedSearch;

/// <summary>
/// An open loop: calls are due at a fixed rate, whatever became of those before, and each waits from its moment on. So a pause
/// counts for all whose moment it covers.
/// </summary>
internal static class FixedRate
{
    /// <summary>Callers: more than ever run at once while the rate is held.</summary>
    private const int Callers = 16;

    private static readonly TimeSpan _lead = TimeSpan.FromMilliseconds(50);

    /// <summary>A sleep is counted in whole milliseconds and ends up to a fifth of one late.</summary>
    private static readonly TimeSpan _spinFrom = TimeSpan.FromMicroseconds(1_200);

    /// <summary>Microseconds of each call, from when it was due.</summary>
    public static double[] Run(int perSecond, int calls, Action<int> call, CancellationToken cancellationToken)
    {
        var waits = new double[calls];
        Exception? failure = null;
        int next = -1;
        long start = Stopwatch.GetTimestamp() + (long)(_lead.TotalSeconds * Stopwatch.Frequency);
        Thread[] threads = [.. Enumerable.Range(0, Callers).Select(_ => new Thread(() =>
        {
            try
            {
                while (Interlocked.Increment(ref next) is var number
                    && number < calls
                    && failure is null
                    && !cancellationToken.IsCancellationRequested)
                {
                    long due = start + (long)((double)number / perSecond * Stopwatch.Frequency);
                    WaitUntil(due);
                    call(number);
                    waits[number] = Stopwatch.GetElapsedTime(due).TotalMicroseconds;
                }
            }
            catch (Exception error)
            {
                failure = error;
            }
        }) { IsBackground = true })];
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        cancellationToken.ThrowIfCancellationRequested();
        return failure is null ? waits : throw new InvalidOperationException($"A call failed: {failure.Message}", failure);
    }

    /// <summary>
    /// Sleeps for most of it; the rest is spun: whoever slept on would begin up to a millisecond late, and that would count as
    /// time of the query.
    /// </summary>
    private static void WaitUntil(long due)
    {
        while (true)
        {
            TimeSpan left = TimeSpan.FromSeconds((double)(due - Stopwatch.GetTimestamp()) / Stopwatch.Frequency);
            if (left <= TimeSpan.Zero)
                return;
            if (left > _spinFrom)
                Thread.Sleep(left - TimeSpan.FromMicroseconds(200));
            else
                Thread.SpinWait(20);
        }
    }
}
