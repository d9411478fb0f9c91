using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Ranking;

/// <summary>Keeps the best hits, best first, by insertion. Intended for small pages.</summary>
/// <param name="ids">Room for the number of hits wanted, at least one.</param>
/// <param name="scores">Same size as <paramref name="ids"/>.</param>
internal ref struct BestHits(Span<long> ids, Span<float> scores)
{
    private readonly Span<long> _ids = ids;
    private readonly Span<float> _scores = scores;

    /// <summary>Number of hits kept.</summary>
    public int Count { get; private set; }

    /// <summary>Score of the worst hit once all places are taken; negative infinity before.</summary>
    public readonly float WorstScore => Count == _scores.Length ? _scores[Count - 1] : float.NegativeInfinity;

    /// <summary>Offers a hit. Most hits are rejected.</summary>
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
