using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Ranking;

/// <summary>Keeps the best of hits, best first. For a page of a few: each is put in its place when it comes.</summary>
/// <param name="ids">Room for so many as are wanted, one or more.</param>
/// <param name="scores">As <paramref name="ids"/>.</param>
internal ref struct BestHits(Span<long> ids, Span<float> scores)
{
    private readonly Span<long> _ids = ids;
    private readonly Span<float> _scores = scores;

    /// <summary>Hits kept.</summary>
    public int Count { get; private set; }

    /// <summary>Score of the worst hit once all places are taken, negative infinity before.</summary>
    public readonly float WorstScore => Count == _scores.Length ? _scores[Count - 1] : float.NegativeInfinity;

    /// <summary>Offers a hit. Most are none of the best.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Offer(long id, float score)
    {
        if (Count < _scores.Length || score > _scores[^1] || (score == _scores[^1] && id < _ids[^1]))
            Put(id, score);
    }

    private void Put(long id, float score)
    {
        int place = Count == _scores.Length ? Count - 1 : Count++;
        for (; place > 0 && (_scores[place - 1] < score || (_scores[place - 1] == score && _ids[place - 1] > id)); place--)
            (_scores[place], _ids[place]) = (_scores[place - 1], _ids[place - 1]);
        (_scores[place], _ids[place]) = (score, id);
    }
}
