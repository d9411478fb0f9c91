namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Danish words.</summary>
internal sealed class DanishStemmer : Stemmer
{
    private const string Consonants = "bcdfghjklmnpqrstvwxz";
    private const string BeforeS = "abcdfghjklmnoprtvyzå";

    private static readonly string[] _main =
    [
        "hed", "ethed", "ered", "e", "erede", "ende", "erende", "ene", "erne", "ere", "en", "heden", "eren", "er", "heder",
        "erer", "heds", "es",
        "endes", "erendes", "enes", "ernes", "eres", "ens", "hedens", "erens", "ers", "ets", "erets", "et", "eret", "s",
    ];

    public override void Stem(StemWord word)
    {
        word.SetRegions("aeiouyæåø");
        word.R1 = word.Length < 3 ? word.Length : Math.Max(3, word.R1);
        if (word.LongestIn(_main, word.R1) is { } suffix && (suffix != "s" || BeforeS.Contains(word.FromEnd(1))))
            word.Cut(suffix);
        CutPair(word);
        if (word.EndsWith("igst"))
            word.Cut(2);
        switch (word.LongestIn(["ig", "lig", "elig", "els", "løst"], word.R1))
        {
            case "løst":
                word.Cut(1);
                break;
            case { } other:
                word.Cut(other);
                CutPair(word);
                break;
        }

        if (word.Length - 1 >= word.R1 && Consonants.Contains(word.FromEnd(0)) && word.FromEnd(1) == word.FromEnd(0))
            word.Cut(1);
    }

    private static void CutPair(StemWord word)
    {
        if (word.LongestIn(["gd", "dt", "gt", "kt"], word.R1) is not null)
            word.Cut(1);
    }
}
