namespace Treepie.Indexing.Tests.Model;

/// <summary>
/// How often a phrase stands in an entry, as <see cref="Treepie.Indexing.Queries.PhraseQuery"/> says it: over all starts, by trying
/// every choice of positions.
/// </summary>
internal static class NaivePhrase
{
    public static double Frequency(ILookup<string, int> positions, IReadOnlyList<string> words, int slop, bool ordered)
    {
        double sum = 0;
        foreach (int start in words.SelectMany((word, i) => positions[word].Select(position => position - i)).Distinct())
        {
            for (int distance = 0; distance <= slop; distance++)
            {
                if (!Fits(start, distance, 0, []))
                    continue;
                sum += 1.0 / (1 + distance);
                break;
            }
        }

        return sum;

        bool Fits(int start, int distance, int i, List<int> taken) => i == words.Count || positions[words[i]].Any(position =>
            position >= start + i && position <= start + i + distance && !taken.Contains(position)
            && (!ordered || taken.Count == 0 || position > taken[^1]) && Fits(start, distance, i + 1, [.. taken, position]));
    }
}
