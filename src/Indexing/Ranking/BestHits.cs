using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Ranking;

/// <summary>Keeps the best of hits, best first. For a page of a few: each is put in its place when it comes.</summary>
/// <param name="ids">Room for so many as are wanted, one or more.</param>
/// <param name="scores">As <paramref name="ids"/>.</param>
internal ref struct BestHits(Span<long> ids, Span<float> scores)
{
    private readonly Span<long> ids = ids;
    private readonly Span<float> scores = scores;

    /// <summary>Hits kept.</summary>
    public int Count { get; private set; }

    /// <summary>Score of the worst hit once all places are taken, negative infinity before.</summary>
    public readonly float WorstScore => Count == scores.Length ? scores[Count - 1] : float.NegativeInfinity;

    /// <summary>Offers a hit. Most are none of the best.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Offer(long id, float score)
    {
        if (Count < scores.Length || score > scores[^1] || (score == scores[^1] && id < ids[^1]))
            Put(id, score);
    }

    private void Put(long id, float score)
    {
        int place = Count == scores.Length ? Count - 1 : Count++;
        for (; place > 0 && (scores[place - 1] < score || (scores[place - 1] == score && ids[place - 1] > id)); place--)
            (scores[place], ids[place]) = (scores[place - 1], ids[place - 1]);
        (scores[place], ids[place]) = (score, id);
    }
}
