namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Suggestions for messages about unknown names.</summary>
internal static class Spelling
{
    /// <summary>Longest name that is compared or shown.</summary>
    private const int MaxLength = 64;

    /// <summary>
    /// Returns a question that suggests the nearest known name, with a blank before it; empty if no name is near.
    /// </summary>
    public static string Advice(string name, IEnumerable<string> known)
    {
        if (name.Length > MaxLength)
            return "";
        string? nearest = known.MinBy(candidate => Edits(name, candidate));
        return nearest is not null && Edits(name, nearest) <= Math.Max(1, name.Length / 3) ? $" Did you mean '{nearest}'?" : "";
    }

    /// <summary>Returns a name as messages show it.</summary>
    public static string Short(string name) => name.Length <= MaxLength ? name : name[..MaxLength] + "…";

    private static int Edits(string left, string right)
    {
        int[] row = [.. Enumerable.Range(0, right.Length + 1)];
        for (int i = 1; i <= left.Length; i++)
        {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= right.Length; j++)
            {
                bool isSame = char.ToUpperInvariant(left[i - 1]) == char.ToUpperInvariant(right[j - 1]);
                int replaced = diagonal + (isSame ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.Min(replaced, 1 + Math.Min(row[j - 1], row[j]));
            }
        }

        return row[^1];
    }
}
