namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Hungarian words, which may have endings for plural, possessor and case, one after another.</summary>
internal sealed class HungarianStemmer : Stemmer
{
    private const string Vowels = "aeiouáéíóúöőüű";

    private static readonly string[] _digraphs = ["dzs", "cs", "gy", "ly", "ny", "sz", "ty", "zs"];

    private static readonly string[] _doubles =
    [
        "bb", "cc", "ccs", "dd", "ff", "gg", "ggy", "jj", "kk", "ll", "lly", "mm", "nn", "nny", "pp", "rr", "ss", "ssz", "tt",
        "tty", "vv", "zz", "zzs",
    ];

    private static readonly string[] _instrumentals = ["al", "el"];

    private static readonly string[] _cases =
    [
        "ban", "ben", "ba", "be", "ra", "re", "nak", "nek", "val", "vel", "tól", "től", "ról", "ről", "ból", "ből", "hoz", "hez",
        "höz", "nál", "nél", "ig", "at", "et", "ot", "öt",
        "ért", "képp", "képpen", "kor", "ul", "ül", "vá", "vé", "onként", "enként", "anként", "ként", "en", "on", "an", "ön", "n",
        "t",
    ];

    private static readonly string[] _specialCases = ["én", "án", "ánként"];

    private static readonly string[] _otherCases = ["astul", "estül", "stul", "stül", "ástul", "éstül"];

    private static readonly string[] _factives = ["á", "é"];

    private static readonly string[] _owned = ["oké", "öké", "aké", "eké", "éké", "áké", "ké", "ééi", "áéi", "éi", "éé", "é"];

    private static readonly string[] _singularOwners =
    [
        "ünk", "unk", "ánk", "énk", "nk", "ájuk", "éjük", "juk", "jük", "uk", "ük", "em", "om", "am", "ám", "ém", "m", "od", "ed",
        "ad", "öd", "ád", "éd", "d", "ja", "je", "a", "e", "o", "á", "é",
    ];

    private static readonly string[] _pluralOwners =
    [
        "jaim", "jeim", "áim", "éim", "aim", "eim", "im", "jaid", "jeid", "áid", "éid", "aid", "eid", "id", "jai", "jei", "ái",
        "éi", "ai", "ei", "i", "jaink", "jeink", "eink", "aink", "áink", "éink",
        "ink", "jaitok", "jeitek", "aitok", "eitek", "áitok", "éitek", "itek", "jeik", "jaik", "aik", "eik", "áik", "éik", "ik",
    ];

    private static readonly string[] _plurals = ["ák", "ék", "ök", "ok", "ek", "ak", "k"];

    public override void Stem(StemWord word)
    {
        SetRegion(word);
        Undoubled(word, _instrumentals);
        if (word.Longest(_cases) is { } ending && word.EndsIn(ending, word.R1))
        {
            word.Cut(ending);
            Take(word, _factives);
        }

        Take(word, _specialCases);
        Take(word, _otherCases);
        Undoubled(word, _factives);
        Take(word, _owned, areOwned: true);
        Take(word, _singularOwners);
        Take(word, _pluralOwners);
        Take(word, _plurals);
    }

    /// <summary>
    /// In a word that begins with a vowel, R1 begins after the first consonant, which may have two letters or more; in other
    /// words, after the first vowel.
    /// </summary>
    private static void SetRegion(StemWord word)
    {
        int place = 0;
        if (word.Length == 0 || !Vowels.Contains(word[0]))
        {
            place = word.FirstVowel(0, Vowels);
            word.R1 = Math.Min(word.Length, place + 1);
            return;
        }

        while (place < word.Length && Vowels.Contains(word[place]))
            place++;
        word.R1 = word.Length;
        if (place == word.Length)
            return;
        word.R1 = place + 1;
        foreach (string digraph in _digraphs)
        {
            if (word.Text[place..].StartsWith(digraph))
            {
                word.R1 = place + digraph.Length;
                return;
            }
        }
    }

    /// <summary>
    /// Removes the longest of the endings if it lies in R1. The <c>á</c> or <c>é</c> at its beginning is the word's own
    /// vowel, lengthened by the ending, and stays as a short vowel; except for <c>-é</c> and <c>-éi</c>, which mark
    /// possession.
    /// </summary>
    private static void Take(StemWord word, string[] endings, bool areOwned = false)
    {
        if (word.Longest(endings) is not { } ending || !word.EndsIn(ending, word.R1))
            return;
        word.Cut(ending);
        if (ending[0] is 'á' or 'é' && !(areOwned && ending is "é" or "éi"))
            word.Append(ending[0] == 'á' ? "a" : "e");
    }

    /// <summary>Removes an ending after a double consonant, and one half of that consonant.</summary>
    private static void Undoubled(StemWord word, string[] endings)
    {
        if (word.Longest(endings) is not { } ending || !word.EndsIn(ending, word.R1))
            return;
        int length = word.Length;
        word.Cut(ending);
        if (word.Longest(_doubles) is null)
            word.Restore(length);
        else
            word.RemoveAt(word.Length - 2);
    }
}
