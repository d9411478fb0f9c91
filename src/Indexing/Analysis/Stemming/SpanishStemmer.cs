namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Stems Spanish words.</summary>
internal sealed class SpanishStemmer : Stemmer
{
    private const string Vowels = "aeiouáéíóúü";

    private static readonly string[] _pronouns =
        ["me", "se", "sela", "selo", "selas", "selos", "la", "le", "lo", "las", "les", "los", "nos"];
    private static readonly string[] _beforePronouns =
        ["iéndo", "ándo", "ár", "ér", "ír", "ando", "iendo", "ar", "er", "ir", "yendo"];

    private static readonly string[] _standard =
    [
        "anza", "anzas", "ico", "ica", "icos", "icas", "ismo", "ismos", "able", "ables", "ible", "ibles", "ista", "istas", "oso",
        "osa", "osos",
        "osas", "amiento", "amientos", "imiento", "imientos", "adora", "ador", "ación", "adoras", "adores", "aciones", "ante",
        "antes", "ancia",
        "ancias", "acion", "logía", "logías", "ución", "uciones", "encia", "encias", "amente", "mente", "idad", "idades", "iva",
        "ivo", "ivas", "ivos",
    ];

    private static readonly string[] _yVerbs =
        ["ya", "ye", "yan", "yen", "yeron", "yendo", "yo", "yó", "yas", "yes", "yais", "yamos"];

    private static readonly string[] _verbs =
    [
        "en", "es", "éis", "emos", "arían", "arías", "arán", "arás", "aríais", "aría", "aréis", "aríamos", "aremos", "ará", "aré",
        "erían", "erías",
        "erán", "erás", "eríais", "ería", "eréis", "eríamos", "eremos", "erá", "eré", "irían", "irías", "irán", "irás", "iríais",
        "iría", "iréis",
        "iríamos", "iremos", "irá", "iré", "aba", "ada", "ida", "ía", "ara", "iera", "ad", "ed", "id", "ase", "iese", "aste",
        "iste", "an", "aban",
        "ían", "aran", "ieran", "asen", "iesen", "aron", "ieron", "ado", "ido", "ando", "iendo", "ió", "ar", "er", "ir", "as",
        "abas", "adas",
        "idas", "ías", "aras", "ieras", "ases", "ieses", "ís", "áis", "abais", "íais", "arais", "ierais", "aseis", "ieseis",
        "asteis", "isteis",
        "ados", "idos", "amos", "ábamos", "íamos", "imos", "áramos", "iéramos", "iésemos", "ásemos",
    ];

    public override void Stem(StemWord word)
    {
        word.SetRegions(Vowels);
        word.SetRomanceRegion(Vowels);
        AttachedPronoun(word);
        if (!StandardSuffix(word) && !YVerbSuffix(word))
            VerbSuffix(word);
        ResidualSuffix(word);
        word.ReplaceAll('á', 'a');
        word.ReplaceAll('é', 'e');
        word.ReplaceAll('í', 'i');
        word.ReplaceAll('ó', 'o');
        word.ReplaceAll('ú', 'u');
    }

    private static void AttachedPronoun(StemWord word)
    {
        if (word.Longest(_pronouns) is not { } pronoun)
            return;

        int length = word.Length;
        word.Cut(pronoun);
        string? before = word.Longest(_beforePronouns);
        if (before is null || !word.EndsIn(before, word.RV) || (before == "yendo" && word.FromEnd(5) != 'u'))
        {
            word.Restore(length);
            return;
        }

        if (before is "iéndo" or "ándo" or "ár" or "ér" or "ír")
            word.Replace(before, before switch { "iéndo" => "iendo", "ándo" => "ando", "ár" => "ar", "ér" => "er", _ => "ir" });
    }

    private static bool StandardSuffix(StemWord word)
    {
        if (word.Longest(_standard) is not { } suffix || !word.EndsIn(suffix, suffix == "amente" ? word.R1 : word.R2))
            return false;

        word.Cut(suffix);
        switch (suffix)
        {
            case "adora" or "ador" or "ación" or "adoras" or "adores" or "aciones" or "ante" or "antes" or "ancia" or "ancias"
                or "acion":
                RomanceSuffixes.CutInR2(word, "ic");
                break;
            case "logía" or "logías":
                word.Append("log");
                break;
            case "ución" or "uciones":
                word.Append("u");
                break;
            case "encia" or "encias":
                word.Append("ente");
                break;
            case "amente":
                RomanceSuffixes.CutBeforeAmente(word, "os", "ic", "ad");
                break;
            case "mente":
                RomanceSuffixes.CutInR2(word, "ante", "able", "ible");
                break;
            case "idad" or "idades":
                RomanceSuffixes.CutInR2(word, "abil", "ic", "iv");
                break;
            case "iva" or "ivo" or "ivas" or "ivos":
                RomanceSuffixes.CutInR2(word, "at");
                break;
        }

        return true;
    }

    private static bool YVerbSuffix(StemWord word)
    {
        if (word.LongestIn(_yVerbs, word.RV) is not { } suffix || word.FromEnd(suffix.Length) != 'u')
            return false;
        word.Cut(suffix);
        return true;
    }

    private static void VerbSuffix(StemWord word)
    {
        if (word.LongestIn(_verbs, word.RV) is not { } suffix)
            return;
        word.Cut(suffix);
        if (suffix is "en" or "es" or "éis" or "emos" && word.EndsWith("gu"))
            word.Cut(1);
    }

    private static void ResidualSuffix(StemWord word)
    {
        if (word.Longest(["os", "a", "o", "á", "í", "ó", "e", "é"]) is not { } suffix || !word.EndsIn(suffix, word.RV))
            return;
        word.Cut(suffix);
        if (suffix is "e" or "é" && word.EndsWith("gu") && word.EndsIn("u", word.RV))
            word.Cut(1);
    }
}
