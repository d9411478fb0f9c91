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
    private const string AutoMap = "AutoMap";
    private const string AutoMapReduce = "AutoMapReduce";
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
        json.WriteString("Type"u8, AutoMapReduce);
        json.WriteStartObject("IndexDefinition"u8);
        json.WriteString("Name"u8, definition.Name);
        json.WriteString("Type"u8, AutoMapReduce);
        json.WriteStartArray("Collections"u8);
        json.WriteStringValue(definition.Collection);
        json.WriteEndArray();
        RavenDefinition.WriteSettings(json, settings);
        json.WriteEndObject();
        json.WritePropertyName("TreepieGroups"u8);
        json.WriteRawValue(DefinitionJson.Write(definition));
        json.WriteEndObject();
    }

    private static void WriteAuto(Utf8JsonWriter json, AutoIndexDefinition definition, IndexSettings settings)
    {
        json.WriteStartObject();
        json.WriteString("Type"u8, AutoMap);
        json.WriteStartObject("IndexDefinition"u8);
        json.WriteString("Name"u8, definition.Name);
        json.WriteString("Type"u8, AutoMap);
        json.WriteStartArray("Collections"u8);
        json.WriteStringValue(definition.Collection);
        json.WriteEndArray();
        json.WriteStartArray("MapFields"u8);
        foreach (IGrouping<string, AutoIndexField> field in definition.Fields.Where(field => field.HasTerms)
            .GroupBy(field => field.Path, StringComparer.Ordinal))
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, field.Key);
            json.WriteString("Indexing"u8, string.Join(", ", field.Select(IndexingOf)));
            json.WriteString("Storage"u8, "No"u8);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteStartArray("GroupByFields"u8);
        json.WriteEndArray();
        RavenDefinition.WriteSettings(json, settings);
        json.WriteEndObject();
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
        if (!type.ValueEquals(AutoMap))
            return definition.TryGetProperty("Maps"u8, out _)
                ? ByHand(() => Compiled(definition, computing))
                : null;

        var fields = new List<AutoIndexField>();
        if (json.TryGetProperty("TreepieFields"u8, out JsonElement exact))
        {
            foreach (JsonElement field in exact.EnumerateArray())
            {
                string? longitude = field.TryGetProperty("Longitude"u8, out JsonElement path) ? path.GetString() : null;
                if (!Enum.TryParse(DumpJson.Text(field, "Kind"), out AutoIndexFieldKind kind)
                    || kind == AutoIndexFieldKind.Point != longitude is not null)
                    return null;
                fields.Add(new AutoIndexField(DumpJson.Text(field, "Path"), kind, longitude));
            }
        }
        else if (definition.TryGetProperty("MapFields"u8, out JsonElement named))
        {
            if (!TryFields(named, fields))
                return null;
        }

        bool isKnown = fields.Count <= AutoIndexDefinition.MaxFields
            && fields.TrueForAll(field => field.Path == AutoIndexField.Id || field.FieldPath is not null);
        return isKnown && fields.Count > 0 && CollectionOf(definition) is { } collection
            ? new AutoIndexDefinition(collection, fields)
            : null;
    }

    private static bool TryDefinition(JsonElement json, out JsonElement definition) =>
        (json.TryGetProperty("IndexDefinition"u8, out definition) || json.TryGetProperty("Definition"u8, out definition))
            && definition.ValueKind == JsonValueKind.Object;

    /// <summary>Returns the collection of an auto-index; null if there are several.</summary>
    private static string? CollectionOf(JsonElement definition)
    {
        if (!definition.TryGetProperty("Collections"u8, out JsonElement collections))
            return DumpJson.Text(definition, "Collection");
        if (collections.ValueKind != JsonValueKind.Array || collections.GetArrayLength() != 1)
            return null;
        return collections[0].GetString();
    }

    /// <summary>
    /// Reads fields from an array, or from an object with one member per field; returns false if a field is of a kind that
    /// cannot be built from this information.
    /// </summary>
    private static bool TryFields(JsonElement named, List<AutoIndexField> fields)
    {
        IEnumerable<(string Name, JsonElement Field)> all = named.ValueKind switch
        {
            JsonValueKind.Array => named.EnumerateArray().Select(static field => (DumpJson.Text(field, "Name"), field)),
            JsonValueKind.Object => named.EnumerateObject().Select(static field => (field.Name, field.Value)),
            _ => [],
        };
        foreach ((string name, JsonElement field) in all)
        {
            if (Computes(field, "Spatial") || Computes(field, "Vector"))
                return false;
            fields.AddRange(KindsOf(field).Select(kind => new AutoIndexField(name, kind)));
        }

        return true;
    }

    private static bool Computes(JsonElement field, string member) =>
        field.ValueKind == JsonValueKind.Object
            && field.TryGetProperty(member, out JsonElement value)
            && value.ValueKind == JsonValueKind.Object;

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

    private static string IndexingOf(AutoIndexField field) =>
        field.Kind == AutoIndexFieldKind.Value ? "Default" : field.Kind.ToString();

    private static IEnumerable<AutoIndexFieldKind> KindsOf(JsonElement field)
    {
        string indexing = field.ValueKind == JsonValueKind.Object && field.TryGetProperty("Indexing"u8, out JsonElement text)
            ? text.GetString() ?? ""
            : "";
        yield return AutoIndexFieldKind.Value;
        if (indexing.Contains("Search", StringComparison.Ordinal))
            yield return AutoIndexFieldKind.Search;
        if (indexing.Contains("Exact", StringComparison.Ordinal))
            yield return AutoIndexFieldKind.Exact;
    }
}
