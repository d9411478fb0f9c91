using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Grouping;

namespace Treepie.Indexes.Directories;

/// <summary>
/// The definition of an index made by queries in RavenDB's form: its collection, <c>MapFields</c> and <c>GroupByFields</c>. A
/// dump has fields as an array of objects with names, a database record as an object by name; both are read. Fields that RavenDB
/// has no name for (geometries, vectors, computed values, least and greatest values of groups) are left out.
/// </summary>
internal static class AutoDefinitionJson
{
    public const string AutoMap = "AutoMap", AutoMapReduce = "AutoMapReduce";

    /// <summary>The name of the count of a group as a field.</summary>
    private const string Count = "Count";

    /// <summary>Returns the type in RavenDB's names; null for an index that no query made.</summary>
    public static string? TypeOf(IndexMapping mapping) => mapping switch
    {
        AutoIndexDefinition => AutoMap,
        GroupDefinition => AutoMapReduce,
        _ => null,
    };

    /// <summary>Writes an index made by queries, and what is set of it.</summary>
    /// <param name="json">Receives an object.</param>
    /// <param name="mapping">The definition.</param>
    /// <param name="settings">What is set of the index.</param>
    /// <param name="isRecord">Whether for a database record, not a dump.</param>
    public static void Write(Utf8JsonWriter json, IndexMapping mapping, IndexSettings settings, bool isRecord)
    {
        var groups = mapping as GroupDefinition;
        string collection = groups?.Collection ?? ((AutoIndexDefinition)mapping).Collection;
        json.WriteStartObject();
        json.WriteString("Name"u8, mapping.Name);
        json.WriteString("Type"u8, TypeOf(mapping));
        if (isRecord)
        {
            json.WriteString("Collection"u8, collection);
        }
        else
        {
            json.WriteStartArray("Collections"u8);
            json.WriteStringValue(collection);
            json.WriteEndArray();
        }

        Write(json, "MapFields", groups is null ? Mapped((AutoIndexDefinition)mapping) : Mapped(groups), isRecord);
        Write(json, "GroupByFields", groups is null ? [] : Keys(groups), isRecord);
        if (isRecord)
        {
            json.WriteStartArray("GroupByFieldNames"u8);
            foreach (GroupKey key in groups?.Keys ?? [])
                json.WriteStringValue(key.Path);
            json.WriteEndArray();
        }

        settings.WriteTo(json);
        json.WriteEndObject();
    }

    /// <summary>Reads an index made by queries; null if it has something that this program does not.</summary>
    public static IndexMapping? Read(JsonElement definition, string type)
    {
        if (CollectionOf(definition) is not { } collection
            || Fields(definition, "MapFields") is not { } mapped
            || Fields(definition, "GroupByFields") is not { } keys)
            return null;
        return type switch
        {
            AutoMap => ReadFields(collection, mapped),
            AutoMapReduce => ReadGroups(collection, keys, mapped),
            _ => null,
        };
    }

    /// <summary>Returns an index with these fields; null if one cannot be indexed.</summary>
    public static AutoIndexDefinition? Of(string collection, List<AutoIndexField> fields) =>
        fields.Count is > 0 and <= AutoIndexDefinition.MaxFields
        && fields.TrueForAll(static field => field.Path == AutoIndexField.Id || field.FieldPath is not null)
            ? new AutoIndexDefinition(collection, fields)
            : null;

    /// <summary>Returns the collection; null if there are several.</summary>
    public static string? CollectionOf(JsonElement definition) =>
        definition.TryGetProperty("Collections"u8, out JsonElement all)
            ? all.ValueKind == JsonValueKind.Array && all.GetArrayLength() == 1 ? Text(all[0]) : null
            : definition.TryGetProperty("Collection"u8, out JsonElement one) ? Text(one) : null;

    private static IEnumerable<Field> Mapped(AutoIndexDefinition definition) =>
        definition.Fields.Where(static field => field.HasTerms)
            .GroupBy(static field => field.Path, StringComparer.Ordinal)
            .Select(static field => new Field(field.Key, string.Join(", ", field.Select(IndexingOf))));

    private static IEnumerable<Field> Mapped(GroupDefinition groups) =>
        groups.Aggregates.Where(static one => one.Kind == GroupAggregateKind.Sum)
            .Select(static one => new Field(one.Path, IndexingOf()) { Aggregation = "Sum" })
            .Prepend(new Field(Count, IndexingOf()) { Aggregation = "Count" });

    private static IEnumerable<Field> Keys(GroupDefinition groups) => groups.Keys.Select(
        key => new Field(
            key.Path,
            string.Join(
                ", ",
                groups.Further.Where(field => field.Path == key.Member && field.HasTerms).Select(IndexingOf)
                    .Prepend(IndexingOf())))
        {
            Array = !key.Path.Contains('[', StringComparison.Ordinal) ? "NotApplicable"
                : key.IsContent ? "ByContent"
                : "ByIndividualValues",
        });

