using System.Text;
using System.Text.Json;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Analysis.Parts;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The custom analyzers of a database, in the form of its setting: <c>{"Names":{"Name":"Names","Code":"{…}"}}</c>.
/// Immutable.
/// </summary>
internal sealed class CustomAnalyzers
{
    public const string SettingName = "analyzers";

    /// <summary>The maximum number of analyzers of a database.</summary>
    public const int MaxCount = 64;

    /// <summary>The example in error messages.</summary>
    public const string Example =
        """{"Tokenizer": "Standard", "Filters": ["LowerCase", "Accents", {"StopWords": "English"}, {"Stem": "English"}]}""";

    private readonly NamedCode _definitions;

    private CustomAnalyzers(NamedCode definitions)
    {
        _definitions = definitions;
        All = [.. definitions.All.Select(static one => new AnalyzerDefinition(one.Name, one.Code))];
    }

    public int Count => All.Count;

    /// <summary>All analyzers, by name.</summary>
    public IReadOnlyCollection<AnalyzerDefinition> All { get; }

    /// <summary>Returns the analyzers of a snapshot.</summary>
    public static CustomAnalyzers Of(DatabaseSnapshot snapshot) =>
        new(SettingReader.Read(snapshot, SettingName, NamedCode.FromJson) ?? NamedCode.Empty);

    /// <summary>Returns the JSON that <see cref="NamedCode.Read"/> reads; null if there are no analyzers.</summary>
    public byte[]? ToJson() => _definitions.ToJson();

    /// <summary>Returns these analyzers with others, which replace those of the same name.</summary>
    public CustomAnalyzers With(IEnumerable<AnalyzerDefinition> others) =>
        new(_definitions.With(others.Select(static one => (one.Name, one.Code))));

    /// <summary>Returns other analyzers with these, which replace those of the same name.</summary>
    public CustomAnalyzers Over(IReadOnlyCollection<AnalyzerDefinition> others) =>
        others.Count == 0 ? this : new CustomAnalyzers(NamedCode.Empty).With(others).With(All);

    /// <summary>Returns these analyzers without the one with a name; null if there is none.</summary>
    public CustomAnalyzers? Without(string name) => _definitions.Without(name) is { } others ? new CustomAnalyzers(others) : null;

    /// <summary>Returns those that this program can create.</summary>
    public static NamedCode Usable(NamedCode given) => given.Where(static (_, code) => TryMake(code) is not null);

    /// <summary>Returns the analyzers of the program with these, as far as this program can create them.</summary>
    public AnalyzerSet Over(AnalyzerSet others)
    {
        foreach (AnalyzerDefinition definition in All)
            if (TryMake(definition.Code) is { } made)
                others = others.With(definition.Name, made);
        return others;
    }

    /// <summary>
    /// Returns the parts, in a normalized form, of the analyzers that the fields of a definition name, by name.
    /// </summary>
    /// <param name="definition">The definition.</param>
    /// <param name="others">The analyzers provided by the program.</param>
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

    /// <summary>Creates an analyzer from parts; returns null if they are not valid.</summary>
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

    /// <summary>Validates a definition.</summary>
    /// <exception cref="InvalidAnalyzerException">The definition is not valid.</exception>
    public static void Require(AnalyzerDefinition definition, AnalyzerSet others)
    {
        string name = definition.Name;
        if (!NamedCode.IsName(name))
            throw new InvalidAnalyzerException(
                name[..Math.Min(name.Length, NamedCode.MaxNameLength)], NamedCode.NameRule);
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
