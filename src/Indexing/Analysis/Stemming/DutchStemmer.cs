namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Dutch words.</summary>
internal sealed class DutchStemmer : Stemmer
{
    private const string Vowels = "aeiouyè";

    public override void Stem(StemWord word)
    {
        Begin(word);
        word.SetRegions(Vowels);
        word.R1 = Math.Max(3, word.R1);
        Step1(word);
        bool foundE = CutE(word);
        if (word.EndsIn("heid", word.R2) && word.FromEnd(4) != 'c')
        {
            word.Cut(4);
            if (word.EndsWith("en"))
                CutEn(word, "en");
        }

        Step3(word, foundE);
        UndoubleVowel(word);
        word.ReplaceAll('Y', 'y');
        word.ReplaceAll('I', 'i');
    }

    private static void Begin(StemWord word)
    {
        const string Marked = "äáëéïíöóüú";
        const string Plain = "aaeeiioouu";
        for (int i = 0; i < Marked.Length; i++)
            word.ReplaceAll(Marked[i], Plain[i]);
        if (word.Length > 0 && word[0] == 'y')
            word[0] = 'Y';
        for (int i = 1; i < word.Length; i++)
        {
            if (!Vowels.Contains(word[i - 1]))
                continue;
            if (word[i] == 'y')
                word[i] = 'Y';
            else if (word[i] == 'i' && Vowels.Contains(word.At(i + 1)))
                word[i] = 'I';
        }
    }

    private static void Step1(StemWord word)
    {
        switch (word.Longest(["heden", "en", "ene", "s", "se"]))
        {
            case "heden":
                if (word.EndsIn("heden", word.R1))
                    word.Replace("heden", "heid");
                break;
            case { } en when en[0] == 'e':
                CutEn(word, en);
                break;
            case { } s:
                if (word.EndsIn(s, word.R1) && word.Length > s.Length && !(Vowels + "j").Contains(word.FromEnd(s.Length)))
                    word.Cut(s);
                break;
        }
    }

    private static bool CutE(StemWord word)
    {
        if (!word.EndsIn("e", word.R1) || word.Length < 2 || Vowels.Contains(word.FromEnd(1)))
            return false;
        word.Cut(1);
        Undouble(word);
        return true;
    }

    private static void CutEn(StemWord word, string ending)
    {
        if (!word.EndsIn(ending, word.R1) || word.Length <= ending.Length || Vowels.Contains(word.FromEnd(ending.Length)))
            return;
        if (word.Text[..^ending.Length].EndsWith("gem"))
            return;
        word.Cut(ending);
        Undouble(word);
    }

    private static void Step3(StemWord word, bool foundE)
    {
        if (word.Longest(["end", "ing", "ig", "lijk", "baar", "bar"]) is not { } suffix || !word.EndsIn(suffix, word.R2))
            return;
        switch (suffix)
        {
            case "end" or "ing":
                word.Cut(suffix);
                if (word.EndsIn("ig", word.R2) && word.FromEnd(2) != 'e')
                    word.Cut(2);
                else
                    Undouble(word);
                break;
            case "ig":
                if (word.FromEnd(2) != 'e')
                    word.Cut(2);
                break;
            case "lijk":
                word.Cut(suffix);
                CutE(word);
                break;
            case "baar":
                word.Cut(suffix);
                break;
            default:
                if (foundE)
                    word.Cut(suffix);
                break;
        }
    }

    private static void Undouble(StemWord word)
    {
        if (word.EndsWith("kk") || word.EndsWith("dd") || word.EndsWith("tt"))
            word.Cut(1);
    }

    private static void UndoubleVowel(StemWord word)
    {
        if (word.Length < 4)
            return;
        char last = word.FromEnd(0);
        char vowel = word.FromEnd(1);
        if (!Vowels.Contains(last)
            && last != 'I'
            && vowel is 'a' or 'e' or 'o' or 'u'
            && word.FromEnd(2) == vowel
            && !Vowels.Contains(word.FromEnd(3)))
            word.RemoveAt(word.Length - 2);
    }
}
