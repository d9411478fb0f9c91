namespace Treepie.Indexing.Ranking;

/// <summary>Keeps the best of hits that come in any order; of equal scores the smaller id is the better one.</summary>
internal interface IBestHits
{
    /// <summary>Score of the worst hit once all places are taken, negative infinity before.</summary>
    float WorstScore { get; }

    /// <summary>Offers a hit.</summary>
    void Offer(long id, float score);
}
