using System.Collections.Frozen;

namespace Treepie.Sessions;

/// <summary>
/// Forms the plural of an English type name, as used for collections, from rules and the exceptions common in programs.
/// </summary>
internal static class EnglishPlural
{
    private static readonly FrozenDictionary<string, string> _irregular = new Dictionary<string, string>
    {
        ["Person"] = "People",
        ["Child"] = "Children",
        ["Man"] = "Men",
        ["Woman"] = "Women",
        ["Mouse"] = "Mice",
        ["Foot"] = "Feet",
        ["Tooth"] = "Teeth",
        ["Goose"] = "Geese",
        ["Datum"] = "Data",
        ["Medium"] = "Media",
        ["Index"] = "Indexes",
        ["Quiz"] = "Quizzes",
        ["Leaf"] = "Leaves",
        ["Shelf"] = "Shelves",
        ["Life"] = "Lives",
        ["Knife"] = "Knives",
        ["Half"] = "Halves",
        ["Hero"] = "Heroes",
        ["Potato"] = "Potatoes",
        ["Tomato"] = "Tomatoes",
        ["Echo"] = "Echoes",
    }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    private static readonly FrozenSet<string> _unchanging = FrozenSet.Create(
        StringComparer.OrdinalIgnoreCase, "Equipment", "Information", "Money", "News", "Series", "Species", "Sheep", "Fish",
        "Data", "Media", "Metadata", "Software");

    /// <summary>Returns the plural; in a compound name such as <c>OrderLine</c>, the last word changes.</summary>
    public static string Of(string name)
    {
        int lastWord = name.Length - 1;
        while (lastWord > 0 && !char.IsUpper(name[lastWord]))
            lastWord--;
        return string.Concat(name.AsSpan(0, lastWord), OfWord(name[lastWord..]));
    }

    private static string OfWord(string word)
    {
        if (word.Length < 2 || _unchanging.Contains(word))
            return word.Length == 0 ? word : word.Length == 1 ? word + "s" : word;
        if (_irregular.TryGetValue(word, out string? plural))
            return char.IsUpper(word[0]) ? plural : char.ToLowerInvariant(plural[0]) + plural[1..];
        if (word.EndsWith('y') && !IsVowel(word[^2]))
            return word[..^1] + "ies";
        if (word.EndsWith("is", StringComparison.Ordinal))
            return word[..^2] + "es"; // analysis
        bool hisses = word[^1] is 's' or 'x' or 'z'
            || word.EndsWith("ch", StringComparison.Ordinal)
            || word.EndsWith("sh", StringComparison.Ordinal);
        return word + (hisses ? "es" : "s");
    }

    private static bool IsVowel(char letter) => letter is 'a' or 'e' or 'i' or 'o' or 'u';
}
