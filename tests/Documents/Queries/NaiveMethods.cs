using System.Text;
using System.Text.RegularExpressions;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Words, patterns and places said the simplest way, for <see cref="NaiveEvaluator"/>.</summary>
internal static partial class NaiveMethods
{
    /// <summary>What is said in the syntax of Lucene in random queries, and the same in conditions.</summary>
    public static readonly (string Lucene, string Condition)[] LuceneTexts =
    [
        ("quick fox", "search(Notes, 'quick fox')"),
        ("quick AND fox", "search(Notes, 'quick fox', and)"),
        ("+fox -lazy", "(search(Notes, 'fox') and not search(Notes, 'lazy'))"),
        ("\"lazy dog\"", "search(Notes, '\"lazy dog\"')"),
        ("\"fox dog\"~3", "proximity(search(Notes, 'fox dog'), 3)"),
        ("qu* OR 42", "search(Notes, 'qu* 42')"),
        ("NOT dog", "(true and not search(Notes, 'dog'))"),
        ("br?wn", "search(Notes, 'br*wn')"),
        ("(fox OR dog) AND brown", "((search(Notes, 'fox') or search(Notes, 'dog')) and search(Notes, 'brown'))"),
        ("Age:[2 TO 7}", "(Age >= 2 and Age < 7)"),
        ("/[fd]o.*/", "(search(Notes, 'fo*') or search(Notes, 'do*'))"),
    ];

    public static List<string> WordsOf(string text) => [.. Word().Matches(text).Select(m => NaiveValue.Fold(m.Value))];

    /// <summary>
    /// Whether values of words answer a search: parts apart by blanks but between quotes, each a word, several words together, or
    /// a pattern with <c>*</c>.
    /// </summary>
    public static bool IsFound(IReadOnlyList<string> values, string text, bool all)
    {
        var parts = new List<bool>();
        foreach (Match match in Part().Matches(text))
        {
            string part = match.Value.Trim('"');
            if (match.Value[0] != '"' && part.Contains('*', StringComparison.Ordinal))
            {
                var pattern = new Regex(
                    "^" + string.Join(".*", part.Split('*').Select(piece => Regex.Escape(NaiveValue.Fold(piece)))) + "$",
                    RegexOptions.Singleline);
                parts.Add(values.Any(value => WordsOf(value).Exists(pattern.IsMatch)));
            }
            else if (WordsOf(part) is { Count: > 0 } words)
            {
                parts.Add(IsNear(values, words, 0));
            }
        }

        return parts.Count > 0 && (all ? parts.TrueForAll(found => found) : parts.Exists(found => found));
    }

    /// <summary>
    /// Whether one value has all words, each at most so many places from where it would stand in a phrase, no place for two of
    /// them.
    /// </summary>
    public static bool IsNear(IReadOnlyList<string> values, List<string> words, int slop)
    {
        if (words.Count == 0)
            return false;
        foreach (string value in values)
        {
            List<string> there = WordsOf(value);
            for (int start = -words.Count - slop; start < there.Count; start++)
                if (Fits(there, start, 0, []))
                    return true;
        }

        return false;

        bool Fits(List<string> there, int start, int i, List<int> taken)
        {
            if (i == words.Count)
                return true;
            for (int place = Math.Max(0, start + i); place <= Math.Min(there.Count - 1, start + i + slop); place++)
                if (there[place] == words[i] && !taken.Contains(place) && Fits(there, start, i + 1, [.. taken, place]))
                    return true;
            return false;
        }
    }

    /// <summary>Whether texts are so many edits apart, or fewer; two neighbours exchanged are one.</summary>
    public static bool IsAlike(string left, string right, double similarity)
    {
        Rune[] x = [.. left.EnumerateRunes()], y = [.. right.EnumerateRunes()];
        int edits = similarity >= 1 ? (int)similarity : Math.Min(2, (int)Math.Floor(((1 - similarity) * x.Length) + 1e-9));
        var table = new int[x.Length + 1, y.Length + 1];
        for (int i = 0; i <= x.Length; i++)
        {
            for (int j = 0; j <= y.Length; j++)
            {
                table[i, j] = i == 0 || j == 0
                    ? i + j
                    : Math.Min(
                        Math.Min(table[i - 1, j], table[i, j - 1]) + 1, table[i - 1, j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1));
                if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
                    table[i, j] = Math.Min(table[i, j], table[i - 2, j - 2] + 1);
            }
        }

        return table[x.Length, y.Length] <= edits;
    }

    /// <summary>Kilometres between two places, by the haversine formula.</summary>
    public static double DistanceKm((double Lat, double Lng) left, (double Lat, double Lng) right)
    {
        double lat1 = left.Lat * Math.PI / 180, lat2 = right.Lat * Math.PI / 180, half = (right.Lng - left.Lng) * Math.PI / 360;
        double h = Math.Pow(Math.Sin((lat2 - lat1) / 2), 2) + (Math.Cos(lat1) * Math.Cos(lat2) * Math.Pow(Math.Sin(half), 2));
        return 2 * 6371.0088 * Math.Asin(Math.Min(1, Math.Sqrt(h)));
    }

    [GeneratedRegex(@"[\p{L}\p{N}]+")]
    private static partial Regex Word();

    [GeneratedRegex("\"[^\"]*\"|\\S+")]
    private static partial Regex Part();
}
