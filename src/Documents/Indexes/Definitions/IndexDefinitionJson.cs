using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// A definition as JSON, the form in which it is stored, sent and kept in backups. Default values are omitted, so equal
/// definitions have equal bytes. Unknown members are rejected, not ignored.
/// <code>
/// {"Name":"Orders/ByCompany","Collections":["Orders"],"Fields":{"Company":{},"City":{"Path":"ShipTo.City"},
///  "Notes":{"Indexing":"Search","Analyzer":"EnglishAnalyzer","Boost":2,"Sort":true},
///  "Where":{"Spatial":{"Latitude":"…","Longitude":"…"}}}}
/// </code>
/// </summary>
internal static class IndexDefinitionJson
{
    /// <summary>The name under which clients specify the options of all fields.</summary>
    public const string AllFields = "__all_fields";

    private const string Archived = "ArchivedDataProcessingBehavior";
    private const string Configuration = "Configuration";
    private const string OutputCollection = "OutputReduceToCollection";
    private const string OutputPattern = "PatternForOutputReduceToCollectionReferences";
    private const string OutputReferences = "PatternReferencesCollectionName";

    private static readonly JsonWriterOptions _options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>Returns whether two definitions result in the same index, even if they are written differently.</summary>
    public static bool AreSame(IndexDefinition one, IndexDefinition other) =>
        one.Computes == other.Computes && Write(WithoutWords(one)).AsSpan().SequenceEqual(Write(WithoutWords(other)));

