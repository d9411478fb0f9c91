using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Treepie.Indexing.Analysis.Stemming;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// Reads the definition of an analyzer. The error for an invalid part says where it is and which parts exist.
/// </summary>
internal static class PartsReader
{
    private const int MaxGramFilters = 1;

    public static Analyzer Read(JsonElement root)
    {
        RequireMembers(root, "the definition", "CharacterFilters", "Tokenizer", "Filters");
        CharacterFilter[] characters =
        [
            .. Items(root, "CharacterFilters", AnalyzerParts.MaxCharacterFilters)
                .Select(static item => Character(item.Json, item.Place))
        ];
        Analyzer tokenizer = root.TryGetProperty("Tokenizer"u8, out JsonElement given)
            ? Tokenizer(given)
            : new StandardAnalyzer();
        TermFilter[] filters =
            [.. Items(root, "Filters", AnalyzerParts.MaxFilters).Select(static item => Filter(item.Json, item.Place))];
        // Each of these makes many terms of one, and another would multiply them again.
        if (filters.Count(static filter => filter is GramsFilter) > MaxGramFilters
            || filters.Count(static filter => filter is SynonymsFilter) > MaxGramFilters)
            throw Refused("Filters", "there is more than one of NGrams and EdgeNGrams, or of Synonyms: leave one out.");
        return new PartsAnalyzer(characters, tokenizer, filters);
    }

    private static Analyzer Tokenizer(JsonElement json)
    {
        const string Place = "Tokenizer";
        if (json.ValueKind == JsonValueKind.Object)
        {
            RequireMembers(json, Place, "Pattern");
            return Checked(Place + ".Pattern", () => new PatternAnalyzer(Text(json, Place, "Pattern")));
        }

        return Named<Func<Analyzer>>(
            json, Place, "Standard, Letters, Whitespace, Keyword, or {\"Pattern\": \"[;,]\"}",
            ("Standard", static () => new StandardAnalyzer()), ("Letters", static () => new LetterAnalyzer()),
            ("Whitespace", static () => new WhitespaceAnalyzer()),
            ("Keyword", static () => new KeywordAnalyzer(isFolded: false)))();
    }

    private static CharacterFilter Character(JsonElement json, string place)
    {
        switch (KindOf(json, place, "Map", "Replace"))
        {
            case "Map":
                RequireMembers(json, place, "Map");
                return new MapFilter(Pairs(json.GetProperty("Map"u8), place + ".Map"));
            default:
                (Regex expression, byte[] with) = Replacement(json, place);
                return new ReplaceFilter(expression, with);
        }
    }

    private static TermFilter Filter(JsonElement json, string place)
    {
        const string All = "LowerCase, Accents, {\"StopWords\": …}, {\"Stem\": …}, {\"NGrams\": …}, {\"EdgeNGrams\": …}, "
            + "{\"Length\": …}, {\"Replace\": …, \"With\": …}, {\"Synonyms\": …}";
        if (json.ValueKind != JsonValueKind.Object)
            return Named<Func<TermFilter>>(
                json, place, All, ("LowerCase", static () => new CaseFilter()), ("Accents", static () => new AccentsFilter()))();

        string kind = KindOf(json, place, "StopWords", "Stem", "NGrams", "EdgeNGrams", "Length", "Replace", "Synonyms");
        if (kind == "Replace")
        {
            (Regex expression, byte[] with) = Replacement(json, place);
            return new ReplaceTermFilter(expression, with);
        }

        RequireMembers(json, place, kind);
        JsonElement value = json.GetProperty(kind);
        place = $"{place}.{kind}";
        switch (kind)
        {
            case "StopWords":
                return new StopFilter(value.ValueKind == JsonValueKind.Array
                    ? StopWords.Of(Words(value, place, StopWords.MaxBytes))
                    : Named(value, place, "English, or an array of words", ("English", StopWords.English)));
            case "Stem":
                (string Language, Stemmer Stemmer)[] stemmers = [.. Stemmer.All()];
                return new StemFilter(
                    Named(value, place, string.Join(", ", stemmers.Select(static known => known.Language)), stemmers));
            case "Length":
                (int shortest, int longest) = Range(value, place, 1_024);
                return new LengthFilter(shortest, longest);
            case "Synonyms":
                return new SynonymsFilter(Groups(value, place));
            default:
                (int min, int max) = Range(value, place, NGramAnalyzer.MaxSize);
                return new GramsFilter(min, max, isEdge: kind == "EdgeNGrams");
        }
    }

    private static (Regex Expression, byte[] With) Replacement(JsonElement json, string place)
    {
        RequireMembers(json, place, "Replace", "With");
        string pattern = Text(json, place, "Replace");
        byte[] with = json.TryGetProperty("With"u8, out _) ? Short(Text(json, place, "With"), place + ".With") : [];
        return (Checked(place + ".Replace", () => PatternAnalyzer.Create(pattern)), with);
    }

    private static IEnumerable<(byte[] From, byte[] To)> Pairs(JsonElement json, string place)
    {
        if (json.ValueKind != JsonValueKind.Object || json.GetPropertyCount() is 0 or > AnalyzerParts.MaxWords)
            throw Refused(place, $"1 to {AnalyzerParts.MaxWords:N0} pairs are expected, such as {{\"&\": \" and \"}}.");
        foreach (JsonProperty pair in json.EnumerateObject())
        {
            if (pair.Name.Length == 0 || pair.Value.ValueKind != JsonValueKind.String)
                throw Refused(place, $"'{pair.Name}' has no text to replace it; a pair is {{\"&\": \" and \"}}.");
            yield return (Short(pair.Name, place), Short(pair.Value.GetString() ?? "", place));
        }
    }

