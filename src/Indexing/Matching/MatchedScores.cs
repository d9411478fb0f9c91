using System.Buffers;

namespace Treepie.Indexing.Matching;

/// <summary>Adds the sum of some clauses' scores to the hits that are in a set; leaves the other hits unchanged.</summary>
internal static class MatchedScores
{
    public static void Add(
        Operator[] clauses, long window, WindowSet matches, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        ushort[] offsets = ArrayPool<ushort>.Shared.Rent(hits.Length);
        int[] places = ArrayPool<int>.Shared.Rent(hits.Length);
        float[] parts = ArrayPool<float>.Shared.Rent(hits.Length);
        int count = 0;
        for (int i = 0; i < hits.Length; i++)
        {
            if (matches.Contains(hits[i]))
            {
                offsets[count] = hits[i];
                places[count++] = i;
            }
        }

        Span<float> sums = parts.AsSpan(0, count);
        sums.Clear();
        foreach (Operator clause in clauses)
            clause.Score(window, offsets.AsSpan(0, count), sums, boost, allMatch: false);
        for (int i = 0; i < count; i++)
            scores[places[i]] += sums[i];

        ArrayPool<ushort>.Shared.Return(offsets);
        ArrayPool<int>.Shared.Return(places);
        ArrayPool<float>.Shared.Return(parts);
    }
}
