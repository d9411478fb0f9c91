using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>A list of <see cref="ProbedLists"/>.</summary>
/// <param name="Merged">Its segments, of a list of few entries a window.</param>
/// <param name="Asked">Its windows, of any other: not copied.</param>
/// <param name="Scorer">Scores its entries; null: each counts the boost.</param>
/// <param name="Boost">The boosts around the list.</param>
internal readonly record struct ProbedList(SegmentList? Merged, UnrolledList? Asked, TermScorer? Scorer, float Boost)
{
    /// <summary>What no match counts more than.</summary>
    public float Most { get; } = Scorer is null ? Boost : Scorer.Weight(Boost);

    /// <summary>What an impact of 1/255 counts; 0 where all matches count the same.</summary>
    public float Unit { get; } = Scorer is null ? 0 : Scorer.ImpactUnit * Scorer.Weight(Boost);
}
