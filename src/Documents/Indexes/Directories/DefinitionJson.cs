using System.Buffers;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Grouping;

namespace Treepie.Indexes.Directories;

/// <summary>
/// Reads and writes a definition as JSON, the format of <c>definition.json</c> and of the tree in an encrypted database.
/// </summary>
internal static class DefinitionJson
{
    private const int Version = 1;

    /// <summary>
    /// The version of definitions with computed fields and packed bits, which earlier programs do not know and leave out.
    /// </summary>
    private const int VersionWithComputed = 2;

    public static byte[] Write(IndexMapping definition)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer, new JsonWriterOptions { Indented = true }))
            Write(writer, definition);
        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Reads a definition; returns null if it is not valid or has another version.</summary>
    public static IndexMapping? Read(ReadOnlyMemory<byte> utf8)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(utf8);
            JsonElement root = json.RootElement;
            if (root.GetProperty("Version"u8).GetInt32() is not (Version or VersionWithComputed))
                return null;
            if (root.TryGetProperty("Static"u8, out JsonElement byHand))
                return new StaticIndexMapping(IndexDefinitionJson.Read(byHand), dynamicFields: ReadDynamic(root))
                    .WithAnalyzers(ReadAnalyzers(root));

            string? collection = root.GetProperty("Collection"u8).GetString();
            if (root.TryGetProperty("GroupBy"u8, out JsonElement keys))
                return collection is null ? null : ReadGroups(collection, keys, root);

            List<AutoIndexField> fields = ReadFields(root);
            return collection is null ? null : new AutoIndexDefinition(collection, fields, HasHash(root));
        }
        catch (Exception error)
            when (error is JsonException or KeyNotFoundException or InvalidOperationException or FormatException
                or InvalidIndexDefinitionException or ArgumentException)
        {
            return null;
        }
    }

    private static List<DynamicField> ReadDynamic(JsonElement root)
    {
        var fields = new List<DynamicField>();
        if (root.TryGetProperty("DynamicFields"u8, out JsonElement met))
            foreach (JsonElement field in met.EnumerateArray())
                if (field.GetProperty("Name"u8).GetString() is { } name
                    && Enum.TryParse(field.GetProperty("Use"u8).GetString(), out DynamicFieldUse use))
                    fields.Add(new DynamicField(name, use));
        return fields;
    }

    private static GroupDefinition ReadGroups(string collection, JsonElement keys, JsonElement root)
    {
        var grouped = new List<GroupKey>();
        foreach (JsonElement key in keys.EnumerateArray())
            grouped.Add(new GroupKey(key.GetProperty("Path"u8).GetString() ?? "", key.GetProperty("IsContent"u8).GetBoolean()));
        var aggregates = new List<GroupAggregate>();
        foreach (GroupAggregateKind kind in Enum.GetValues<GroupAggregateKind>())
            if (root.TryGetProperty(NameOf(kind), out JsonElement paths))
                foreach (JsonElement path in paths.EnumerateArray())
                    aggregates.Add(new GroupAggregate(kind, path.GetString() ?? ""));
        var groups = new GroupDefinition(collection, grouped, aggregates, [], HasHash(root));
        return groups.With(ReadFields(root).Select(groups.Resolve).OfType<AutoIndexField>());
    }

    private static bool HasHash(JsonElement root) => root.TryGetProperty("HasHash"u8, out JsonElement flag) && flag.GetBoolean();

    private static Dictionary<string, string> ReadAnalyzers(JsonElement root)
    {
        var analyzers = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        if (root.TryGetProperty("Analyzers"u8, out JsonElement given))
            foreach (JsonProperty analyzer in given.EnumerateObject())
                analyzers.Add(analyzer.Name, analyzer.Value.GetString() ?? "");
        return analyzers;
    }

    private static List<AutoIndexField> ReadFields(JsonElement root)
    {
        var fields = new List<AutoIndexField>();
        foreach (JsonElement field in root.GetProperty("Fields"u8).EnumerateArray())
        {
            string? longitude = field.TryGetProperty("Longitude"u8, out JsonElement second) ? second.GetString() : null;
            if (field.GetProperty("Path"u8).GetString() is { } path
                && Enum.TryParse(field.GetProperty("Kind"u8).GetString(), out AutoIndexFieldKind kind))
                fields.Add(new AutoIndexField(path, kind, longitude));
        }

        return fields;
    }

    private static void Write(Utf8JsonWriter writer, IndexMapping mapping)
    {
        writer.WriteStartObject();
        bool isComputed = mapping.Fields.Any(static field =>
            field.Kind == AutoIndexFieldKind.PackedBits || ComputedKinds.IsComputed(field.Kind));
        writer.WriteNumber("Version"u8, isComputed ? VersionWithComputed : Version);
        writer.WriteString("Name"u8, mapping.Name);
        if (mapping is StaticIndexMapping byHand)
        {
            writer.WritePropertyName("Static"u8);
            IndexDefinitionJson.Write(writer, byHand.Definition);
            WriteDynamic(writer, byHand.DynamicFields);
            if (byHand.Analyzers.Count > 0)
            {
                writer.WriteStartObject("Analyzers"u8);
                foreach ((string analyzer, string code) in byHand.Analyzers)
                    writer.WriteString(analyzer, code);
                writer.WriteEndObject();
            }
        }
        else if (mapping is GroupDefinition groups)
        {
            WriteGroups(writer, groups);
        }
        else
        {
            var auto = (AutoIndexDefinition)mapping; // there are three kinds of mappings
            writer.WriteString("Collection"u8, auto.Collection);
            if (auto.HasHash)
                writer.WriteBoolean("HasHash"u8, true);
            WriteFields(writer, auto.Fields);
        }

        writer.WriteEndObject();
    }

    private static void WriteDynamic(Utf8JsonWriter writer, IReadOnlyList<DynamicField> fields)
    {
        if (fields.Count == 0)
            return;
        writer.WriteStartArray("DynamicFields"u8);
        foreach (DynamicField field in fields)
        {
            writer.WriteStartObject();
            writer.WriteString("Name"u8, field.Name);
            writer.WriteString("Use"u8, field.Use.ToString());
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }

    private static void WriteGroups(Utf8JsonWriter writer, GroupDefinition definition)
    {
        writer.WriteString("Collection"u8, definition.Collection);
        writer.WriteStartArray("GroupBy"u8);
        foreach (GroupKey key in definition.Keys)
        {
            writer.WriteStartObject();
            writer.WriteString("Path"u8, key.Path);
            writer.WriteBoolean("IsContent"u8, key.IsContent);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        foreach (GroupAggregateKind kind in Enum.GetValues<GroupAggregateKind>())
        {
            string[] paths = [.. definition.Aggregates.Where(one => one.Kind == kind).Select(one => one.Path)];
            if (paths.Length == 0 && kind != GroupAggregateKind.Sum)
                continue;
            writer.WriteStartArray(NameOf(kind));
            foreach (string path in paths)
                writer.WriteStringValue(path);
            writer.WriteEndArray();
        }

        if (definition.HasHash)
            writer.WriteBoolean("HasHash"u8, true);
        WriteFields(writer, definition.Further);
    }

    private static string NameOf(GroupAggregateKind kind) => kind switch
    {
        GroupAggregateKind.Sum => "Sums",
        GroupAggregateKind.Min => "Mins",
        _ => "Maxes",
    };

    private static void WriteFields(Utf8JsonWriter writer, IReadOnlyList<AutoIndexField> fields)
    {
        writer.WriteStartArray("Fields"u8);
        foreach (AutoIndexField field in fields)
        {
            writer.WriteStartObject();
            writer.WriteString("Path"u8, field.Path);
            writer.WriteString("Kind"u8, field.Kind.ToString());
            if (field.Longitude is { } longitude)
                writer.WriteString("Longitude"u8, longitude);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }
}
