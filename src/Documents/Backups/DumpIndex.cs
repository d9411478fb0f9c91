using System.Runtime.InteropServices;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Indexes.Grouping;

namespace Treepie.Backups;

/// <summary>
/// The definition of an index in a dump. An auto-index is written in RavenDB's form (<c>IndexDefinition</c> with collections
/// and an array of fields), followed by the exact fields in their order, which is part of the index's name. An index defined
/// by the user is written in RavenDB's form too, and then as it was defined, under a name that other programs ignore.
/// Definitions in RavenDB's own dumps are read if their maps only name fields and their paths, or if they can be compiled.
/// Definitions in earlier dumps of this program are also read: they are under <c>Definition</c>, with one collection and the
/// fields as members of an object.
/// </summary>
internal static class DumpIndex
{
    private const string Disabled = "Disabled";

    public static void Write(Utf8JsonWriter json, DumpedIndex index)
    {
        if (index.Mapping is StaticIndexMapping byHand)
            WriteByHand(json, byHand, index);
        else if (index.Mapping is GroupDefinition groups)
            WriteGroups(json, groups, index.Settings);
        else
            WriteAuto(json, (AutoIndexDefinition)index.Mapping, index.Settings);
    }

    private static void WriteByHand(Utf8JsonWriter json, StaticIndexMapping mapping, DumpedIndex index)
    {
        json.WriteStartObject();
        json.WriteString("Type"u8, RavenDefinition.TypeOf(mapping.Definition));
        json.WritePropertyName("IndexDefinition"u8);
        RavenDefinition.Write(json, mapping, index.Settings);
        json.WritePropertyName("TreepieIndex"u8);
        IndexDefinitionJson.Write(json, mapping.Definition);
        if (index.History.Count > 0)
        {
            json.WritePropertyName("TreepieHistory"u8);
            DefinitionHistory.Write(json, index.History);
        }

        json.WriteEndObject();
    }

    private static void WriteGroups(Utf8JsonWriter json, GroupDefinition definition, IndexSettings settings)
    {
        json.WriteStartObject();
        json.WriteString("Type"u8, AutoDefinitionJson.AutoMapReduce);
        json.WritePropertyName("IndexDefinition"u8);
        AutoDefinitionJson.Write(json, definition, settings, isRecord: false);
        json.WritePropertyName("TreepieGroups"u8);
        json.WriteRawValue(DefinitionJson.Write(definition));
        json.WriteEndObject();
    }

