namespace Treepie.Indexing.Matching;

/// <summary>
/// How many entries an operator matches, as far as it is known before it runs. Derived from exact counts, so the same on
/// every run.
/// </summary>
/// <param name="Most">Upper bound on the number of matching entries; exact if <paramref name="IsExact"/>.</param>
/// <param name="Likely">Estimated number of matching entries.</param>
/// <param name="IsExact">Whether <paramref name="Most"/> is the exact number.</param>
internal readonly record struct MatchEstimate(long Most, double Likely, bool IsExact)
{
    /// <summary>The number is known.</summary>
    public static MatchEstimate Exactly(long count) => new(count, count, IsExact: true);

    /// <summary>Only an upper bound is known.</summary>
    public static MatchEstimate AtMost(long count) => new(count, count, IsExact: false);
}
