namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems French words. An elided article (<c>l'avion</c>) is removed first.</summary>
internal sealed class FrenchStemmer : Stemmer
{
    private const string Vowels = "aeiouyâàëéêèïîôûù";

    private static readonly string[] _elisions =
        ["l", "d", "j", "m", "t", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu"];

    private static readonly string[] _standard =
    [
        "ance", "iqUe", "isme", "able", "iste", "eux", "ances", "iqUes", "ismes", "ables", "istes", "atrice", "ateur", "ation",
        "atrices",
        "ateurs", "ations", "logie", "logies", "usion", "ution", "usions", "utions", "ence", "ences", "ement", "ements", "ité",
        "ités", "if",
        "ive", "ifs", "ives", "eaux", "aux", "euse", "euses", "issement", "issements", "amment", "emment", "ment", "ments",
    ];

    private static readonly string[] _iVerbs =
    [
        "îmes", "ît", "îtes", "i", "ie", "ies", "ir", "ira", "irai", "iraIent", "irais", "irait", "iras", "irent", "irez",
        "iriez", "irions",
        "irons", "iront", "is", "issaIent", "issais", "issait", "issant", "issante", "issantes", "issants", "isse", "issent",
        "isses", "issez",
        "issiez", "issions", "issons", "it",
    ];

    private static readonly string[] _eVerbs =
    [
        "é", "ée", "ées", "és", "èrent", "er", "era", "erai", "eraIent", "erais", "erait", "eras", "erez", "eriez", "erions",
        "erons", "eront",
        "ez", "iez",
    ];

    private static readonly string[] _aVerbs =
    [
        "âmes", "ât", "âtes", "a", "ai", "aIent", "ais", "ait", "ant", "ante", "antes", "ants", "as", "asse", "assent", "asses",
        "assiez", "assions",
    ];

    private static readonly string[] _verbs = ["ions", .. _eVerbs, .. _aVerbs];

    public override void Stem(StemWord word)
    {
        Elision.Cut(word, _elisions);
        Begin(word);
        SetRegions(word);
        if (StandardSuffix(word) || IVerbSuffix(word) || VerbSuffix(word))
        {
            if (word.FromEnd(0) == 'Y')
                word[word.Length - 1] = 'i';
            else if (word.FromEnd(0) == 'ç')
                word[word.Length - 1] = 'c';
        }
        else
        {
            ResidualSuffix(word);
        }

        if (word.Longest(["enn", "onn", "ett", "ell", "eill"]) is not null)
            word.Cut(1);
        UnAccent(word);
        End(word);
    }

    /// <summary>
    /// Marks vowels that count as consonants by capitals. At each place, the rules are repeated until none applies.
    /// </summary>
    private static void Begin(StemWord word)
    {
        for (int i = 0; i < word.Length;)
        {
            char next = word.At(i + 1);
            bool isVowel = Vowels.Contains(word[i]);
            if (isVowel && next is 'u' or 'i' && Vowels.Contains(word.At(i + 2)))
                word[i + 1] = char.ToUpperInvariant(next);
            else if (isVowel && next == 'y')
                word[i + 1] = 'Y';
            else if (word[i] is 'ë' or 'ï')
                Separate(word, i);
            else if (word[i] == 'y' && Vowels.Contains(next))
                word[i] = 'Y';
            else if (word[i] == 'q' && next == 'u')
                word[i + 1] = 'U';
            else
                i++;
        }
    }

    /// <summary>A diaeresis separates its vowel from the one before. This is marked by an H.</summary>
    private static void Separate(StemWord word, int place)
    {
        word[place] = word[place] == 'ë' ? 'e' : 'i';
        word.Insert(place, 'H');
    }

    private static void SetRegions(StemWord word)
    {
        word.SetRegions(Vowels);
        ReadOnlySpan<char> text = word.Text;
        if (text.Length >= 3 && Vowels.Contains(text[0]) && Vowels.Contains(text[1]))
            word.RV = 3;
        else if (text.StartsWith("par") || text.StartsWith("col") || text.StartsWith("tap"))
            word.RV = 3;
        else
            word.RV = Math.Min(text.Length, word.FirstVowel(1, Vowels) + 1);
    }

    private static bool StandardSuffix(StemWord word)
    {
        if (word.Longest(_standard) is not { } suffix)
            return false;
        bool inR1 = word.EndsIn(suffix, word.R1);
        bool inR2 = word.EndsIn(suffix, word.R2);
        bool inRV = word.EndsIn(suffix, word.RV);
        switch (suffix)
        {
            case "eaux":
                word.Cut(1);
                return true;
            case "aux":
                if (inR1)
                    word.Replace(suffix, "al");
                return inR1;
            case "euse" or "euses":
                if (inR2)
                    word.Cut(suffix);
                else if (inR1)
                    word.Replace(suffix, "eux");
                return inR1;
            case "issement" or "issements":
                if (!inR1 || word.Length == suffix.Length || Vowels.Contains(word.FromEnd(suffix.Length)))
                    return false;
                word.Cut(suffix);
                return true;
            case "amment" or "emment":
                // The result has the form of a verb and is cut further as one; the same applies to the next case.
                if (inRV)
                    word.Replace(suffix, suffix == "amment" ? "ant" : "ent");
                return false;
            case "ment" or "ments":
                int before = word.Length - suffix.Length - 1;
                if (before >= word.RV && Vowels.Contains(word[before]))
                    word.Cut(suffix);
                return false;
            case "ement" or "ements":
                if (inRV)
                    Ement(word, suffix);
                return inRV;
            default:
                if (inR2)
                    InR2(word, suffix);
                return inR2;
        }
    }

    private static void InR2(StemWord word, string suffix)
    {
        word.Cut(suffix);
        switch (suffix)
        {
            case "atrice" or "ateur" or "ation" or "atrices" or "ateurs" or "ations":
                Ic(word);
                break;
            case "logie" or "logies":
                word.Append("log");
                break;
            case "usion" or "ution" or "usions" or "utions":
                word.Append("u");
                break;
            case "ence" or "ences":
                word.Append("ent");
                break;
            case "ité" or "ités":
                if (word.EndsWith("abil"))
                    CutOrReplace(word, "abil", "abl");
                else if (word.EndsWith("ic"))
                    Ic(word);
                else if (word.EndsIn("iv", word.R2))
                    word.Cut(2);
                break;
            case "if" or "ive" or "ifs" or "ives":
                if (word.EndsIn("at", word.R2))
                {
                    word.Cut(2);
                    Ic(word);
                }

                break;
        }
    }

    private static void Ement(StemWord word, string suffix)
    {
        word.Cut(suffix);
        if (word.EndsWith("iv"))
        {
            if (!word.EndsIn("iv", word.R2))
                return;
            word.Cut(2);
            if (word.EndsIn("at", word.R2))
                word.Cut(2);
        }
        else if (word.EndsWith("eus"))
        {
            if (word.EndsIn("eus", word.R2))
                word.Cut(3);
            else if (word.EndsIn("eus", word.R1))
                word.Replace("eus", "eux");
        }
        else if (word.EndsIn("abl", word.R2) || word.EndsIn("iqU", word.R2))
        {
            word.Cut(3);
        }
        else if (word.EndsIn("ièr", word.RV) || word.EndsIn("Ièr", word.RV))
        {
            word.Replace("ièr", "i");
        }
    }

    private static void Ic(StemWord word)
    {
        if (word.EndsWith("ic"))
            CutOrReplace(word, "ic", "iqU");
    }

    private static void CutOrReplace(StemWord word, string suffix, string ending)
    {
        if (word.EndsIn(suffix, word.R2))
            word.Cut(suffix);
        else
            word.Replace(suffix, ending);
    }

    private static bool IVerbSuffix(StemWord word)
    {
        if (word.LongestIn(_iVerbs, word.RV) is not { } suffix)
            return false;
        int before = word.Length - suffix.Length - 1;
        if (before < word.RV || Vowels.Contains(word[before]) || word[before] == 'H')
            return false;
        word.Cut(suffix);
        return true;
    }

    private static bool VerbSuffix(StemWord word)
    {
        if (word.LongestIn(_verbs, word.RV) is not { } suffix)
            return false;
        if (suffix == "ions")
        {
            if (!word.EndsIn(suffix, word.R2))
                return false;
            word.Cut(suffix);
            return true;
        }

        word.Cut(suffix);
        if (_aVerbs.AsSpan().Contains(suffix) && word.EndsIn("e", word.RV))
            word.Cut(1);
        return true;
    }

    private static void ResidualSuffix(StemWord word)
    {
        if (word.FromEnd(0) == 's' && word.Length > 1 && (word.EndsWith("His") || !"aiouès".Contains(word.FromEnd(1))))
            word.Cut(1);
        switch (word.LongestIn(["ion", "ier", "ière", "Ier", "Ière", "e"], word.RV))
        {
            case "ion":
                if (word.EndsIn("ion", word.R2) && word.FromEnd(3) is 's' or 't' && word.Length - 4 >= word.RV)
                    word.Cut(3);
                break;
            case "ier" or "Ier":
                word.Replace("ier", "i");
                break;
            case "ière" or "Ière":
                word.Replace("ière", "i");
                break;
            case "e":
                word.Cut(1);
                break;
        }
    }

    private static void UnAccent(StemWord word)
    {
        int place = word.Length - 1;
        while (place >= 0 && !Vowels.Contains(word[place]))
            place--;
        if (place >= 0 && place < word.Length - 1 && word[place] is 'é' or 'è')
            word[place] = 'e';
    }

    private static void End(StemWord word)
    {
        for (int i = 0; i < word.Length; i++)
        {
            switch (word[i])
            {
                case 'I' or 'U' or 'Y':
                    word[i] = char.ToLowerInvariant(word[i]);
                    break;
                case 'H':
                    word.RemoveAt(i);
                    if (i < word.Length && word[i] is 'e' or 'i')
                        word[i] = word[i] == 'e' ? 'ë' : 'ï';
                    else
                        i--;
                    break;
            }
        }
    }
}