    public static byte[] Write(IndexDefinition definition)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer, _options))
            Write(json, definition);
        return buffer.WrittenSpan.ToArray();
    }

    public static void Write(Utf8JsonWriter json, IndexDefinition definition)
    {
        json.WriteStartObject();
        WriteMembers(json, definition);
        json.WriteEndObject();
    }

    /// <summary>Writes the members of a definition into an open object.</summary>
    public static void WriteMembers(Utf8JsonWriter json, IndexDefinition definition)
    {
        json.WriteString("Name"u8, definition.Name);
        json.WriteStartArray("Collections"u8);
        foreach (string collection in definition.Collections)
            json.WriteStringValue(collection);
        json.WriteEndArray();
        if (definition.Boost is not null)
            json.WriteString("Boost"u8, definition.Boost);
        if (definition.Maps.Count > 0)
        {
            json.WriteStartArray("Maps"u8);
            foreach (string map in definition.Maps)
                json.WriteStringValue(map);
            json.WriteEndArray();
        }

        if (definition.Reduce is not null)
            json.WriteString("Reduce"u8, definition.Reduce);
        WriteText(json, OutputCollection, definition.OutputReduceToCollection);
        WriteText(json, OutputPattern, definition.PatternForOutputReduceToCollectionReferences);
        WriteText(json, OutputReferences, definition.PatternReferencesCollectionName);
        if (definition.AdditionalSources.Count > 0)
        {
            json.WriteStartObject("AdditionalSources"u8);
            foreach ((
                string name,
                string code) in definition.AdditionalSources.OrderBy(static source => source.Key, StringComparer.Ordinal))
                json.WriteString(name, code);
            json.WriteEndObject();
        }

        if (definition.Configuration.Count > 0)
            WriteConfiguration(json, definition);

        if (definition.CompoundFields.Count > 0)
        {
            json.WriteStartArray("CompoundFields"u8);
            foreach (CompoundField pair in definition.CompoundFields)
            {
                json.WriteStartArray();
                json.WriteStringValue(pair.Equal);
                json.WriteStringValue(pair.Order);
                json.WriteEndArray();
            }

            json.WriteEndArray();
        }

        if (definition.ArchivedDocuments != ArchivedDocuments.ExcludeArchived)
            json.WriteString(Archived, definition.ArchivedDocuments.ToString());
        if (definition.Computes)
            json.WriteBoolean("Computes"u8, true);
        json.WriteStartObject("Fields"u8);
        foreach (IndexFieldDefinition field in definition.Fields)
            WriteField(json, field);
        if (definition.AllFields is { } all)
            WriteField(json, all with { Name = AllFields });
        json.WriteEndObject();
    }

    /// <summary>Writes the settings of a definition, in the order of their names.</summary>
    public static void WriteConfiguration(Utf8JsonWriter json, IndexDefinition definition)
    {
        json.WriteStartObject(Configuration);
        foreach ((string name, string value) in definition.Configuration.OrderBy(
            static setting => setting.Key, StringComparer.Ordinal))
            json.WriteString(name, value);
        json.WriteEndObject();
    }

    /// <summary>Reads a definition; <paramref name="isForeign"/> accepts members that are read elsewhere.</summary>
    /// <exception cref="InvalidIndexDefinitionException">A member has the wrong type or is unknown.</exception>
    public static IndexDefinition Read(JsonElement json, Func<string, bool>? isForeign = null)
    {
        string name = json.ValueKind == JsonValueKind.Object
            && json.TryGetProperty("Name"u8, out JsonElement given)
            && given.ValueKind == JsonValueKind.String
            ? given.GetString() ?? ""
            : throw new InvalidIndexDefinitionException("", "Name", "it is a JSON object with a 'Name', which is a string.");
        var reader = new DefinitionReader(name);
        List<string> collections = [], maps = [];
        List<IndexFieldDefinition> fields = [];
        List<CompoundField> compounds = [];
        string? boost = null, reduce = null, output = null, pattern = null, references = null;
        bool computes = false;
        var archived = ArchivedDocuments.ExcludeArchived;
        IReadOnlyDictionary<string, string> sources = new Dictionary<string, string>(),
            settings = new Dictionary<string, string>();
        foreach (JsonProperty member in json.EnumerateObject())
        {
            switch (member.Name)
            {
                case "Name":
                    break;
                case "Collections":
                    collections = reader.Texts(member);
                    break;
                case "Boost":
                    boost = reader.Path(member);
                    break;
                case "Maps":
                    maps = reader.Texts(member);
                    break;
                case "Reduce":
                    reduce = reader.Code(member);
                    break;
                case OutputCollection:
                    output = reader.Code(member);
                    break;
                case OutputPattern:
                    pattern = reader.Code(member);
                    break;
                case OutputReferences:
                    references = reader.Code(member);
                    break;
                case "AdditionalSources":
                    sources = reader.Codes(member);
                    break;
                case Configuration:
                    settings = reader.Settings(member);
                    break;
                case "CompoundFields":
                    compounds = reader.Compounds(member);
                    break;
                case Archived:
                    archived = reader.Archived(member);
                    break;
                case "Computes":
                    computes = reader.IsTrue(member);
                    break;
                case "Fields":
                    fields = reader.Fields(member);
                    break;
                default:
                    if (isForeign?.Invoke(member.Name) != true)
                        throw reader.Refuse(
                            member.Name,
                            $"'{member.Name}' is not a part of a definition; those are Name, Collections, Boost, Maps, Reduce, "
                                + $"AdditionalSources, Configuration and Fields.");
                    break;
            }
        }

        return new IndexDefinition
        {
            Name = name,
            Collections = collections,
            Boost = boost,
            Maps = maps,
            Reduce = reduce,
            OutputReduceToCollection = output,
            PatternForOutputReduceToCollectionReferences = pattern,
            PatternReferencesCollectionName = references,
            AdditionalSources = sources,
            Configuration = settings,
            CompoundFields = compounds,
            Computes = computes,
            ArchivedDocuments = archived,
            Fields = [.. fields.Where(static field => field.Name != AllFields)],
            AllFields = fields.FirstOrDefault(static field => field.Name == AllFields)
        };
    }

    /// <summary>Removes maps that only select paths, as the fields have the same meaning.</summary>
    private static IndexDefinition WithoutWords(IndexDefinition definition) =>
        definition.Computes ? definition : definition with { Maps = [] };

    private static void WriteText(Utf8JsonWriter json, string name, string? text)
    {
        if (text is not null)
            json.WriteString(name, text);
    }

    private static void WriteField(Utf8JsonWriter json, IndexFieldDefinition field)
    {
        json.WriteStartObject(field.Name);
        if (field.Path is not null)
            json.WriteString("Path"u8, field.Path);
        if (field.Indexing != FieldIndexing.Default)
            json.WriteString("Indexing"u8, field.Indexing.ToString());
        if (field.Analyzer is not null)
            json.WriteString("Analyzer"u8, field.Analyzer);
        if (field.Boost != 1)
            json.WriteNumber("Boost"u8, field.Boost);
        if (field.Sort)
            json.WriteBoolean("Sort"u8, true);
        if (field.Stored)
            json.WriteBoolean("Stored"u8, true);
        if (field.Suggestions)
            json.WriteBoolean("Suggestions"u8, true);
        if (field.Spatial is { } place)
        {
            json.WriteStartObject("Spatial"u8);
            if (place.Latitude is not null)
                json.WriteString("Latitude"u8, place.Latitude);
            if (place.Longitude is not null)
                json.WriteString("Longitude"u8, place.Longitude);
            if (place.Wkt is not null)
                json.WriteString("Wkt"u8, place.Wkt);
            if (place.IsInMiles)
                json.WriteString("Units"u8, "Miles"u8);
            json.WriteEndObject();
        }

        if (field.Vector is { } vector)
        {
            json.WriteStartObject("Vector"u8);
            if (vector.Dimensions > 0)
                json.WriteNumber("Dimensions"u8, vector.Dimensions);
            if (vector.Bytes)
                json.WriteBoolean("Bytes"u8, true);
            if (vector.Bits)
                json.WriteBoolean("Bits"u8, true);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }
}