    private static void WriteAuto(Utf8JsonWriter json, AutoIndexDefinition definition, IndexSettings settings)
    {
        json.WriteStartObject();
        json.WriteString("Type"u8, AutoDefinitionJson.AutoMap);
        json.WritePropertyName("IndexDefinition"u8);
        AutoDefinitionJson.Write(json, definition, settings, isRecord: false);
        json.WriteStartArray("TreepieFields"u8);
        foreach (AutoIndexField field in definition.Fields)
        {
            json.WriteStartObject();
            json.WriteString("Path"u8, field.Path);
            json.WriteString("Kind"u8, field.Kind.ToString());
            if (field.Longitude is { } longitude)
                json.WriteString("Longitude"u8, longitude);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    /// <summary>Reads an index; null if this program cannot build it.</summary>
    /// <param name="json">The element of the dump.</param>
    /// <param name="computing">
    /// Compiles the maps of dumps by other programs; null: indexes with computed maps are skipped. Computed indexes in dumps
    /// of this program are always kept.
    /// </param>
    /// <param name="histories">The definitions of indexes by name, of a dump by another program; null if there are none.</param>
    public static DumpedIndex? Read(
        JsonElement json, ComputingEngine? computing, IReadOnlyDictionary<string, IReadOnlyList<DefinitionVersion>>? histories)
    {
        if (ReadMapping(json, computing) is not { } mapping)
            return null;
        IReadOnlyList<DefinitionVersion>? history = json.TryGetProperty("TreepieHistory"u8, out JsonElement own)
            ? DefinitionHistory.Read(own, static one => IndexDefinitionJson.Read(one))
            : histories?.GetValueOrDefault(mapping.Name);
        return new DumpedIndex(mapping, ReadSettings(json)) { History = history ?? [] };
    }

    /// <summary>
    /// Reads the histories of the database record of a dump by another program: the definitions of each index that can be built
    /// here.
    /// </summary>
    public static IReadOnlyDictionary<string, IReadOnlyList<DefinitionVersion>> ReadHistories(
        JsonElement record, ComputingEngine? computing)
    {
        var histories = new Dictionary<string, IReadOnlyList<DefinitionVersion>>(StringComparer.OrdinalIgnoreCase);
        if (!record.TryGetProperty(DumpRecord.Histories, out JsonElement all) || all.ValueKind != JsonValueKind.Object)
            return histories;
        foreach (JsonProperty index in all.EnumerateObject())
            histories[index.Name] = DefinitionHistory.Read(index.Value, json => Compiled(json, computing));
        return histories;
    }

    private static IndexDefinition Compiled(JsonElement definition, ComputingEngine? computing) =>
        ComputedDefinition.Compile(IndexDefinition.FromJson(definition), computing).Definition;

    /// <summary>Reads the settings; those that are missing or unknown get their defaults.</summary>
    private static IndexSettings ReadSettings(JsonElement json)
    {
        if (!TryDefinition(json, out JsonElement definition))
            return new IndexSettings();

        string? Named(string name) =>
            definition.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String
                ? value.GetString()
                : null;
        return new IndexSettings
        {
            LockMode = Enum.TryParse(Named("LockMode"), out IndexLockMode mode) && Enum.IsDefined(mode)
                ? mode
                : IndexLockMode.Unlock,
            Priority = Enum.TryParse(Named("Priority"), out IndexPriority priority) && Enum.IsDefined(priority)
                ? priority
                : IndexPriority.Normal,
            IsDisabled = Named("State") == Disabled,
        };
    }

    private static IndexMapping? ReadMapping(JsonElement json, ComputingEngine? computing)
    {
        if (json.TryGetProperty("TreepieIndex"u8, out JsonElement byHand))
            return ByHand(() => IndexDefinitionJson.Read(byHand));

        if (json.TryGetProperty("TreepieGroups"u8, out JsonElement groups))
            return DefinitionJson.Read(JsonMarshal.GetRawUtf8Value(groups).ToArray()) as GroupDefinition;

        if (!TryDefinition(json, out JsonElement definition)
            || !json.TryGetProperty("Type"u8, out JsonElement type)
            || type.ValueKind != JsonValueKind.String)
            return null;
        if (definition.TryGetProperty("Maps"u8, out _))
            return ByHand(() => Compiled(definition, computing));
        if (!json.TryGetProperty("TreepieFields"u8, out JsonElement exact))
            return AutoDefinitionJson.Read(definition, type.GetString() ?? "");

        var fields = new List<AutoIndexField>();
        foreach (JsonElement field in exact.EnumerateArray())
        {
            string? longitude = field.TryGetProperty("Longitude"u8, out JsonElement path) ? path.GetString() : null;
            if (!Enum.TryParse(DumpJson.Text(field, "Kind"), out AutoIndexFieldKind kind)
                || kind == AutoIndexFieldKind.Point != longitude is not null)
                return null;
            fields.Add(new AutoIndexField(DumpJson.Text(field, "Path"), kind, longitude));
        }

        return AutoDefinitionJson.CollectionOf(definition) is { } collection
            ? AutoDefinitionJson.Of(collection, fields)
            : null;
    }

    private static bool TryDefinition(JsonElement json, out JsonElement definition) =>
        (json.TryGetProperty("IndexDefinition"u8, out definition) || json.TryGetProperty("Definition"u8, out definition))
            && definition.ValueKind == JsonValueKind.Object;

    private static StaticIndexMapping? ByHand(Func<IndexDefinition> read)
    {
        try
        {
            return new StaticIndexMapping(DefinitionCheck.RequireForm(read()));
        }
        catch (InvalidIndexDefinitionException)
        {
            return null; // it computes values, is from a later version, or was edited
        }
    }
}