    private static void Write(Utf8JsonWriter json, string name, IEnumerable<Field> fields, bool byName)
    {
        json.WritePropertyName(name);
        if (byName)
            json.WriteStartObject();
        else
            json.WriteStartArray();
        foreach (Field field in fields)
        {
            if (byName)
                json.WriteStartObject(field.Name);
            else
                json.WriteStartObject();
            json.WriteString("Name"u8, field.Name);
            json.WriteString("Indexing"u8, field.Indexing);
            json.WriteString("Storage"u8, "No"u8);
            json.WriteString("Aggregation"u8, field.Aggregation);
            if (field.Array is not null)
                json.WriteString("GroupByArrayBehavior"u8, field.Array);
            json.WriteEndObject();
        }

        if (byName)
            json.WriteEndObject();
        else
            json.WriteEndArray();
    }

    private static AutoIndexDefinition? ReadFields(string collection, List<Field> mapped) =>
        mapped.TrueForAll(static field => field.Aggregation is "None")
            ? Of(
                collection,
                [.. mapped.SelectMany(static field => KindsOf(field).Select(kind => new AutoIndexField(field.Name, kind)))])
            : null;

    private static GroupDefinition? ReadGroups(string collection, List<Field> keys, List<Field> mapped)
    {
        List<GroupAggregate> sums = [
            .. mapped.Where(static field => field.Aggregation == "Sum")
                .Select(static field => new GroupAggregate(GroupAggregateKind.Sum, field.Name))];
        if (keys.Count is 0 or > GroupDefinition.MaxKeys
            || sums.Count > GroupDefinition.MaxAggregates
            || mapped.Exists(static field => field.Aggregation is not ("Sum" or "Count"))
            || keys.Exists(static field => FieldPath.TryParse(field.Name) is null)
            || sums.Exists(static sum => FieldPath.TryParse(sum.Path) is null))
            return null;
        var groups = new GroupDefinition(
            collection, [.. keys.Select(static key => new GroupKey(key.Name, key.Array == "ByContent"))], sums, []);
        return groups.With(
            keys.Zip(groups.Keys)
                .SelectMany(
                    pair => KindsOf(pair.First)
                        .Where(static kind => kind != AutoIndexFieldKind.Value)
                        .Select(kind => groups.Resolve(new AutoIndexField(pair.Second.Member, kind))))
                .OfType<AutoIndexField>());
    }

    /// <summary>Reads fields from an array, or from an object with one member per field; null if one cannot be built.</summary>
    private static List<Field>? Fields(JsonElement definition, string member)
    {
        if (!definition.TryGetProperty(member, out JsonElement given))
            return [];
        var fields = new List<Field>();
        foreach ((string? name, JsonElement field) in given.ValueKind switch
        {
            JsonValueKind.Array => given.EnumerateArray().Select(static field => (NameOf(field), field)),
            JsonValueKind.Object => given.EnumerateObject().Select(static field => ((string?)field.Name, field.Value)),
            _ => [],
        })
        {
            if (name is null || IsObject(field, "Spatial") || IsObject(field, "Vector"))
                return null;
            fields.Add(new Field(name, TextOf(field, "Indexing") ?? "")
            {
                Aggregation = TextOf(field, "Aggregation") ?? "None",
                Array = TextOf(field, "GroupByArrayBehavior"),
            });
        }

        return fields;
    }

    private static string? NameOf(JsonElement field) => TextOf(field, "Name");

    private static bool IsObject(JsonElement field, string member) =>
        field.ValueKind == JsonValueKind.Object
        && field.TryGetProperty(member, out JsonElement value)
        && value.ValueKind == JsonValueKind.Object;

    private static string? TextOf(JsonElement field, string member) =>
        field.ValueKind == JsonValueKind.Object && field.TryGetProperty(member, out JsonElement value) ? Text(value) : null;

    private static string? Text(JsonElement value) => value.ValueKind == JsonValueKind.String ? value.GetString() : null;

    private static string IndexingOf(AutoIndexField? field = null) =>
        field is null or { Kind: AutoIndexFieldKind.Value } ? "Default" : field.Kind.ToString();

    private static IEnumerable<AutoIndexFieldKind> KindsOf(Field field)
    {
        yield return AutoIndexFieldKind.Value;
        if (field.Indexing.Contains("Search", StringComparison.Ordinal))
            yield return AutoIndexFieldKind.Search;
        if (field.Indexing.Contains("Exact", StringComparison.Ordinal))
            yield return AutoIndexFieldKind.Exact;
    }

    /// <summary>A field in RavenDB's names.</summary>
    private sealed record Field(string Name, string Indexing)
    {
        public string Aggregation { get; init; } = "None";

        public string? Array { get; init; }
    }
}
