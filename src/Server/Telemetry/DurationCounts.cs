namespace Treepie.Server.Telemetry;

/// <summary>
/// A histogram of durations with 256 buckets, eight per power of two starting at a microsecond: percentiles are accurate to 9
/// %. Thread-safe.
/// </summary>
internal sealed class DurationCounts
{
    private const int BucketsPerDoubling = 8, Buckets = 256;

    private readonly int[] _counts = new int[Buckets];

    /// <summary>The number of durations counted.</summary>
    public long Count => _counts.Sum(static count => (long)count);

    /// <summary>Counts one duration.</summary>
    public void Add(double seconds)
    {
        double microseconds = Math.Max(1, seconds * 1e6);
        int bucket = Math.Min(Buckets - 1, (int)(Math.Log2(microseconds) * BucketsPerDoubling));
        Interlocked.Increment(ref _counts[bucket]);
    }

    /// <summary>Returns a percentile in seconds, such as 0.5 for the median; 0 if there are no durations.</summary>
    public double Percentile(double part)
    {
        long rank = (long)Math.Ceiling(Count * part);
        long seen = 0;
        for (int bucket = 0; bucket < Buckets && rank > 0; bucket++)
        {
            seen += _counts[bucket];
            if (seen >= rank)
                return Math.Pow(2, (bucket + 0.5) / BucketsPerDoubling) / 1e6;
        }

        return 0;
    }
}