    private static List<string[]> Groups(JsonElement json, string place)
    {
        const int MaxGroup = 32;
        if (json.ValueKind != JsonValueKind.Array || json.GetArrayLength() is 0 or > AnalyzerParts.MaxWords)
            throw Refused(place, "groups of words that mean the same are expected, such as [[\"tv\", \"television\"]].");
        var seen = new HashSet<string>(StringComparer.Ordinal);
        var groups = new List<string[]>();
        foreach (JsonElement group in json.EnumerateArray())
        {
            string[] words = Words(group, place, SynonymsFilter.MaxWordBytes);
            if (words.Length is < 2 or > MaxGroup)
                throw Refused(place, $"a group has 2 to {MaxGroup} words.");
            if (Array.Find(words, word => !seen.Add(word)) is { } twice)
                throw Refused(place, $"'{twice}' is in it twice: put all words that mean the same in one group.");
            groups.Add(words);
        }

        return groups;
    }

    private static string[] Words(JsonElement json, string place, int maxBytes)
    {
        if (json.ValueKind != JsonValueKind.Array || json.GetArrayLength() is 0 or > AnalyzerParts.MaxWords)
            throw Refused(place, $"an array of 1 to {AnalyzerParts.MaxWords:N0} words is expected.");
        return
        [
            .. json.EnumerateArray().Select(word =>
                word.ValueKind == JsonValueKind.String && word.GetString() is { Length: > 0 } text
                    && Encoding.UTF8.GetByteCount(text) <= maxBytes
                    ? text
                    : throw Refused(place, $"a word is a text of 1 to {maxBytes} bytes."))
        ];
    }

    private static (int Min, int Max) Range(JsonElement json, string place, int most)
    {
        RequireMembers(json, place, "Min", "Max");
        int min = Number(json, "Min", 1);
        int max = Number(json, "Max", most);
        return min >= 1 && max >= min && max <= most
            ? (min, max)
            : throw Refused(place, $"{{\"Min\": 2, \"Max\": 6}} is expected: whole numbers, 1 ≤ Min ≤ Max ≤ {most}.");
    }

    private static int Number(JsonElement json, string name, int instead) => !json.TryGetProperty(name, out JsonElement value)
        ? instead
        : value.ValueKind == JsonValueKind.Number && value.TryGetInt32(out int number) ? number : -1;

    /// <summary>The kind of part that an object defines, which is the name of its first member.</summary>
    private static string KindOf(JsonElement json, string place, params string[] known)
    {
        string? first = json.ValueKind == JsonValueKind.Object
            ? json.EnumerateObject().Select(static member => member.Name).FirstOrDefault(static name => name != "With")
            : null;
        return first is not null && known.Contains(first)
            ? first
            : throw Refused(
                place,
                (first is null ? "it is not a part." : $"there is no part '{first}'.{Spelling.Advice(first, known)}")
                    + $" There are: {string.Join(", ", known)}.");
    }

    private static T Named<T>(JsonElement json, string place, string all, params (string Name, T Value)[] known)
    {
        string? name = json.ValueKind == JsonValueKind.String ? json.GetString() : null;
        foreach ((string each, T value) in known)
            if (string.Equals(each, name, StringComparison.OrdinalIgnoreCase))
                return value;
        throw Refused(
            place,
            (name is null
                ? "it is not the name of a part."
                : $"there is no '{Spelling.Short(name)}'.{Spelling.Advice(name, known.Select(static one => one.Name))}")
                + $" There are: {all}.");
    }

    private static IEnumerable<(JsonElement Json, string Place)> Items(JsonElement root, string name, int most)
    {
        if (!root.TryGetProperty(name, out JsonElement array))
            return [];
        if (array.ValueKind != JsonValueKind.Array || array.GetArrayLength() > most)
            throw Refused(name, $"an array of at most {most} parts is expected.");
        return array.EnumerateArray().Select((json, place) => (json, $"{name}[{place}]"));
    }

    private static void RequireMembers(JsonElement json, string place, params string[] known)
    {
        if (json.ValueKind != JsonValueKind.Object)
            throw Refused(place, $"an object with {string.Join(", ", known)} is expected.");
        foreach (JsonProperty member in json.EnumerateObject())
            if (!known.Contains(member.Name))
                throw Refused(
                    place,
                    $"there is no '{Spelling.Short(member.Name)}'.{Spelling.Advice(member.Name, known)} There are: "
                        + $"{string.Join(", ", known)}.");
    }

    private static string Text(JsonElement json, string place, string name) =>
        json.TryGetProperty(name, out JsonElement text) && text.ValueKind == JsonValueKind.String
            ? text.GetString() ?? ""
            : throw Refused($"{place}.{name}", "a text is expected.");

    private static byte[] Short(string text, string place) =>
        Encoding.UTF8.GetByteCount(text) <= AnalyzerParts.MaxTextBytes
            ? Encoding.UTF8.GetBytes(text)
            : throw Refused(place, $"a text has at most {AnalyzerParts.MaxTextBytes} bytes.");

    private static T Checked<T>(string place, Func<T> make)
    {
        try
        {
            return make();
        }
        catch (ArgumentException error)
        {
            throw Refused(place, error.Message);
        }
    }

    private static ArgumentException Refused(string place, string why) => new($"{place}: {why}");
}
