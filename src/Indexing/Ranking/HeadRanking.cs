using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>
/// Scores the champion list of a long list, see <see cref="ListHead"/>, and decides whether its best entries are the best of
/// the whole list.
/// </summary>
internal static class HeadRanking
{
    /// <summary>
    /// Up to this frequency, a higher frequency at the same length gives a greater score even after rounding to float: at
    /// 255 the part grows by 1/200,000, and it is rounded by 1/5,000,000.
    /// </summary>
    private const int MostExact = byte.MaxValue;

    /// <summary>Range of weights for which parts are rounded with the same relative precision as numbers near 1.</summary>
    private const float LeastWeight = 1e-20f, MostWeight = 1e32f;

    /// <summary>
    /// Writes the entries of a champion list, best first in the order of a search by score; returns how many there are.
    /// </summary>
    /// <param name="head">The champion list.</param>
    /// <param name="nextEntryId">Exclusive upper bound on entry ids.</param>
    /// <param name="wanted">Number of best entries wanted.</param>
    /// <param name="ids">Receives the ids; room for <see cref="ListHead.MaxEntries"/>.</param>
    /// <param name="scores">Receives the scores as computed by <paramref name="sum"/>; same size as <paramref name="ids"/>.
    /// Entries are sorted by score, then by id, since different parts may round to the same sum.</param>
    /// <param name="scorer">Scorer of the term.</param>
    /// <param name="boost">The boost, as for <see cref="TermScorer"/>.</param>
    /// <param name="sum">Maps a part to the score of a hit.</param>
    /// <param name="isFinal">Whether the first <paramref name="wanted"/> entries are the best of the whole list.</param>
    /// <exception cref="Storage.CorruptionException">The champion list is damaged.</exception>
    public static int Score<TSum>(
        ReadOnlySpan<byte> head, long nextEntryId, long wanted, Span<long> ids, Span<float> scores, TermScorer scorer,
        float boost, TSum sum, out bool isFinal)
        where TSum : struct, IScoreSum
    {
        Span<HeadEntry> best = stackalloc HeadEntry[ListHead.MaxEntries], limits = stackalloc HeadEntry[ListHead.MaxLimits];
        int count = ListHead.Read(head, best, limits, out int limitCount);
        float score = 0;
        HeadEntry before = default;
        for (int i = 0; i < count; i++)
        {
            HeadEntry entry = best[i];
            if (entry.Id >= nextEntryId)
                throw ListHead.Damaged();
            if (i == 0 || !entry.IsLike(before))
                score = sum.Of(scorer.ScoreOf(entry.Frequency, entry.Length, boost));
            before = entry;

            // Entries are stored in order for an older average length, so few have to move.
            int place = i;
            for (;
                 place > 0 && (scores[place - 1] < score || (scores[place - 1] == score && best[place - 1].Id > entry.Id));
                 place--)
                (best[place], scores[place]) = (best[place - 1], scores[place - 1]);
            (best[place], scores[place]) = (entry, score);
        }

        for (int i = 0; i < count; i++)
            ids[i] = best[i].Id;
        isFinal = wanted > 0
            && wanted <= count
            && IsAbove(limits[..limitCount], best[(int)wanted - 1], scores[(int)wanted - 1], scorer, boost, sum);
        return count;
    }

    /// <summary>
    /// Whether an entry of the champion list ranks above every entry outside it, which the limits bound. Compares final
    /// scores: sums never decrease as a part grows, but different parts may round to the same sum.
    /// </summary>
    private static bool IsAbove<TSum>(
        ReadOnlySpan<HeadEntry> limits, HeadEntry last, float score, TermScorer scorer, float boost, TSum sum)
        where TSum : struct, IScoreSum
    {
        float weight = scorer.Weight(boost);
        if (!(weight is >= LeastWeight and <= MostWeight))
            return false;
        foreach (HeadEntry limit in limits)
        {
            float mostPart = scorer.ScoreOf(limit.Frequency, limit.Length, boost);
            if (score > sum.Of(mostPart * Bm25.BoundMargin))
                continue;
            float most = sum.Of(mostPart);
            if (score < most || limit.Frequency > MostExact)
                return false;

            // On a tie, a lower frequency or a length greater by one must score strictly less. Of the entries equal to the
            // limit, those outside the champion list have greater ids.
            if (score == most && (!last.IsLike(limit) || sum.Of(scorer.ScoreOf(limit.Frequency, limit.Length + 1, boost)) == score
                || (limit.Frequency > 1 && sum.Of(scorer.ScoreOf(limit.Frequency - 1, limit.Length, boost)) == score)))
            {
                return false;
            }
        }

        return true;
    }
}

/// <summary>Maps the part of a term to the score of a hit. Must be monotonic: never less for a greater part.</summary>
internal interface IScoreSum
{
    /// <summary>Returns the score.</summary>
    float Of(float part);
}

/// <summary>Uses the part itself as the score.</summary>
internal readonly struct PartAlone : IScoreSum
{
    /// <inheritdoc/>
    public float Of(float part) => part;
}
