using System.Buffers;
using System.Text.Json;

namespace Treepie.Indexes.Definitions;

/// <summary>A definition as JSON, as it lies in <c>definition.json</c>, or in the tree of an encrypted database.</summary>
internal static class DefinitionJson
{
    private const int Version = 1;

    public static byte[] Write(IndexMapping definition)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer, new JsonWriterOptions { Indented = true }))
            Write(writer, definition);
        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>The definition; null where it is none, or one of another version.</summary>
    public static IndexMapping? Read(ReadOnlyMemory<byte> utf8)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(utf8);
            JsonElement root = json.RootElement;
            if (root.GetProperty("Version"u8).GetInt32() != Version)
                return null;
            if (root.TryGetProperty("Static"u8, out JsonElement byHand))
                return new StaticIndexMapping(IndexDefinitionJson.Read(byHand));

            var fields = new List<AutoIndexField>();
            foreach (JsonElement field in root.GetProperty("Fields"u8).EnumerateArray())
            {
                string? longitude = field.TryGetProperty("Longitude"u8, out JsonElement second) ? second.GetString() : null;
                if (field.GetProperty("Path"u8).GetString() is { } path && Enum.TryParse(field.GetProperty("Kind"u8).GetString(), out AutoIndexFieldKind kind))
                    fields.Add(new AutoIndexField(path, kind, longitude));
            }

            return root.GetProperty("Collection"u8).GetString() is { } collection ? new AutoIndexDefinition(collection, fields) : null;
        }
        catch (Exception error) when (error is JsonException or KeyNotFoundException or InvalidOperationException or FormatException or InvalidIndexDefinitionException)
        {
            return null;
        }
    }

    private static void Write(Utf8JsonWriter writer, IndexMapping mapping)
    {
        writer.WriteStartObject();
        writer.WriteNumber("Version"u8, Version);
        writer.WriteString("Name"u8, mapping.Name);
        if (mapping is StaticIndexMapping byHand)
        {
            writer.WritePropertyName("Static"u8);
            IndexDefinitionJson.Write(writer, byHand.Definition);
        }
        else
        {
            WriteAuto(writer, (AutoIndexDefinition)mapping);
        }

        writer.WriteEndObject();
    }

    private static void WriteAuto(Utf8JsonWriter writer, AutoIndexDefinition definition)
    {
        writer.WriteString("Collection"u8, definition.Collection);
        writer.WriteStartArray("Fields"u8);
        foreach (AutoIndexField field in definition.Fields)
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
