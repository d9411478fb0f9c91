using System.Collections.Frozen;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The settings that a definition carries, by RavenDB's names. All are kept and given back. Most say how RavenDB does its work
/// and change no answer; of those that do, the ones that this program has are applied, and others are rejected.
/// </summary>
internal static class IndexConfiguration
{
    private const string Prefix = "Indexing.";
    private const string SearchAnalyzer = "Indexing.Analyzers.Search.Default";

    /// <summary>Settings that change answers, with the one value that is true of this program.</summary>
    private static readonly FrozenDictionary<string, string> _fixed = new Dictionary<string, string>
    {
        ["Indexing.Analyzers.Default"] = "LowerCaseKeywordAnalyzer",
        ["Indexing.Analyzers.Exact.Default"] = "KeywordAnalyzer",
        ["Indexing.IndexEmptyEntries"] = "true",
        ["Indexing.IndexMissingFieldsAsNull"] = "true",
        ["Indexing.OrderByScoreAutomaticallyWhenBoostingIsInvolved"] = "true",
    }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    /// <summary>Returns the definition as its settings change it.</summary>
    /// <exception cref="InvalidIndexDefinitionException">A setting is unknown, or not what this program does.</exception>
    public static IndexDefinition Apply(IndexDefinition definition)
    {
        foreach ((string name, string value) in definition.Configuration)
        {
            if (!name.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase))
                throw Refuse(
                    definition, $"it has the setting '{name}'; settings of an index have names that begin with '{Prefix}'.");
            if (_fixed.TryGetValue(name, out string? only) && !IsSame(value, only))
                throw Refuse(
                    definition,
                    $"its setting '{name}' is '{value}', and an index of this program answers as with '{only}'."
                        + (name.Contains("Analyzers", StringComparison.OrdinalIgnoreCase)
                            ? " Give the fields what they need: \"Indexing\" and \"Analyzer\", or all of them under "
                                + "'__all_fields'."
                            : " Leave it out."));
            if (string.Equals(name, SearchAnalyzer, StringComparison.OrdinalIgnoreCase))
                definition = WithAnalyzer(definition, value);
        }

        return definition;
    }

    /// <summary>
    /// Returns the definition without the analyzers that its fields and its settings name; full-text fields then have the default
    /// analyzer.
    /// </summary>
    public static IndexDefinition WithoutAnalyzers(IndexDefinition definition) => definition with
    {
        Fields = [.. definition.Fields.Select(static field => field with { Analyzer = null })],
        AllFields = definition.AllFields is { } all ? all with { Analyzer = null } : null,
        Configuration = definition.Configuration
            .Where(static setting => !string.Equals(setting.Key, SearchAnalyzer, StringComparison.OrdinalIgnoreCase))
            .ToDictionary(),
    };

    /// <summary>Gives the analyzer to all fields of words that name none.</summary>
    private static IndexDefinition WithAnalyzer(IndexDefinition definition, string analyzer)
    {
        IndexFieldDefinition all = definition.AllFields ?? new IndexFieldDefinition { Name = IndexDefinitionJson.AllFields };
        return definition.Maps.Count > 0
            ? definition with { AllFields = all with { Analyzer = all.Analyzer ?? analyzer } }
            : definition with
            {
                Fields = [
                    .. definition.Fields.Select(
                        field => field.Indexing == FieldIndexing.Search
                            ? field with { Analyzer = field.Analyzer ?? analyzer }
                            : field)]
            };
    }

    /// <summary>Compares values without case; a type may be given with its namespace.</summary>
    private static bool IsSame(string value, string only) =>
        string.Equals(value[(value.LastIndexOf('.') + 1)..].Trim(), only, StringComparison.OrdinalIgnoreCase);

    private static InvalidIndexDefinitionException Refuse(IndexDefinition definition, string problem) =>
        new(definition.Name, "Configuration", problem);
}
