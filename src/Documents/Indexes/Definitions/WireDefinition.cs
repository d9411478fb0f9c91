using System.Collections.Frozen;
using System.Text.Json;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// Reads a definition as sent by clients: this program's form, or RavenDB's with maps. Maps that only name paths become a
/// definition by path; others compute. Null, false and empty values are ignored.
/// </summary>
internal static class WireDefinition
{
    private const string Assemblies = "AdditionalAssemblies";

    /// <summary>Members of computed strings, times, time spans and arrays.</summary>
    private static readonly FrozenSet<string> _membersOfValues = FrozenSet.Create(
        "Year", "Month", "Day", "Hour", "Minute", "Second", "Millisecond", "DayOfYear", "DayOfWeek", "Ticks", "Date", "TimeOfDay",
        "Days", "Hours", "Minutes", "Seconds", "Milliseconds", "TotalDays", "TotalHours", "TotalMinutes", "TotalSeconds",
        "TotalMilliseconds", "Length", "length", "Count", "HasValue", "Value");

    /// <summary>Members that do not change results.</summary>
    private static readonly string[] _passedOver =
    [
        "IndexType", "Type", "SourceType", "LockMode", "Priority", "State", "DeploymentMode",
        "SearchEngineType", "ClusterState", "_indexSourceType", "_indexType", "ReduceOutputIndex"
    ];

    /// <exception cref="InvalidIndexDefinitionException">The definition cannot be run.</exception>
    public static IndexDefinition Read(JsonElement json)
    {
        IndexDefinition definition = IndexDefinitionJson.Read(
            json,
            name => name is Assemblies
                || _passedOver.Contains(name)
                || !IsGiven(json, name));
        if (IsGiven(json, Assemblies))
            throw new InvalidIndexDefinitionException(
                definition.Name, Assemblies,
                "it names assemblies ('AdditionalAssemblies'), whose code is never run. Write the computation in its "
                    + "maps; 'AdditionalSources' may add functions in JavaScript.");
        return OfMaps(IndexConfiguration.Apply(definition));
    }

    /// <summary>Returns a definition with <c>Computes</c> set according to its maps and reduce.</summary>
    /// <exception cref="InvalidIndexDefinitionException">The definition cannot be run.</exception>
    public static IndexDefinition OfMaps(IndexDefinition definition)
    {
        if (definition is { Maps.Count: 0, Reduce: null, AdditionalSources.Count: 0 })
            return definition with { Computes = false };
        return OnlyNamesPaths(definition) ? WithPaths(definition with { Computes = false }) : definition with { Computes = true };
    }

    /// <summary>Returns whether the definition can be run without computing.</summary>
    private static bool OnlyNamesPaths(IndexDefinition definition)
    {
        if (definition.Reduce is not null || definition.AdditionalSources.Count > 0)
            return false;
        try
        {
            List<PathMap> maps = [.. definition.Maps.Select(map => PathMap.Read(definition.Name, map))];
            // The same field from different paths must be computed.
            return maps.Count > 0
                && maps.TrueForAll(map => map.Fields.ToHashSet().SetEquals(maps[0].Fields) && !map.Fields.Exists(IsOfValue));
        }
        catch (InvalidIndexDefinitionException)
        {
            return false;
        }
    }

    /// <summary>
    /// Returns whether a path may end in a member of a value instead of an object: <c>o.OrderedAt.Year</c>,
    /// <c>o.Lines.Count</c>.
    /// </summary>
    private static bool IsOfValue(IndexFieldDefinition field) =>
        field.Path is { } path && path.LastIndexOf('.') is > 0 and var dot && _membersOfValues.Contains(path[(dot + 1)..]);

