namespace Treepie.Bench.Suites.Search;

/// <summary>What an engine said, and how long it took.</summary>
/// <param name="Total">Hits.</param>
/// <param name="IsExact">Whether that is their number, and not only the least it is.</param>
/// <param name="Microseconds">From the question to the last hit; the median where it was asked more than once.</param>
/// <param name="Ids">The first hits, by place in the corpus.</param>
/// <param name="Scores">Their scores; empty where nothing is scored.</param>
internal sealed record SearchAnswer(long Total, bool IsExact, double Microseconds, long[] Ids, double[] Scores)
{
    /// <summary>
    /// As <see cref="Microseconds"/>, the first time of a turn, when another engine has had the caches of the processor.
    /// </summary>
    public double FirstMicroseconds { get; init; }
}
