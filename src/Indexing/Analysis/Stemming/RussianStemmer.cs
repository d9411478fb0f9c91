namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Russian words. All rules apply only to the region after the first vowel.</summary>
internal sealed class RussianStemmer : Stemmer
{
    private const string Vowels = "аеиоуыэюя";

    private static readonly string[] _gerundsBehindA = ["в", "вши", "вшись"];
    private static readonly string[] _gerunds = [.. _gerundsBehindA, "ив", "ивши", "ившись", "ыв", "ывши", "ывшись"];

    private static readonly string[] _adjectives =
    [
        "ее", "ие", "ые", "ое", "ими", "ыми", "ей", "ий", "ый", "ой", "ем", "им", "ым", "ом", "его", "ого", "ему", "ому", "их",
        "ых", "ую", "юю",
        "ая", "яя", "ою", "ею",
    ];

    private static readonly string[] _participlesBehindA = ["ем", "нн", "вш", "ющ", "щ"];
    private static readonly string[] _participles = [.. _participlesBehindA, "ивш", "ывш", "ующ"];

    private static readonly string[] _verbsBehindA =
    [
        "ла", "на", "ете", "йте", "ли", "й", "л", "ем", "н", "ло", "но", "ет", "ют", "ны", "ть", "ешь", "нно",
    ];

    private static readonly string[] _verbs =
    [
        .. _verbsBehindA, "ила", "ыла", "ена", "ейте", "уйте", "ите", "или", "ыли", "ей", "уй", "ил", "ыл", "им", "ым", "ен",
        "ило", "ыло", "ено",
        "ят", "ует", "уют", "ит", "ыт", "ены", "ить", "ыть", "ишь", "ую", "ю",
    ];

    private static readonly string[] _nouns =
    [
        "а", "ев", "ов", "ие", "ье", "е", "иями", "ями", "ами", "еи", "ии", "и", "ией", "ей", "ой", "ий", "й", "иям", "ям", "ием",
        "ем", "ам", "ом",
        "о", "у", "ах", "иях", "ях", "ы", "ь", "ию", "ью", "ю", "ия", "ья", "я",
    ];

    public override void Stem(StemWord word)
    {
        word.ReplaceAll('ё', 'е');
        word.SetRegions(Vowels);
        word.RV = Math.Min(word.Length, word.FirstVowel(0, Vowels) + 1);

        if (!Cut(word, _gerunds, _gerundsBehindA))
        {
            if (word.LongestIn(["ся", "сь"], word.RV) is { } reflexive)
                word.Cut(reflexive);
            if (word.LongestIn(_adjectives, word.RV) is { } adjective)
            {
                word.Cut(adjective);
                Cut(word, _participles, _participlesBehindA);
            }
            else if (!Cut(word, _verbs, _verbsBehindA) && word.LongestIn(_nouns, word.RV) is { } noun)
            {
                word.Cut(noun);
            }
        }

        if (word.EndsIn("и", word.RV))
            word.Cut(1);
        if (word.LongestIn(["ост", "ость"], word.RV) is { } derived && word.EndsIn(derived, word.R2))
            word.Cut(derived);
        Tidy(word);
    }

    /// <summary>
    /// Removes the longest ending of a list; one that is also in the second list only after а or я. Returns whether it did.
    /// </summary>
    private static bool Cut(StemWord word, string[] endings, string[] behindA)
    {
        if (word.LongestIn(endings, word.RV) is not { } ending)
            return false;
        if (behindA.AsSpan().Contains(ending))
        {
            int before = word.Length - ending.Length - 1;
            if (before < word.RV || word[before] is not ('а' or 'я'))
                return false;
        }

        word.Cut(ending);
        return true;
    }

    private static void Tidy(StemWord word)
    {
        switch (word.LongestIn(["ейш", "ейше", "н", "ь"], word.RV))
        {
            case "ь":
                word.Cut(1);
                break;
            case "н":
                if (word.EndsIn("нн", word.RV))
                    word.Cut(1);
                break;
            case { } superlative:
                word.Cut(superlative);
                if (word.EndsIn("нн", word.RV))
                    word.Cut(1);
                break;
        }
    }
}
