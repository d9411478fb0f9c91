namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Norwegian words of both written standards.</summary>
internal sealed class NorwegianStemmer : Stemmer
{
    private const string Vowels = "aeiouyæåø";
    private const string BeforeS = "bcdfghjlmnoprtvyz";

    private static readonly string[] _main =
    [
        "a", "e", "ede", "ande", "ende", "ane", "ene", "hetene", "en", "heten", "ar", "er", "heter", "as", "es", "edes", "endes",
        "enes", "hetenes",
        "ens", "hetens", "ers", "ets", "et", "het", "ast", "s", "erte", "ert",
    ];

    private static readonly string[] _other =
        ["leg", "eleg", "ig", "eig", "lig", "elig", "els", "lov", "elov", "slov", "hetslov"];

    public override void Stem(StemWord word)
    {
        word.SetRegions(Vowels);
        word.R1 = word.Length < 3 ? word.Length : Math.Max(3, word.R1);
        switch (word.LongestIn(_main, word.R1))
        {
            case "s":
                char before = word.FromEnd(1);
                if (BeforeS.Contains(before) || (before == 'k' && word.Length > 2 && !Vowels.Contains(word.FromEnd(2))))
                    word.Cut(1);
                break;
            case "erte":
                word.Cut(2);
                break;
            case "ert":
                word.Cut(1);
                break;
            case { } suffix:
                word.Cut(suffix);
                break;
        }

        if (word.LongestIn(["dt", "vt"], word.R1) is not null)
            word.Cut(1);
        if (word.LongestIn(_other, word.R1) is { } other)
            word.Cut(other);
    }
}
