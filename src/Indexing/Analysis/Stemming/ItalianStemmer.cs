namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Italian words. An elided article (<c>l'acqua</c>) is removed first.</summary>
internal sealed class ItalianStemmer : Stemmer
{
    private const string Vowels = "aeiouàèìòù";

    private static readonly string[] _elisions =
    [
        "c", "l", "all", "dall", "dell", "nell", "sull", "coll", "pell", "gl", "agl", "dagl", "degl", "negl", "sugl", "un", "m",
        "t", "s", "v", "d",
    ];

    private static readonly string[] _pronouns =
    [
        "ci", "gli", "la", "le", "li", "lo", "mi", "ne", "si", "ti", "vi", "sene", "gliela", "gliele", "glieli", "glielo",
        "gliene", "mela", "mele",
        "meli", "melo", "mene", "tela", "tele", "teli", "telo", "tene", "cela", "cele", "celi", "celo", "cene", "vela", "vele",
        "veli", "velo", "vene",
    ];

    private static readonly string[] _standard =
    [
        "anza", "anze", "ico", "ici", "ica", "ice", "iche", "ichi", "ismo", "ismi", "abile", "abili", "ibile", "ibili", "ista",
        "iste", "isti",
        "istà", "istè", "istì", "oso", "osi", "osa", "ose", "mente", "atrice", "atrici", "ante", "anti", "azione", "azioni",
        "atore", "atori",
        "logia", "logie", "uzione", "uzioni", "usione", "usioni", "enza", "enze", "amento", "amenti", "imento", "imenti",
        "amente", "ità", "ivo",
        "ivi", "iva", "ive",
    ];

    private static readonly string[] _verbs =
    [
        "ammo", "ando", "ano", "are", "arono", "asse", "assero", "assi", "assimo", "ata", "ate", "ati", "ato", "ava", "avamo",
        "avano", "avate",
        "avi", "avo", "emmo", "enda", "ende", "endi", "endo", "erà", "erai", "eranno", "ere", "erebbe", "erebbero", "erei",
        "eremmo", "eremo",
        "ereste", "eresti", "erete", "erò", "erono", "essero", "ete", "eva", "evamo", "evano", "evate", "evi", "evo", "Yamo",
        "iamo", "immo", "irà",
        "irai", "iranno", "ire", "irebbe", "irebbero", "irei", "iremmo", "iremo", "ireste", "iresti", "irete", "irò", "irono",
        "isca", "iscano",
        "isce", "isci", "isco", "iscono", "issero", "ita", "ite", "iti", "ito", "iva", "ivamo", "ivano", "ivate", "ivi", "ivo",
        "ono", "uta", "ute",
        "uti", "uto", "ar", "ir",
    ];

    public override void Stem(StemWord word)
    {
        Elision.Cut(word, _elisions);
        Begin(word);
        word.SetRegions(Vowels);
        word.SetRomanceRegion(Vowels);
        AttachedPronoun(word);
        if (!StandardSuffix(word) && word.LongestIn(_verbs, word.RV) is { } verb)
            word.Cut(verb);
        VowelSuffix(word);
        word.ReplaceAll('I', 'i');
        word.ReplaceAll('U', 'u');
    }

    private static void Begin(StemWord word)
    {
        word.ReplaceAll('á', 'à');
        word.ReplaceAll('é', 'è');
        word.ReplaceAll('í', 'ì');
        word.ReplaceAll('ó', 'ò');
        word.ReplaceAll('ú', 'ù');
        for (int i = 1; i < word.Length; i++)
        {
            if (word[i] == 'u' && word[i - 1] == 'q')
                word[i] = 'U';
        }

        for (int i = 1; i + 1 < word.Length; i++)
        {
            if (word[i] is 'u' or 'i' && Vowels.Contains(word[i - 1]) && Vowels.Contains(word[i + 1]))
                word[i] = char.ToUpperInvariant(word[i]);
        }
    }

    private static void AttachedPronoun(StemWord word)
    {
        if (word.Longest(_pronouns) is not { } pronoun)
            return;

        int length = word.Length;
        word.Cut(pronoun);
        if (word.EndsIn("ando", word.RV) || word.EndsIn("endo", word.RV))
            return;
        if (word.EndsIn("ar", word.RV) || word.EndsIn("er", word.RV) || word.EndsIn("ir", word.RV))
            word.Append("e");
        else
            word.Restore(length);
    }

    private static bool StandardSuffix(StemWord word)
    {
        if (word.Longest(_standard) is not { } suffix)
            return false;

        int region = suffix switch
        {
            "amente" => word.R1,
            "amento" or "amenti" or "imento" or "imenti" => word.RV,
            _ => word.R2,
        };
        if (!word.EndsIn(suffix, region))
            return false;
        word.Cut(suffix);
        switch (suffix)
        {
            case "azione" or "azioni" or "atore" or "atori":
                RomanceSuffixes.CutInR2(word, "ic");
                break;
            case "logia" or "logie":
                word.Append("log");
                break;
            case "uzione" or "uzioni" or "usione" or "usioni":
                word.Append("u");
                break;
            case "enza" or "enze":
                word.Append("ente");
                break;
            case "amente":
                RomanceSuffixes.CutBeforeAmente(word, "os", "ic", "abil");
                break;
            case "ità":
                RomanceSuffixes.CutInR2(word, "abil", "ic", "iv");
                break;
            case "ivo" or "ivi" or "iva" or "ive":
                if (RomanceSuffixes.CutInR2(word, "at"))
                    RomanceSuffixes.CutInR2(word, "ic");
                break;
        }

        return true;
    }

    private static void VowelSuffix(StemWord word)
    {
        if (word.Length - 1 >= word.RV && "aeioàèìò".Contains(word.FromEnd(0)))
        {
            word.Cut(1);
            if (word.EndsIn("i", word.RV))
                word.Cut(1);
        }

        if (word.EndsWith("ch") || word.EndsWith("gh"))
        {
            // The c or g must lie in the region, not only the h.
            if (word.Length - 2 >= word.RV)
                word.Cut(1);
        }
    }
}
