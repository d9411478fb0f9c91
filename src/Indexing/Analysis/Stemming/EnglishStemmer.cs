using System.Collections.Frozen;

namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems English words with the Porter2 algorithm.</summary>
internal sealed class EnglishStemmer : Stemmer
{
    private const string Vowels = "aeiouy";

    private static readonly FrozenDictionary<string, string> _special = new Dictionary<string, string>
    {
        ["skis"] = "ski",
        ["skies"] = "sky",
        ["dying"] = "die",
        ["lying"] = "lie",
        ["tying"] = "tie",
        ["idly"] = "idl",
        ["gently"] = "gentl",
        ["ugly"] = "ugli",
        ["early"] = "earli",
        ["only"] = "onli",
        ["singly"] = "singl",
        ["sky"] = "sky",
        ["news"] = "news",
        ["howe"] = "howe",
        ["atlas"] = "atlas",
        ["cosmos"] = "cosmos",
        ["bias"] = "bias",
        ["andes"] = "andes",
    }.ToFrozenDictionary(StringComparer.Ordinal);

    private static readonly string[] _doubles = ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"];
    private static readonly string[] _final =
        ["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"];
    private static readonly string[] _steps1B = ["eed", "eedly", "ed", "edly", "ing", "ingly"];

    private static readonly string[] _steps2 =
    [
        "tional", "enci", "anci", "abli", "entli", "izer", "ization", "ational", "ation", "ator", "alism", "aliti", "alli",
        "fulness", "ousli",
        "ousness", "iveness", "iviti", "biliti", "bli", "ogi", "fulli", "lessli", "li",
    ];

    private static readonly string[] _steps3 = ["tional", "ational", "alize", "icate", "iciti", "ical", "ful", "ness", "ative"];

    private static readonly string[] _steps4 =
    [
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
        "ion",
    ];

    public override void Stem(StemWord word)
    {
        word.ReplaceAll('\u2019', '\'');
        if (_special.GetAlternateLookup<ReadOnlySpan<char>>().TryGetValue(word.Text, out string? stem))
        {
            word.Cut(word.Length);
            word.Append(stem);
            return;
        }

        if (word.Length < 3)
            return;

        Begin(word);
        Step1A(word);
        if (!_final.AsSpan().Contains(word.Text.ToString()))
        {
            Step1B(word);
            Step1C(word);
            Step2(word);
            Step3(word);
            Step4(word);
            Step5(word);
        }

        word.ReplaceAll('Y', 'y');
    }

    private static void Begin(StemWord word)
    {
        if (word[0] == '\'')
            word.CutStart(1);
        for (int i = 0; i < word.Length; i++)
        {
            if (word[i] == 'y' && (i == 0 || Vowels.Contains(word[i - 1])))
                word[i] = 'Y';
        }

        string? prefix = Array.Find(["gener", "commun", "arsen"], start => word.Text.StartsWith(start));
        word.R1 = prefix?.Length ?? word.AfterVowelConsonant(0, Vowels);
        word.R2 = word.AfterVowelConsonant(word.R1, Vowels);
    }

    private static void Step1A(StemWord word)
    {
        if (word.Longest(["'", "'s", "'s'"]) is { } possessive)
            word.Cut(possessive);
        switch (word.Longest(["sses", "ied", "ies", "s", "us", "ss"]))
        {
            case "sses":
                word.Cut(2);
                break;
            case "ied" or "ies":
                word.Cut(word.Length > 4 ? 2 : 1);
                break;
            case "s":
                if (word.FirstVowel(0, Vowels) < word.Length - 2)
                    word.Cut(1);
                break;
        }
    }

    private static void Step1B(StemWord word)
    {
        if (word.Longest(_steps1B) is not { } suffix)
            return;
        if (suffix is "eed" or "eedly")
        {
            if (word.EndsIn(suffix, word.R1))
                word.Replace(suffix, "ee");
            return;
        }

        if (word.FirstVowel(0, Vowels) >= word.Length - suffix.Length)
            return;
        word.Cut(suffix);
        if (word.EndsWith("at") || word.EndsWith("bl") || word.EndsWith("iz"))
            word.Append("e");
        else if (word.Longest(_doubles) is not null)
            word.Cut(1);
        else if (word.Length == word.R1 && EndsShort(word))
            word.Append("e");
    }

    private static void Step1C(StemWord word)
    {
        if (word.FromEnd(0) is 'y' or 'Y' && word.Length > 2 && !Vowels.Contains(word.FromEnd(1)))
            word[word.Length - 1] = 'i';
    }

    private static void Step2(StemWord word)
    {
        if (word.Longest(_steps2) is not { } suffix || !word.EndsIn(suffix, word.R1))
            return;
        switch (suffix)
        {
            case "tional" or "entli" or "fulli" or "lessli" or "alli":
                word.Cut(2);
                break;
            case "enci" or "anci" or "abli" or "bli":
                word[word.Length - 1] = 'e';
                break;
            case "izer" or "ization":
                word.Replace(suffix, "ize");
                break;
            case "ational" or "ation" or "ator":
                word.Replace(suffix, "ate");
                break;
            case "alism" or "aliti":
                word.Replace(suffix, "al");
                break;
            case "fulness" or "ousness" or "iveness":
                word.Cut(4);
                break;
            case "ousli":
                word.Cut(2);
                break;
            case "iviti":
                word.Replace(suffix, "ive");
                break;
            case "biliti":
                word.Replace(suffix, "ble");
                break;
            case "ogi":
                if (word.EndsWith("logi"))
                    word.Cut(1);
                break;
            default:
                if ("cdeghkmnrt".Contains(word.FromEnd(2)))
                    word.Cut(2);
                break;
        }
    }

    private static void Step3(StemWord word)
    {
        if (word.Longest(_steps3) is not { } suffix || !word.EndsIn(suffix, word.R1))
            return;
        switch (suffix)
        {
            case "tional":
                word.Cut(2);
                break;
            case "ational":
                word.Replace(suffix, "ate");
                break;
            case "alize" or "icate" or "iciti":
                word.Cut(3);
                break;
            case "ical":
                word.Cut(2);
                break;
            case "ful" or "ness":
                word.Cut(suffix);
                break;
            default:
                if (word.EndsIn(suffix, word.R2))
                    word.Cut(suffix);
                break;
        }
    }

    private static void Step4(StemWord word)
    {
        if (word.Longest(_steps4) is not { } suffix || !word.EndsIn(suffix, word.R2))
            return;
        if (suffix != "ion" || word.FromEnd(3) is 's' or 't')
            word.Cut(suffix);
    }

    private static void Step5(StemWord word)
    {
        if (word.FromEnd(0) == 'e')
        {
            int place = word.Length - 1;
            if (place < word.R1)
                return;
            word.Cut(1);
            if (place < word.R2 && EndsShort(word))
                word.Append("e");
        }
        else if (word.EndsIn("l", word.R2) && word.FromEnd(1) == 'l')
        {
            word.Cut(1);
        }
    }

    /// <summary>
    /// Whether the word ends in a short syllable: consonant, vowel, and a consonant other than w, x and Y; or the whole word
    /// is a vowel and a consonant.
    /// </summary>
    private static bool EndsShort(StemWord word)
    {
        if (word.Length < 2 || !Vowels.Contains(word.FromEnd(1)))
            return false;
        char last = word.FromEnd(0);
        return word.Length == 2
            ? !Vowels.Contains(last)
            : !Vowels.Contains(last) && last is not ('w' or 'x' or 'Y') && !Vowels.Contains(word.FromEnd(2));
    }
}
