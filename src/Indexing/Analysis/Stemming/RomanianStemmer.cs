namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>
/// Stems Romanian words. Letters with a comma below are treated like those with a cedilla, which are also in use.
/// </summary>
internal sealed class RomanianStemmer : Stemmer
{
    private const string Vowels = "aeiouâîă";

    private static readonly string[] _articles =
    [
        "ul", "ului", "aua", "ea", "ele", "elor", "ii", "iua", "iei", "iile", "iilor", "ilor", "ile", "atei", "aţie", "aţia",
    ];

    /// <summary>Combined suffixes, grouped by the suffix that replaces them.</summary>
    private static readonly (string Stem, string[] Suffixes)[] _combined =
    [
        ("abil", ["abilitate", "abilitati", "abilităi", "abilităţi"]),
        ("ibil", ["ibilitate"]),
        ("iv", ["ivitate", "ivitati", "ivităi", "ivităţi"]),
        ("ic",
        [
            "icitate", "icitati", "icităi", "icităţi", "icator", "icatori", "iciv", "iciva", "icive", "icivi", "icivă", "ical",
            "icala", "icale", "icali", "icală"
        ]),
        ("at", ["ativ", "ativa", "ative", "ativi", "ativă", "aţiune", "atoare", "ator", "atori", "ătoare", "ător", "ători"]),
        ("it", ["itiv", "itiva", "itive", "itivi", "itivă", "iţiune", "itoare", "itor", "itori"]),
    ];

    private static readonly string[] _combinedSuffixes = [.. _combined.SelectMany(static kind => kind.Suffixes)];

    private static readonly string[] _standard =
    [
        "at", "ata", "ată", "ati", "ate", "ut", "uta", "ută", "uti", "ute", "it", "ita", "ită", "iti", "ite", "ic", "ica", "ice",
        "ici", "ică", "abil", "abila", "abile", "abili", "abilă", "ibil", "ibila",
        "ibile", "ibili", "ibilă", "oasa", "oasă", "oase", "os", "osi", "oşi", "ant", "anta", "ante", "anti", "antă", "ator",
        "atori", "itate", "itati", "ităi", "ităţi", "iv", "iva", "ive", "ivi", "ivă",
        "iune", "iuni", "ism", "isme", "ist", "ista", "iste", "isti", "istă", "işti",
    ];

    /// <summary>Endings of verbs that must follow a consonant or <c>u</c>.</summary>
    private static readonly string[] _verbs =
    [
        "are", "ere", "ire", "âre", "ind", "ând", "indu", "ându", "eze", "ească", "ez", "ezi", "ează", "esc", "eşti", "eşte",
        "ăsc", "ăşti", "ăşte", "am", "ai", "au", "eam", "eai", "ea", "eaţi", "eau",
        "iam", "iai", "ia", "iaţi", "iau", "ui", "aşi", "arăm", "arăţi", "ară", "uşi", "urăm", "urăţi", "ură", "işi", "irăm",
        "irăţi", "iră", "âi", "âşi", "ârăm", "ârăţi", "âră", "asem", "aseşi", "ase",
        "aserăm", "aserăţi", "aseră", "isem", "iseşi", "ise", "iserăm", "iserăţi", "iseră", "âsem", "âseşi", "âse", "âserăm",
        "âserăţi", "âseră", "usem", "useşi", "use", "userăm", "userăţi", "useră",
    ];

    private static readonly string[] _plainVerbs =
    [
        "ăm", "aţi", "em", "eţi", "im", "iţi", "âm", "âţi", "seşi", "serăm", "serăţi", "seră", "sei", "se", "sesem", "seseşi",
        "sese", "seserăm", "seserăţi", "seseră",
    ];

    private static readonly string[] _allVerbs = [.. _verbs, .. _plainVerbs];

    public override void Stem(StemWord word)
    {
        word.ReplaceAll('ș', 'ş');
        word.ReplaceAll('ț', 'ţ');
        for (int i = 1; i + 1 < word.Length; i++)
        {
            if (word[i] is 'u' or 'i' && Vowels.Contains(word[i - 1]) && Vowels.Contains(word[i + 1]))
                word[i] = char.ToUpperInvariant(word[i]);
        }

        word.SetRegions(Vowels);
        word.SetRomanceRegion(Vowels);
        Article(word);
        bool isCut = false;
        while (CombinedSuffix(word))
            isCut = true;
        if (!StandardSuffix(word) && !isCut)
            Verb(word);
        if (word.Longest(["a", "e", "i", "ie", "ă"]) is { } vowel && word.EndsIn(vowel, word.RV))
            word.Cut(vowel);
        word.ReplaceAll('I', 'i');
        word.ReplaceAll('U', 'u');
    }

    private static void Article(StemWord word)
    {
        if (word.Longest(_articles) is not { } suffix || !word.EndsIn(suffix, word.R1))
            return;
        switch (suffix)
        {
            case "ul" or "ului":
                word.Cut(suffix);
                break;
            case "aua":
                word.Replace(suffix, "a");
                break;
            case "ea" or "ele" or "elor":
                word.Replace(suffix, "e");
                break;
            case "ile":
                if (!word.Text[..^3].EndsWith("ab"))
                    word.Replace(suffix, "i");
                break;
            case "atei":
                word.Replace(suffix, "at");
                break;
            case "aţie" or "aţia":
                word.Replace(suffix, "aţi");
                break;
            default:
                word.Replace(suffix, "i");
                break;
        }
    }

    private static bool CombinedSuffix(StemWord word)
    {
        if (word.Longest(_combinedSuffixes) is not { } suffix || !word.EndsIn(suffix, word.R1))
            return false;
        word.Replace(suffix, _combined.First(kind => kind.Suffixes.Contains(suffix)).Stem);
        return true;
    }

    private static bool StandardSuffix(StemWord word)
    {
        if (word.Longest(_standard) is not { } suffix || !word.EndsIn(suffix, word.R2))
            return false;
        switch (suffix)
        {
            case "iune" or "iuni":
                if (word.FromEnd(suffix.Length) != 'ţ')
                    return false;
                word.Replace("ţ" + suffix, "t");
                break;
            case "ism" or "isme" or "ist" or "ista" or "iste" or "isti" or "istă" or "işti":
                word.Replace(suffix, "ist");
                break;
            default:
                word.Cut(suffix);
                break;
        }

        return true;
    }

    private static void Verb(StemWord word)
    {
        if (word.LongestIn(_allVerbs, word.RV) is not { } ending)
            return;
        if (_plainVerbs.Contains(ending))
        {
            word.Cut(ending);
            return;
        }

        // The letter before the ending must lie in the region as well.
        char before = word.FromEnd(ending.Length);
        if (word.Length - ending.Length > word.RV && (before == 'u' || !Vowels.Contains(before)))
            word.Cut(ending);
    }
}
