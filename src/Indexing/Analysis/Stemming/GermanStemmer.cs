namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems German words. Umlauts become plain vowels; ß has already been folded to ss.</summary>
internal sealed class GermanStemmer : Stemmer
{
    private const string Vowels = "aeiouyäöü";
    private const string BeforeS = "bdfghklmnrt";
    private const string BeforeSt = "bdfghklmnt";

    private static readonly string[] _steps1 = ["em", "ern", "er", "e", "en", "es", "s"];
    private static readonly string[] _steps2 = ["en", "er", "est", "st"];
    private static readonly string[] _steps3 = ["end", "ung", "ig", "ik", "isch", "lich", "heit", "keit"];

    public override void Stem(StemWord word)
    {
        for (int i = 1; i + 1 < word.Length; i++)
        {
            if (word[i] is 'u' or 'y' && Vowels.Contains(word[i - 1]) && Vowels.Contains(word[i + 1]))
                word[i] = char.ToUpperInvariant(word[i]);
        }

        word.SetRegions(Vowels);
        word.R1 = word.Length < 3 ? word.Length : Math.Max(3, word.R1);
        Step1(word);
        Step2(word);
        Step3(word);
        word.ReplaceAll('U', 'u');
        word.ReplaceAll('Y', 'y');
        word.ReplaceAll('ä', 'a');
        word.ReplaceAll('ö', 'o');
        word.ReplaceAll('ü', 'u');
    }

    private static void Step1(StemWord word)
    {
        if (word.Longest(_steps1) is not { } suffix || !word.EndsIn(suffix, word.R1))
            return;
        if (suffix == "s")
        {
            if (BeforeS.Contains(word.FromEnd(1)))
                word.Cut(1);
            return;
        }

        word.Cut(suffix);
        if (suffix is "e" or "en" or "es" && word.EndsWith("niss"))
            word.Cut(1);
    }

    private static void Step2(StemWord word)
    {
        if (word.Longest(_steps2) is not { } suffix || !word.EndsIn(suffix, word.R1))
            return;
        if (suffix != "st" || (BeforeSt.Contains(word.FromEnd(2)) && word.Length >= 6))
            word.Cut(suffix);
    }

    private static void Step3(StemWord word)
    {
        if (word.Longest(_steps3) is not { } suffix || !word.EndsIn(suffix, word.R2))
            return;
        switch (suffix)
        {
            case "end" or "ung":
                word.Cut(suffix);
                if (word.EndsIn("ig", word.R2) && word.FromEnd(2) != 'e')
                    word.Cut(2);
                break;
            case "ig" or "ik" or "isch":
                if (word.FromEnd(suffix.Length) != 'e')
                    word.Cut(suffix);
                break;
            case "lich" or "heit":
                word.Cut(suffix);
                if (word.EndsIn("er", word.R1) || word.EndsIn("en", word.R1))
                    word.Cut(2);
                break;
            default:
                word.Cut(suffix);
                if (word.Longest(["lich", "ig"]) is { } inner && word.EndsIn(inner, word.R2))
                    word.Cut(inner);
                break;
        }
    }
}
