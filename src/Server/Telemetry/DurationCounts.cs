namespace Treepie.Server.Telemetry;

/// <summary>
/// How many durations fell into each of 256 buckets, eight to a power of two from a microsecond on: a percentile is right within
/// 9 %. Thread-safe.
/// </summary>
internal sealed class DurationCounts
{
    private const int BucketsPerDoubling = 8, Buckets = 256;

    private readonly int[] _counts = new int[Buckets];

    /// <summary>Durations counted so far.</summary>
    public long Count => _counts.Sum(static count => (long)count);

    /// <summary>Counts one duration.</summary>
    public void Add(double seconds)
    {
        double microseconds = Math.Max(1, seconds * 1e6);
        int bucket = Math.Min(Buckets - 1, (int)(Math.Log2(microseconds) * BucketsPerDoubling));
        Interlocked.Increment(ref _counts[bucket]);
    }

    /// <summary>The duration in seconds that a part of all stay within: 0.5 for the median; 0 where there are none.</summary>
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