    private static bool IsGiven(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind switch
        {
            JsonValueKind.Null or JsonValueKind.Undefined or JsonValueKind.False => false,
            JsonValueKind.Object => value.EnumerateObject().Any(),
            JsonValueKind.Array => value.GetArrayLength() > 0,
            _ => true,
        };

    /// <summary>Returns a definition whose maps only name paths, with their fields and paths and its options.</summary>
    /// <exception cref="InvalidIndexDefinitionException">A map computes, or is not a map.</exception>
    public static IndexDefinition WithPaths(IndexDefinition definition)
    {
        if (definition.Reduce is not null || definition.AdditionalSources.Count > 0)
            throw new InvalidIndexDefinitionException(
                definition.Name, "Maps",
                "it computes, for which the database is opened with an engine (DatabaseOptions.Computing, of the package "
                    + "Treepie.Computing).");
        List<PathMap> maps = [.. definition.Maps.Select(map => PathMap.Read(definition.Name, map))];
        PathMap first = maps[0];
        if (maps.Exists(map => !map.Fields.ToHashSet().SetEquals(first.Fields)))
            throw new InvalidIndexDefinitionException(
                definition.Name, "Maps",
                "its maps give different fields, or the same from different paths; several maps of one index must be alike but "
                    + "for the collection.");
        bool coversAll = maps.Exists(map => map.Collection is null);
        return WithFields(
            definition with
            {
                Computes = false,
                Collections = coversAll ? [] : [.. maps.Select(map => map.Collection).OfType<string>()]
            },
            first.Fields);
    }

    /// <summary>Returns a definition with the fields of its maps and its options for them.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="mappedFields">The fields of the maps.</param>
    /// <param name="namesFields">Whether documents determine names of fields that are not among those of the maps.</param>
    /// <param name="keepsOptions">Whether other fields for which there are options are fields, too.</param>
    /// <exception cref="InvalidIndexDefinitionException">There are options for a field that does not exist.</exception>
    public static IndexDefinition WithFields(
        IndexDefinition definition, IReadOnlyList<IndexFieldDefinition> mappedFields, bool namesFields = false,
        bool keepsOptions = false)
    {
        Dictionary<string, IndexFieldDefinition> options = definition.Fields.ToDictionary(
            field => field.Name, StringComparer.Ordinal);
        options.Remove(IndexDefinitionJson.AllFields, out IndexFieldDefinition? all);
        all ??= definition.AllFields;
        var fields = new List<IndexFieldDefinition>();
        foreach (IndexFieldDefinition mapped in mappedFields)
        {
            // Some clients capitalize the first letter of every name.
            bool isGiven = options.Remove(mapped.Name, out IndexFieldDefinition? given)
                || options.Remove(char.ToUpperInvariant(mapped.Name[0]) + mapped.Name[1..], out given);
            IndexFieldDefinition field = isGiven && given is not null
                ? given with
                {
                    Name = mapped.Name,
                    Path = mapped.Path ?? given.Path,
                    Spatial = mapped.Spatial ?? given.Spatial,
                    Vector = given.Vector ?? mapped.Vector
                }
                : mapped;
            fields.Add(all is null ? field : WithOptions(field, all));
        }

        if (namesFields || keepsOptions)
            fields.AddRange(definition.Fields.Where(field => options.ContainsKey(field.Name)));
        else if (options.Keys.FirstOrDefault() is { } unknown)
            throw new InvalidIndexDefinitionException(
                definition.Name, "Fields", $"it has options for the field '{unknown}', which its map does not give.");
        if (fields.Count == 0 && !namesFields)
            throw new InvalidIndexDefinitionException(
                definition.Name, "Maps",
                "its maps give no fields: write out the objects they return.");
        return definition with { Fields = fields, AllFields = namesFields ? all : null };
    }

    /// <summary>
    /// Returns a field with the options of all fields where it has none of its own; spatial and vector fields have neither
    /// full-text indexing nor analyzers.
    /// </summary>
    private static IndexFieldDefinition WithOptions(IndexFieldDefinition field, IndexFieldDefinition all)
    {
        bool isWhole = field.Spatial is null && field.Vector is null;
        FieldIndexing indexing = isWhole && field.Indexing == FieldIndexing.Default ? all.Indexing : field.Indexing;
        return field with
        {
            Indexing = indexing,
            Analyzer = field.Analyzer ?? (indexing == FieldIndexing.Search ? all.Analyzer : null),
            Stored = field.Stored || (all.Stored && field.Spatial is not { Latitude: not null }),
            Suggestions = field.Suggestions || (all.Suggestions && isWhole),
        };
    }
}
