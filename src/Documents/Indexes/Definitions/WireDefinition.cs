using System.Text.Json;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// A definition as clients of the wire send it: this program's form, or RavenDB's with maps that name paths. Settings that say how another engine does its work, and are at
/// their defaults, are passed over; what would change the answers and cannot be done is refused.
/// </summary>
internal static class WireDefinition
{
    private static readonly string[] s_mapReduce =
        ["Reduce", "OutputReduceToCollection", "PatternForOutputReduceToCollectionReferences", "PatternReferencesCollectionName", "ReduceOutputIndex"];

    private static readonly string[] s_code = ["AdditionalSources", "AdditionalAssemblies", "CompoundFields"];

    /// <summary>What changes nothing of the answers.</summary>
    private static readonly string[] s_passedOver = ["IndexType", "Type", "SourceType", "LockMode", "Priority", "State", "DeploymentMode", "ArchivedDataProcessingBehavior", "SearchEngineType", "ClusterState"];

    /// <exception cref="InvalidIndexDefinitionException">It cannot be run.</exception>
    public static IndexDefinition Read(JsonElement json)
    {
        IndexDefinition definition = IndexDefinitionJson.Read(json, static name => name is "Maps" or "Configuration" || s_mapReduce.Contains(name) || s_code.Contains(name) || s_passedOver.Contains(name));
        foreach (string part in s_mapReduce)
            if (IsGiven(json, part))
                throw new InvalidIndexDefinitionException(definition.Name, part, $"it reduces ('{part}'), and map-reduce is not built yet.");
        foreach (string part in s_code)
            if (IsGiven(json, part))
                throw new InvalidIndexDefinitionException(definition.Name, part, $"it has '{part}', which is not built yet.");
        if (IsGiven(json, "Configuration"))
            throw new InvalidIndexDefinitionException(definition.Name, "Configuration", "it has settings of its own ('Configuration'), which this program has not. Leave them out.");

        List<string> maps = IsGiven(json, "Maps") ? new DefinitionReader(definition.Name).Texts(json.EnumerateObject().First(m => m.Name == "Maps")) : [];
        return maps.Count == 0 ? definition : Merge(definition, [.. maps.Select(map => PathMap.Read(definition.Name, map))]);
    }

    private static bool IsGiven(JsonElement json, string name) => json.TryGetProperty(name, out JsonElement value) && value.ValueKind switch
    {
        JsonValueKind.Null or JsonValueKind.Undefined => false,
        JsonValueKind.Object => value.EnumerateObject().Any(),
        JsonValueKind.Array => value.GetArrayLength() > 0,
        _ => true,
    };

    /// <summary>Fields and paths of the maps, options of the definition.</summary>
    private static IndexDefinition Merge(IndexDefinition definition, List<PathMap> maps)
    {
        PathMap first = maps[0];
        if (maps.Exists(map => !map.Fields.ToHashSet().SetEquals(first.Fields)))
            throw new InvalidIndexDefinitionException(definition.Name, "Maps", "its maps give different fields, or the same from different paths; several maps of one index must be alike but for the collection.");

        Dictionary<string, IndexFieldDefinition> options = definition.Fields.ToDictionary(field => field.Name, StringComparer.Ordinal);
        var fields = new List<IndexFieldDefinition>();
        foreach (IndexFieldDefinition mapped in first.Fields)
        {
            IndexFieldDefinition field = options.Remove(mapped.Name, out IndexFieldDefinition? given)
                ? given with { Path = mapped.Path ?? given.Path, Spatial = mapped.Spatial ?? given.Spatial }
                : mapped;
            fields.Add(field);
        }

        if (options.Keys.FirstOrDefault() is { } unknown)
            throw new InvalidIndexDefinitionException(definition.Name, "Fields", $"it has options for the field '{unknown}', which its map does not give.");
        bool coversAll = maps.Exists(map => map.Collection is null);
        return definition with { Collections = coversAll ? [] : [.. maps.Select(map => map.Collection).OfType<string>()], Fields = fields };
    }
}
