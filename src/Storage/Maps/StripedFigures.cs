namespace Treepie.Storage.Maps;

/// <summary>Two sums that many threads update: each thread uses one of several separate cache lines.</summary>
internal sealed class StripedFigures
{
    private const int Stripes = 16;
    private const int LineLongs = 16; // 128 bytes: processors fetch lines in pairs

    private readonly long[] _sums = new long[(Stripes + 1) * LineLongs];

    /// <summary>The number of records.</summary>
    public long Count => Sum(0);

    /// <summary>The number of bytes they use in buckets.</summary>
    public long UsedBytes => Sum(1);

    public void Add(long count, long usedBytes)
    {
        int at = ((Environment.CurrentManagedThreadId % Stripes) + 1) * LineLongs;
        if (count != 0)
            Interlocked.Add(ref _sums[at], count);
        Interlocked.Add(ref _sums[at + 1], usedBytes);
    }

    private long Sum(int which)
    {
        long sum = 0;
        for (int stripe = 1; stripe <= Stripes; stripe++)
            sum += Volatile.Read(ref _sums[(stripe * LineLongs) + which]);
        return sum;
    }
}
