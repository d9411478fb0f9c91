namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Finnish words.</summary>
internal sealed class FinnishStemmer : Stemmer
{
    private const string Vowels = "aeiouyäö";
    private const string BeforeI = "aeiouäö";
    private const string Consonants = "bcdfghjklmnpqrstvwxz";

    private static readonly string[] _cases =
    [
        "han", "hen", "hin", "hon", "hän", "hön", "siin", "den", "tten", "seen", "a", "ä", "tta", "ttä", "ta", "tä", "ssa", "ssä",
        "sta", "stä",
        "lla", "llä", "lta", "ltä", "lle", "na", "nä", "ksi", "ine", "n",
    ];

    private static readonly string[] _comparatives =
    [
        "mpi", "mpa", "mpä", "mmi", "mma", "mmä", "impi", "impa", "impä", "immi", "imma", "immä", "eja", "ejä",
    ];

    public override void Stem(StemWord word)
    {
        word.SetRegions(Vowels);
        Particle(word);
        Possessive(word);
        bool endingRemoved = Case(word);
        if (word.LongestIn(_comparatives, word.R2) is { } comparative
            && (comparative.Length > 3 || comparative[0] == 'e' || !EndsBefore(word, comparative, "po")))
            word.Cut(comparative);
        if (!endingRemoved)
            Plural(word);
        else if (word.LongestIn(["i", "j"], word.R1) is not null)
            word.Cut(1);
        Tidy(word);
    }

    private static bool EndsBefore(StemWord word, string suffix, string before) => word.Text[..^suffix.Length].EndsWith(before);

    private static void Particle(StemWord word)
    {
        if (word.LongestIn(["kin", "kaan", "kään", "ko", "kö", "han", "hän", "pa", "pä", "sti"], word.R1) is not { } suffix)
            return;
        char before = word.FromEnd(suffix.Length);
        if (suffix == "sti" ? word.EndsIn(suffix, word.R2) : Vowels.Contains(before) || before is 'n' or 't')
            word.Cut(suffix);
    }

    private static void Possessive(StemWord word)
    {
        switch (word.LongestIn(["si", "ni", "nsa", "nsä", "mme", "nne", "an", "än", "en"], word.R1))
        {
            case null:
                return;
            case "si":
                if (word.FromEnd(2) != 'k')
                    word.Cut(2);
                break;
            case "ni":
                word.Cut(2);
                if (word.EndsWith("kse"))
                    word[word.Length - 1] = 'i';
                break;
            case "an":
                CutBehind(word, "ta", "ssa", "sta", "lla", "lta", "na");
                break;
            case "än":
                CutBehind(word, "tä", "ssä", "stä", "llä", "ltä", "nä");
                break;
            case "en":
                CutBehind(word, "lle", "ine");
                break;
            default:
                word.Cut(3);
                break;
        }
    }

    /// <summary>Removes a possessive whose vowel is also the end of a case ending: <c>taan</c> becomes <c>ta</c>.</summary>
    private static void CutBehind(StemWord word, params ReadOnlySpan<string> endings)
    {
        int length = word.Length;
        word.Cut(2);
        if (word.Longest(endings) is null)
            word.Restore(length);
    }

    private static bool Case(StemWord word)
    {
        if (word.LongestIn(_cases, word.R1) is not { } suffix)
            return false;

        int length = word.Length;
        word.Cut(suffix);
        char last = word.FromEnd(0);
        if ((suffix is "siin" or "den" or "tten" && !(last == 'i' && BeforeI.Contains(word.FromEnd(1))))
            || (suffix == "seen" && !EndsLong(word)))
        {
            // It is not that ending, but all of these end in n, which is an ending as well.
            word.Restore(length);
            word.Cut(suffix = "n");
        }

        bool fits = suffix switch
        {
            "han" or "hen" or "hin" or "hon" or "hän" or "hön" => last == suffix[1],
            "a" or "ä" => word.Length >= 2 && Vowels.Contains(last) && Consonants.Contains(word.FromEnd(1)),
            "tta" or "ttä" => last == 'e',
            _ => true,
        };
        if (!fits)
        {
            word.Restore(length);
            return false;
        }

        if (suffix == "n" && (EndsLong(word) || word.EndsWith("ie")))
            word.Cut(1);
        return true;
    }

    private static bool EndsLong(StemWord word) =>
        word.Length >= 2 && word.FromEnd(0) == word.FromEnd(1) && "aeiouäö".Contains(word.FromEnd(0));

    private static void Plural(StemWord word)
    {
        if (!word.EndsIn("t", word.R1) || word.Length - 2 < word.R1 || !Vowels.Contains(word.FromEnd(1)))
            return;
        word.Cut(1);
        if (word.LongestIn(["mma", "imma"], word.R2) is { } suffix && (suffix.Length > 3 || !EndsBefore(word, suffix, "po")))
            word.Cut(suffix);
    }

    private static void Tidy(StemWord word)
    {
        int region = word.R1;
        if (word.Length - 2 >= region && EndsLong(word))
            word.Cut(1);
        if (word.Length - 2 >= region && "aäei".Contains(word.FromEnd(0)) && Consonants.Contains(word.FromEnd(1)))
            word.Cut(1);
        if (word.EndsIn("oj", region) || word.EndsIn("uj", region))
            word.Cut(1);
        if (word.EndsIn("jo", region))
            word.Cut(1);

        int place = word.Length - 1;
        while (place >= 0 && Vowels.Contains(word[place]))
            place--;
        if (place > 0 && Consonants.Contains(word[place]) && word[place - 1] == word[place])
            word.RemoveAt(place);
    }
}
