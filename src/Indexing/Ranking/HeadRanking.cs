using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>
/// Scores the head of a long list, see <see cref="ListHead"/>, and says whether its first are the first of the list.
/// </summary>
internal static class HeadRanking
{
    /// <summary>
    /// Up to this frequency, more of it at the same length is a greater score as floats are rounded, too: at 255 the part grows
    /// by 1/200,000, and it is rounded by 1/5,000,000.
    /// </summary>
    private const int MostExact = byte.MaxValue;

    /// <summary>Weights of which parts are rounded as numbers near 1 are.</summary>
    private const float LeastWeight = 1e-20f, MostWeight = 1e32f;

    /// <summary>Writes the entries of a head, best first, as a search by score has them; returns how many they are.</summary>
    /// <param name="head">The head.</param>
    /// <param name="nextEntryId">All ids are below.</param>
    /// <param name="wanted">How many of the best are asked for.</param>
    /// <param name="ids">Room for <see cref="ListHead.MaxEntries"/>.</param>
    /// <param name="scores">As <paramref name="ids"/>; what <paramref name="sum"/> makes of the parts. Entries stand by these,
    /// then by id: different parts may be rounded to the same sum.</param>
    /// <param name="scorer">The term.</param>
    /// <param name="boost">As of <see cref="TermScorer"/>.</param>
    /// <param name="sum">What becomes of a part in the score of a hit.</param>
    /// <param name="isFinal">Whether so many are the best of the whole list.</param>
    /// <exception cref="Storage.CorruptionException">The head is not as it was written.</exception>
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

            // They stand in the order of an average of old: few have to move.
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
    /// Whether an entry of the head comes before all that limits allow, by the scores that parts become: sums never fall when a
    /// part grows, but different parts may be rounded to the same sum.
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

            // That a lower frequency, or a length of one more, scores less has to be seen. Of the entries like the limit those
            // outside have greater ids.
            if (score == most && (!last.IsLike(limit) || sum.Of(scorer.ScoreOf(limit.Frequency, limit.Length + 1, boost)) == score
                || (limit.Frequency > 1 && sum.Of(scorer.ScoreOf(limit.Frequency - 1, limit.Length, boost)) == score)))
            {
                return false;
            }
        }

        return true;
    }
}

/// <summary>What the part of a term becomes in the score of a hit: never less for a greater part.</summary>
internal interface IScoreSum
{
    /// <summary>The score.</summary>
    float Of(float part);
}

/// <summary>The part is the score.</summary>
internal readonly struct PartAlone : IScoreSum
{
    /// <inheritdoc/>
    public float Of(float part) => part;
}
