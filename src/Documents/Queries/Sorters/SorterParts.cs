using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Indexing.Queries;
using Treepie.Rql;

namespace Treepie.Queries.Sorters;

/// <summary>The entry point of this folder: creates the sort order that the JSON of a sorter describes.</summary>
internal static class SorterParts
{
    /// <summary>The maximum number of values in a list.</summary>
    public const int MaxValues = 4_096;

    private const int MaxCodeBytes = 64 * 1024;

    private const string Values = "Values", Others = "Others", Language = "Language", Numbers = "Numbers", Accents = "Accents";

    private const string Example = """{"Values": ["Low", "Medium", "High"]} or {"Language": "sv"}""";

    private static readonly string[] _members = [Values, Others, Language, Numbers, Accents];

    /// <exception cref="InvalidSorterException">The definition is not valid.</exception>
    public static ICustomOrder Read(string name, string code)
    {
        if (code.Length > MaxCodeBytes || Encoding.UTF8.GetByteCount(code) > MaxCodeBytes)
            throw new InvalidSorterException(name, $"its code has more than {MaxCodeBytes:N0} bytes.");
        if (!code.AsSpan().TrimStart().StartsWith("{"))
            throw new InvalidSorterException(
                name,
                "its code is not JSON. C# would run inside the server, which takes no code from clients; a sorter is described "
                    + $"instead, as in {Example}.");
        try
        {
            using var json = JsonDocument.Parse(code);
            return new DefinedOrder(Read(name, json.RootElement), code);
        }
        catch (JsonException error)
        {
            throw new InvalidSorterException(
                name, $"its code is not valid JSON at line {error.LineNumber + 1}, column {error.BytePositionInLine + 1}.");
        }
    }

    private static ICustomOrder Read(string name, JsonElement json)
    {
        foreach (JsonProperty member in json.EnumerateObject())
            if (!_members.Contains(member.Name, StringComparer.Ordinal))
                throw new InvalidSorterException(
                    name, $"it has no member '{member.Name}'.{RqlAdvice.DidYouMean(member.Name, _members)}");
        bool hasValues = json.TryGetProperty(Values, out JsonElement values),
            hasLanguage = json.TryGetProperty(Language, out JsonElement language);
        if (hasValues == hasLanguage)
            throw new InvalidSorterException(name, $"it has either 'Values' or 'Language', as in {Example}.");
        foreach (string other in hasValues ? [Numbers, Accents] : (string[])[Others])
            if (json.TryGetProperty(other, out _))
                throw new InvalidSorterException(
                    name, $"'{other}' goes with '{(hasValues ? Language : Values)}', which it has not.");
        return hasValues
            ? new ListOrder(name, Texts(name, values), othersFirst: AreOthersFirst(name, json))
            : new LanguageOrder(
                name, Culture(name, language),
                (Flag(name, json, Numbers, false) ? CompareOptions.NumericOrdering : CompareOptions.None)
                    | (Flag(name, json, Accents, true) ? CompareOptions.None : CompareOptions.IgnoreNonSpace));
    }

    private static string[] Texts(string name, JsonElement json)
    {
        if (json.ValueKind != JsonValueKind.Array || json.GetArrayLength() is 0 or > MaxValues)
            throw new InvalidSorterException(name, $"'Values' is a list of 1 to {MaxValues:N0} texts or numbers.");
        var texts = new string[json.GetArrayLength()];
        int count = 0;
        foreach (JsonElement one in json.EnumerateArray())
            texts[count++] = one.ValueKind switch
            {
                JsonValueKind.String => one.GetString() ?? "",
                JsonValueKind.Number => one.GetRawText(),
                JsonValueKind.True => "true",
                JsonValueKind.False => "false",
                _ => throw new InvalidSorterException(name, $"'Values[{count}]' is neither a text nor a number."),
            };
        return texts;
    }

    private static bool AreOthersFirst(string name, JsonElement json) =>
        json.TryGetProperty(Others, out JsonElement others)
        && (others.ValueKind == JsonValueKind.String ? others.GetString() : null) switch
        {
            "First" => true,
            "Last" => false,
            _ => throw new InvalidSorterException(name, "'Others' is 'First' or 'Last'."),
        };

    private static bool Flag(string name, JsonElement json, string member, bool otherwise) =>
        !json.TryGetProperty(member, out JsonElement given) ? otherwise : given.ValueKind switch
        {
            JsonValueKind.True => true,
            JsonValueKind.False => false,
            _ => throw new InvalidSorterException(name, $"'{member}' is true or false."),
        };

    private static CultureInfo Culture(string name, JsonElement json)
    {
        string language = json.ValueKind == JsonValueKind.String ? json.GetString() ?? "" : "";
        try
        {
            if (language.Length > 0)
                return CultureInfo.GetCultureInfo(language, predefinedOnly: true);
        }
        catch (CultureNotFoundException)
        {
            // Reported below, with examples of language names.
        }

        throw new InvalidSorterException(
            name,
            $"this machine knows no language '{language}'. Languages are named as 'sv' or 'de-AT', and a program that runs with "
                + "InvariantGlobalization knows none.");
    }
}
