using System.Text;
using System.Text.Json;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Analysis.Parts;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The analyzers that are kept with a database, as it has them set: <c>{"Names":{"Name":"Names","Code":"{…}"}}</c>. Immutable.
/// </summary>
internal sealed class CustomAnalyzers
{
    public const string SettingName = "analyzers";

    /// <summary>Most analyzers of a database.</summary>
    public const int MaxCount = 64;

    /// <summary>Longest name in characters.</summary>
    public const int MaxNameLength = 256;

    /// <summary>What to send instead of what is refused.</summary>
    public const string Example =
        """{"Tokenizer": "Standard", "Filters": ["LowerCase", "Accents", {"StopWords": "English"}, {"Stem": "English"}]}""";

    private readonly SortedDictionary<string, AnalyzerDefinition> _byName;

    private CustomAnalyzers(IEnumerable<AnalyzerDefinition> definitions)
    {
        _byName = new SortedDictionary<string, AnalyzerDefinition>(StringComparer.OrdinalIgnoreCase);
        foreach (AnalyzerDefinition definition in definitions)
            _byName[definition.Name] = definition;
    }

    public int Count => _byName.Count;

    /// <summary>All of them, by name.</summary>
    public IReadOnlyCollection<AnalyzerDefinition> All => _byName.Values;

    /// <summary>Those of a state of the database.</summary>
    public static CustomAnalyzers Of(DatabaseSnapshot snapshot) =>
        snapshot.Setting(SettingName) is { } json ? FromJson(json) : new CustomAnalyzers([]);

    /// <summary>Reads them as they are kept.</summary>
    public static CustomAnalyzers FromJson(ReadOnlyMemory<byte> json)
    {
        using var document = JsonDocument.Parse(json);
        return new CustomAnalyzers(Read(document.RootElement));
    }

    /// <summary>Reads definitions by name, in the form of records of databases; what is no definition is passed over.</summary>
    public static IReadOnlyList<AnalyzerDefinition> Read(JsonElement json)
    {
        var definitions = new List<AnalyzerDefinition>();
        if (json.ValueKind == JsonValueKind.Object)
            foreach (JsonProperty member in json.EnumerateObject())
                if (member.Value.ValueKind == JsonValueKind.Object
                    && member.Value.TryGetProperty("Code"u8, out JsonElement code)
                    && code.ValueKind == JsonValueKind.String)
                    definitions.Add(new AnalyzerDefinition(member.Name, code.GetString() ?? ""));
        return definitions;
    }

    /// <summary>As <see cref="Read"/> reads them; null where there are none.</summary>
    public byte[]? ToJson() => Count == 0 ? null : JsonBytes.Of(json => Write(json, All));

    /// <summary>Writes definitions by name.</summary>
    public static void Write(Utf8JsonWriter json, IEnumerable<AnalyzerDefinition> definitions)
    {
        json.WriteStartObject();
        foreach (AnalyzerDefinition definition in definitions)
        {
            json.WriteStartObject(definition.Name);
            json.WriteString("Name"u8, definition.Name);
            json.WriteString("Code"u8, definition.Code);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    /// <summary>These and others, which take the place of those of their names.</summary>
    public CustomAnalyzers With(IEnumerable<AnalyzerDefinition> others) => new(All.Concat(others));

    /// <summary>These without the one of a name; null if there is none.</summary>
    public CustomAnalyzers? Without(string name) => _byName.ContainsKey(name)
        ? new CustomAnalyzers(All.Where(one => !string.Equals(one.Name, name, StringComparison.OrdinalIgnoreCase)))
        : null;

    /// <summary>Others and these, as far as this program can make them.</summary>
    public AnalyzerSet Over(AnalyzerSet others)
    {
        foreach (AnalyzerDefinition definition in All)
            if (TryMake(definition.Code) is { } made)
                others = others.With(definition.Name, made);
        return others;
    }

    /// <summary>The parts of those that the fields of a definition name, in one form each, by name.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="others">The analyzers of the program.</param>
    public IReadOnlyDictionary<string, string> UsedBy(IndexDefinition definition, AnalyzerSet others)
    {
        var used = new SortedDictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        string[] named = [.. definition.FieldOptions.Select(static field => field.Analyzer).OfType<string>()];
        if (Count == 0 || named.Length == 0)
            return used;

        AnalyzerSet set = Over(others);
        Dictionary<Analyzer, AnalyzerDefinition> mine = [];
        foreach (AnalyzerDefinition one in All)
            if (set.Names.Contains(one.Name, StringComparer.OrdinalIgnoreCase))
                mine[set.Get(one.Name)] = one;
        foreach (string name in named)
            if (TryGet(set, name) is { } analyzer
                && mine.TryGetValue(analyzer, out AnalyzerDefinition? found))
                used[found.Name] = Minified(found.Code);
        return used;
    }

    /// <summary>An analyzer of parts; null where they cannot be used.</summary>
    public static Analyzer? TryMake(string code)
    {
        try
        {
            return AnalyzerParts.Read(Encoding.UTF8.GetBytes(code));
        }
        catch (ArgumentException)
        {
            return null;
        }
    }

    /// <summary>Refuses a definition that cannot be used.</summary>
    /// <exception cref="InvalidAnalyzerException">It is not valid.</exception>
    public static void Require(AnalyzerDefinition definition, AnalyzerSet others)
    {
        string name = definition.Name;
        if (name.Length is 0 or > MaxNameLength || !name.All(static c => char.IsLetterOrDigit(c) || c is '_' or '-' or '.'))
            throw new InvalidAnalyzerException(
                name.Length <= MaxNameLength ? name : name[..MaxNameLength],
                $"a name has 1 to {MaxNameLength} letters, digits, '_', '-' and dots.");
        if (others.Names.Contains(name, StringComparer.OrdinalIgnoreCase))
            throw new InvalidAnalyzerException(name, "the server has an analyzer of this name. Choose another.");
        if (!definition.Code.AsSpan().TrimStart().StartsWith("{"))
            throw new InvalidAnalyzerException(
                name,
                "its code is no JSON. C# would run inside of the server, which takes no code from clients; an analyzer is put "
                    + $"together from parts instead, as in {Example}.");
        try
        {
            AnalyzerParts.Read(Encoding.UTF8.GetBytes(definition.Code));
        }
        catch (ArgumentException error)
        {
            throw new InvalidAnalyzerException(name, error.Message);
        }
    }

    private static Analyzer? TryGet(AnalyzerSet set, string name)
    {
        try
        {
            return set.Get(name);
        }
        catch (ArgumentException)
        {
            return null;
        }
    }

    private static string Minified(string code)
    {
        using var json = JsonDocument.Parse(code);
        return Encoding.UTF8.GetString(JsonBytes.Of(writer => json.RootElement.WriteTo(writer)));
    }
}
