using System.Text;

namespace Treepie.Indexing.Suggestions;

/// <summary>How like each other two texts are: 1 the same, 0 nothing in common.</summary>
internal static class TextLikeness
{
    public static float Of(SuggestionDistance distance, string left, string right)
    {
        Rune[] x = [.. left.EnumerateRunes()];
        Rune[] y = [.. right.EnumerateRunes()];
        return distance switch
        {
            SuggestionDistance.None => 1,
            SuggestionDistance.JaroWinkler => JaroWinkler(x, y),
            SuggestionDistance.NGram => Pairs(x, y),
            _ => 1 - (Edits(x, y) / (float)Math.Max(1, Math.Max(x.Length, y.Length))),
        };
    }

    /// <summary>Edits from one text to the other; two neighbours exchanged are one.</summary>
    private static int Edits(Rune[] x, Rune[] y)
    {
        int[] before = new int[y.Length + 1];
        int[] last = [.. Enumerable.Range(0, y.Length + 1)];
        for (int i = 1; i <= x.Length; i++)
        {
            int[] row = new int[y.Length + 1];
            row[0] = i;
            for (int j = 1; j <= y.Length; j++)
            {
                row[j] = Math.Min(Math.Min(row[j - 1], last[j]) + 1, last[j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1));
                if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
                    row[j] = Math.Min(row[j], before[j - 2] + 1);
            }

            (before, last) = (last, row);
        }

        return last[y.Length];
    }

    private static float JaroWinkler(Rune[] x, Rune[] y)
    {
        if (x.Length == 0 || y.Length == 0)
            return x.Length == y.Length ? 1 : 0;

        int reach = Math.Max(0, (Math.Max(x.Length, y.Length) / 2) - 1);
        var inX = new List<Rune>();
        var isTaken = new bool[y.Length];
        for (int i = 0; i < x.Length; i++)
        {
            for (int j = Math.Max(0, i - reach); j <= Math.Min(y.Length - 1, i + reach); j++)
            {
                if (isTaken[j] || x[i] != y[j])
                    continue;
                isTaken[j] = true;
                inX.Add(x[i]);
                break;
            }
        }

        if (inX.Count == 0)
            return 0;

        Rune[] inY = [.. y.Where((_, j) => isTaken[j])];
        int moved = inX.Where((rune, i) => rune != inY[i]).Count() / 2;
        float common = inX.Count;
        float jaro = ((common / x.Length) + (common / y.Length) + ((common - moved) / common)) / 3;
        int prefix = x.Zip(y).Take(4).TakeWhile(pair => pair.First == pair.Second).Count();
        return jaro + (prefix * 0.1f * (1 - jaro));
    }

    /// <summary>Common pairs, the start counting as a character, as a part of all pairs.</summary>
    private static float Pairs(Rune[] x, Rune[] y)
    {
        if (x.Length == 0 || y.Length == 0)
            return x.Length == y.Length ? 1 : 0;

        var left = Grams(x);
        int common = 0;
        foreach ((Rune, Rune) gram in Grams(y))
            common += left.Remove(gram) ? 1 : 0;
        return 2f * common / (x.Length + y.Length);
    }

    private static List<(Rune, Rune)> Grams(Rune[] text) => [.. text.Select((rune, i) => (i == 0 ? default : text[i - 1], rune))];
}
