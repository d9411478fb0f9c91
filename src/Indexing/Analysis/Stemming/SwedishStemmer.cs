namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Swedish words.</summary>
internal sealed class SwedishStemmer : Stemmer
{
    private const string BeforeS = "bcdfghjklmnoprtvy";

    private static readonly string[] _main =
    [
        "a", "arna", "erna", "heterna", "orna", "ad", "e", "ade", "ande", "arne", "are", "aste", "en", "anden", "aren", "heten",
        "ern", "ar", "er",
        "heter", "or", "as", "arnas", "ernas", "ornas", "es", "ades", "andes", "ens", "arens", "hetens", "erns", "at", "andet",
        "het", "ast", "s",
    ];

    public override void Stem(StemWord word)
    {
        word.SetRegions("aeiouyäåö");
        word.R1 = word.Length < 3 ? word.Length : Math.Max(3, word.R1);
        if (word.LongestIn(_main, word.R1) is { } suffix && (suffix != "s" || BeforeS.Contains(word.FromEnd(1))))
            word.Cut(suffix);
        if (word.LongestIn(["dd", "gd", "nn", "dt", "gt", "kt", "tt"], word.R1) is not null)
            word.Cut(1);
        switch (word.LongestIn(["lig", "ig", "els", "löst", "fullt"], word.R1))
        {
            case "löst" or "fullt":
                word.Cut(1);
                break;
            case { } other:
                word.Cut(other);
                break;
        }
    }
}
