namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>
/// Stems Portuguese words. During stemming, a nasal vowel is split into the vowel and a tilde that counts as a consonant.
/// </summary>
internal sealed class PortugueseStemmer : Stemmer
{
    private const string Vowels = "aeiouáéíóúâêô";

    private static readonly string[] _standard =
    [
        "eza", "ezas", "ico", "ica", "icos", "icas", "ismo", "ismos", "ável", "ível", "ista", "istas", "oso", "osa", "osos",
        "osas", "amento",
        "amentos", "imento", "imentos", "adora", "ador", "aça~o", "adoras", "adores", "aço~es", "ante", "antes", "ância", "logia",
        "logias",
        "uça~o", "uço~es", "ência", "ências", "amente", "mente", "idade", "idades", "iva", "ivo", "ivas", "ivos", "ira", "iras",
    ];

    private static readonly string[] _verbs =
    [
        "ada", "ida", "ia", "aria", "eria", "iria", "ará", "ara", "erá", "era", "irá", "ava", "asse", "esse", "isse", "aste",
        "este", "iste", "ei",
        "arei", "erei", "irei", "am", "iam", "ariam", "eriam", "iriam", "aram", "eram", "iram", "avam", "em", "arem", "erem",
        "irem", "assem",
        "essem", "issem", "ado", "ido", "ando", "endo", "indo", "ara~o", "era~o", "ira~o", "ar", "er", "ir", "as", "adas", "idas",
        "ias", "arias",
        "erias", "irias", "arás", "aras", "erás", "eras", "irás", "avas", "es", "ardes", "erdes", "irdes", "ares", "eres", "ires",
        "asses", "esses",
        "isses", "astes", "estes", "istes", "is", "ais", "eis", "íeis", "aríeis", "eríeis", "iríeis", "áreis", "areis", "éreis",
        "ereis", "íreis",
        "ireis", "ásseis", "ésseis", "ísseis", "áveis", "ados", "idos", "ámos", "amos", "íamos", "aríamos", "eríamos", "iríamos",
        "áramos",
        "éramos", "íramos", "ávamos", "emos", "aremos", "eremos", "iremos", "ássemos", "êssemos", "íssemos", "imos", "armos",
        "ermos", "irmos",
        "eu", "iu", "ou", "ira", "iras",
    ];

    public override void Stem(StemWord word)
    {
        Separate(word);
        word.SetRegions(Vowels);
        word.SetRomanceRegion(Vowels);
        if (StandardSuffix(word) || VerbSuffix(word))
        {
            if (word.EndsIn("i", word.RV) && word.FromEnd(1) == 'c')
                word.Cut(1);
        }
        else if (word.Longest(["os", "a", "i", "o", "á", "í", "ó"]) is { } residual && word.EndsIn(residual, word.RV))
        {
            word.Cut(residual);
        }

        ResidualForm(word);
        Join(word);
    }

    private static void Separate(StemWord word)
    {
        for (int i = 0; i < word.Length; i++)
        {
            if (word[i] is not ('ã' or 'õ'))
                continue;
            word[i] = word[i] == 'ã' ? 'a' : 'o';
            word.Insert(i + 1, '~');
        }
    }

    private static void Join(StemWord word)
    {
        for (int i = 1; i < word.Length; i++)
        {
            if (word[i] != '~' || word[i - 1] is not ('a' or 'o'))
                continue;
            word[i - 1] = word[i - 1] == 'a' ? 'ã' : 'õ';
            word.RemoveAt(i);
        }
    }

    private static bool StandardSuffix(StemWord word)
    {
        if (word.Longest(_standard) is not { } suffix)
            return false;
        if (suffix is "ira" or "iras")
        {
            if (!word.EndsIn(suffix, word.RV) || word.FromEnd(suffix.Length) != 'e')
                return false;
            word.Replace(suffix, "ir");
            return true;
        }

        if (!word.EndsIn(suffix, suffix == "amente" ? word.R1 : word.R2))
            return false;
        word.Cut(suffix);
        switch (suffix)
        {
            case "logia" or "logias":
                word.Append("log");
                break;
            case "uça~o" or "uço~es":
                word.Append("u");
                break;
            case "ência" or "ências":
                word.Append("ente");
                break;
            case "amente":
                RomanceSuffixes.CutBeforeAmente(word, "os", "ic", "ad");
                break;
            case "mente":
                RomanceSuffixes.CutInR2(word, "ante", "avel", "ível");
                break;
            case "idade" or "idades":
                RomanceSuffixes.CutInR2(word, "abil", "ic", "iv");
                break;
            case "iva" or "ivo" or "ivas" or "ivos":
                RomanceSuffixes.CutInR2(word, "at");
                break;
        }

        return true;
    }

    private static bool VerbSuffix(StemWord word)
    {
        if (word.LongestIn(_verbs, word.RV) is not { } suffix)
            return false;
        word.Cut(suffix);
        return true;
    }

    private static void ResidualForm(StemWord word)
    {
        switch (word.FromEnd(0))
        {
            case 'e' or 'é' or 'ê' when word.Length - 1 >= word.RV:
                word.Cut(1);
                if ((word.EndsWith("gu") || word.EndsWith("ci")) && word.Length - 1 >= word.RV)
                    word.Cut(1);
                break;
            case 'ç':
                word[word.Length - 1] = 'c';
                break;
        }
    }
}
