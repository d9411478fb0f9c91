using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;

namespace Treepie.Backups;

/// <summary>
/// Writes an index defined by the user as RavenDB's dumps have it: maps also where it is defined by paths, options of fields
/// under RavenDB's names, and what is set of it. What RavenDB has no name for is left out: boosts, and whether a full-text field
/// can be sorted by.
/// </summary>
internal static class RavenDefinition
{
    /// <summary>Returns the type in RavenDB's names, such as <c>JavaScriptMapReduce</c>.</summary>
    public static string TypeOf(IndexDefinition definition) =>
        (MapsOf(definition).Any(IsJavaScript) ? "JavaScriptMap" : "Map") + (definition.Reduce is null ? "" : "Reduce");

    public static void Write(Utf8JsonWriter json, StaticIndexMapping mapping, IndexSettings settings)
    {
        IndexDefinition definition = mapping.Definition;
        json.WriteStartObject();
        json.WriteString("Name"u8, definition.Name);
        json.WriteString("Type"u8, TypeOf(definition));
        if (mapping.AnyMap is not null || !definition.Computes)
            json.WriteString("SourceType"u8, mapping.Source.ToString());
        settings.WriteTo(json);
        json.WriteStartArray("Maps"u8);
        foreach (string map in MapsOf(definition))
            json.WriteStringValue(map);
        json.WriteEndArray();
        WriteText(json, "Reduce", definition.Reduce);
        json.WriteStartObject("Fields"u8);
        foreach (IndexFieldDefinition field in definition.FieldOptions)
            WriteField(json, field, ReferenceEquals(field, definition.AllFields) ? IndexDefinitionJson.AllFields : field.Name);
        json.WriteEndObject();
        IndexDefinitionJson.WriteConfiguration(json, definition);
        json.WriteStartObject("AdditionalSources"u8);
        foreach ((string name, string code) in definition.AdditionalSources)
            json.WriteString(name, code);
        json.WriteEndObject();
        WriteCompounds(json, definition.CompoundFields);
        WriteText(json, "OutputReduceToCollection", definition.OutputReduceToCollection);
        WriteText(
            json, "PatternForOutputReduceToCollectionReferences", definition.PatternForOutputReduceToCollectionReferences);
        WriteText(json, "PatternReferencesCollectionName", definition.PatternReferencesCollectionName);
        json.WriteString("ArchivedDataProcessingBehavior"u8, definition.ArchivedDocuments.ToString());
        json.WriteEndObject();
    }

    private static IReadOnlyList<string> MapsOf(IndexDefinition definition) =>
        definition.Maps.Count > 0 ? definition.Maps : PathMapText.MapsOf(definition);

    private static bool IsJavaScript(string map)
    {
        ReadOnlySpan<char> text = map.AsSpan().TrimStart();
        return text.StartsWith("map(", StringComparison.Ordinal)
            || text.StartsWith("timeSeries.map(", StringComparison.Ordinal)
            || text.StartsWith("counters.map(", StringComparison.Ordinal);
    }

    private static void WriteField(Utf8JsonWriter json, IndexFieldDefinition field, string name)
    {
        json.WriteStartObject(name);
        if (field.Indexing != FieldIndexing.Default)
            json.WriteString("Indexing"u8, field.Indexing.ToString());
        WriteText(json, "Analyzer", field.Analyzer);
        if (field.Stored)
            json.WriteString("Storage"u8, "Yes"u8);
        if (field.Suggestions)
            json.WriteBoolean("Suggestions"u8, true);
        if (field.Spatial is { } place)
        {
            // The defaults of RavenDB's options, which do not change results.
            json.WriteStartObject("Spatial"u8);
            json.WriteString("Type"u8, "Geography"u8);
            json.WriteString("Strategy"u8, "GeohashPrefixTree"u8);
            json.WriteNumber("MaxTreeLevel"u8, 9);
            json.WriteString("Units"u8, place.IsInMiles ? "Miles"u8 : "Kilometers"u8);
            json.WriteEndObject();
        }

        if (field.Vector is { } vector)
        {
            json.WriteStartObject("Vector"u8);
            if (vector.Dimensions > 0)
                json.WriteNumber("Dimensions"u8, vector.Dimensions);
            json.WriteString("SourceEmbeddingType"u8, "Single"u8);
            json.WriteString("DestinationEmbeddingType"u8, vector.Bits ? "Binary"u8 : vector.Bytes ? "Int8"u8 : "Single"u8);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private static void WriteCompounds(Utf8JsonWriter json, IReadOnlyList<CompoundField> pairs)
    {
        json.WriteStartArray("CompoundFields"u8);
        foreach (CompoundField pair in pairs)
        {
            json.WriteStartArray();
            json.WriteStringValue(pair.Equal);
            json.WriteStringValue(pair.Order);
            json.WriteEndArray();
        }

        json.WriteEndArray();
    }

    private static void WriteText(Utf8JsonWriter json, string name, string? text)
    {
        if (text is not null)
            json.WriteString(name, text);
    }
}
