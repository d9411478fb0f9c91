using System.Text.Json;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// Reads the members of a definition's JSON, with error messages. RavenDB's option names are accepted where their meaning is
/// supported.
/// </summary>
internal sealed class DefinitionReader(string indexName)
{
    public InvalidIndexDefinitionException Refuse(string property, string problem) => new(indexName, property, problem);

    public List<string> Texts(JsonProperty member)
    {
        if (member.Value.ValueKind == JsonValueKind.Null)
            return [];
        if (member.Value.ValueKind != JsonValueKind.Array
            || member.Value.EnumerateArray().Any(e => e.ValueKind != JsonValueKind.String))
            throw Refuse(member.Name, $"'{member.Name}' is an array of strings.");
        return [.. member.Value.EnumerateArray().Select(e => e.GetString() ?? "")];
    }

    public string? Path(JsonProperty member) => member.Value.ValueKind switch
    {
        JsonValueKind.String => member.Value.GetString(),
        JsonValueKind.Null => null,
        _ => throw Refuse(member.Name, $"'{member.Name}' is the path of a number, a string."),
    };

    public ArchivedDocuments Archived(JsonProperty member)
    {
        if (member.Value.ValueKind == JsonValueKind.Null)
            return ArchivedDocuments.ExcludeArchived;
        return member.Value.ValueKind == JsonValueKind.String
            && Enum.TryParse(member.Value.GetString(), out ArchivedDocuments archived)
            && Enum.IsDefined(archived)
                ? archived
                : throw Refuse(
                    member.Name, $"'{member.Name}' is ExcludeArchived, IncludeArchived or ArchivedOnly.");
    }

    public string? Code(JsonProperty member) => member.Value.ValueKind switch
    {
        JsonValueKind.String => member.Value.GetString() is { Length: > 0 } text ? text : null,
        JsonValueKind.Null => null,
        _ => throw Refuse(member.Name, $"'{member.Name}' is a text."),
    };

    public IReadOnlyDictionary<string, string> Codes(JsonProperty member)
    {
        if (member.Value.ValueKind == JsonValueKind.Null)
            return new Dictionary<string, string>();
        if (member.Value.ValueKind != JsonValueKind.Object
            || member.Value.EnumerateObject().Any(static source => source.Value.ValueKind != JsonValueKind.String))
            throw Refuse(member.Name, $"'{member.Name}' is an object of texts by their names.");
        var sources = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (JsonProperty source in member.Value.EnumerateObject())
            sources[source.Name] = source.Value.GetString() ?? "";
        return sources;
    }

    /// <summary>Reads settings: texts by their names, or numbers and booleans, which are the same as their texts.</summary>
    public IReadOnlyDictionary<string, string> Settings(JsonProperty member)
    {
        if (member.Value.ValueKind == JsonValueKind.Null)
            return new Dictionary<string, string>();
        if (member.Value.ValueKind != JsonValueKind.Object
            || member.Value.EnumerateObject()
                .Any(static setting => setting.Value.ValueKind is JsonValueKind.Object or JsonValueKind.Array))
            throw Refuse(member.Name, $"'{member.Name}' is an object of texts by their names.");
        var settings = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (JsonProperty setting in member.Value.EnumerateObject())
            if (setting.Value.ValueKind == JsonValueKind.String)
                settings[setting.Name] = setting.Value.GetString() ?? "";
            else if (setting.Value.ValueKind != JsonValueKind.Null)
                settings[setting.Name] = setting.Value.GetRawText();
        return settings;
    }

    public List<CompoundField> Compounds(JsonProperty member)
    {
        if (member.Value.ValueKind == JsonValueKind.Null)
            return [];
        if (member.Value.ValueKind != JsonValueKind.Array
            || member.Value.EnumerateArray()
                .Any(
                    static pair => pair.ValueKind != JsonValueKind.Array || pair.GetArrayLength() != 2
                        || pair.EnumerateArray().Any(static field => field.ValueKind != JsonValueKind.String)))
            throw Refuse(
                member.Name, "'CompoundFields' is an array of pairs of fields: [[\"City\", \"Name\"]], the first compared for "
                    + "equality, the second the order.");
        return [.. member.Value.EnumerateArray()
            .Select(static pair => new CompoundField(pair[0].GetString() ?? "", pair[1].GetString() ?? ""))];
    }

    public bool IsTrue(JsonProperty member) => member.Value.ValueKind switch
    {
        JsonValueKind.True => true,
        JsonValueKind.False or JsonValueKind.Null => false,
        _ => throw Refuse(member.Name, $"'{member.Name}' is true or false."),
    };

    public List<IndexFieldDefinition> Fields(JsonProperty member)
    {
        if (member.Value.ValueKind == JsonValueKind.Null)
            return [];
        if (member.Value.ValueKind != JsonValueKind.Object)
            throw Refuse(member.Name, "'Fields' is an object: each member is a field, its value the options.");
        return [.. member.Value.EnumerateObject().Select(Field)];
    }

    private IndexFieldDefinition Field(JsonProperty member)
    {
        if (member.Value.ValueKind is not (JsonValueKind.Object or JsonValueKind.Null))
            throw Refuse("Fields", $"the options of the field '{member.Name}' must be an object, which may be empty.");

        var field = new IndexFieldDefinition { Name = member.Name };
        if (member.Value.ValueKind == JsonValueKind.Null)
            return field;
        foreach (JsonProperty option in member.Value.EnumerateObject())
        {
            field = option.Name switch
            {
                "Path" => field with { Path = Text(member.Name, option) },
                "Indexing" => field with { Indexing = Indexing(member.Name, option) },
                "Analyzer" => field with { Analyzer = Text(member.Name, option) },
                "Boost" => field with { Boost = Number(member.Name, option) ?? 1 },
                "Sort" => field with { Sort = Flag(member.Name, option) },
                "Suggestions" => field with { Suggestions = Flag(member.Name, option) },
                "Spatial" => field with { Spatial = Spatial(member.Name, option) },
                "Vector" => field with { Vector = Vector(member.Name, option) },
                "Stored" => field with { Stored = Flag(member.Name, option) },
                "Storage" => field with { Stored = Storage(member.Name, option) },
                "TermVector" when IsOff(option.Value) => field, // positions and the terms of an entry are always stored
                "TermVector" => field,
                _ => throw Refuse(
                    "Fields",
                    $"the field '{member.Name}' has the option '{option.Name}', which does not exist. Options are: Path, "
                        + $"Indexing, Analyzer, Boost, Sort, Stored, Suggestions, Spatial, Vector."),
            };
        }

        return field;
    }

    private static bool IsOff(JsonElement value) =>
        value.ValueKind is JsonValueKind.Null or JsonValueKind.False
            || (value.ValueKind == JsonValueKind.String && value.ValueEquals("No"u8));

    /// <summary>Reads RavenDB's name for <c>Stored</c>.</summary>
    private bool Storage(string field, JsonProperty option) => IsOff(option.Value)
        ? false
        : option.Value.ValueKind == JsonValueKind.True
            || (option.Value.ValueKind == JsonValueKind.String && option.Value.ValueEquals("Yes"u8))
            ? true
            : throw Refuse("Fields", $"'Storage' of the field '{field}' is Yes or No.");

    private string? Text(string field, JsonProperty option) => option.Value.ValueKind switch
    {
        JsonValueKind.String => option.Value.GetString(),
        JsonValueKind.Null => null,
        _ => throw Refuse("Fields", $"'{option.Name}' of the field '{field}' is a string."),
    };

    private bool Flag(string field, JsonProperty option) => option.Value.ValueKind switch
    {
        JsonValueKind.True => true,
        JsonValueKind.False or JsonValueKind.Null => false,
        _ => throw Refuse("Fields", $"'{option.Name}' of the field '{field}' is true or false."),
    };

    private float? Number(string field, JsonProperty option) => option.Value.ValueKind switch
    {
        JsonValueKind.Number => option.Value.GetSingle(),
        JsonValueKind.Null => null,
        _ => throw Refuse("Fields", $"'{option.Name}' of the field '{field}' is a number."),
    };

    private FieldIndexing Indexing(string field, JsonProperty option) => Text(field, option) switch
    {
        null or "Default" => FieldIndexing.Default,
        "Search" or "Highlighting" => FieldIndexing.Search, // positions of words are always stored
        "Exact" => FieldIndexing.Exact,
        "No" => FieldIndexing.No,
        { } other =>
            throw Refuse(
                "Fields", $"the field '{field}' is to be indexed as '{other}'; there are Default, Search, Exact and No."),
    };

    private bool IsInMiles(string field, JsonProperty units) => Text(field, units) switch
    {
        null or "Kilometers" => false,
        "Miles" => true,
        _ => throw Refuse("Fields", $"'Units' of the place '{field}' is 'Kilometers' or 'Miles'."),
    };

    private SpatialFieldDefinition? Spatial(string field, JsonProperty option)
    {
        if (option.Value.ValueKind == JsonValueKind.Null)
            return null;
        if (option.Value.ValueKind != JsonValueKind.Object)
            throw Refuse(
                "Fields", $"'Spatial' of the field '{field}' is an object with the paths 'Latitude' and 'Longitude', or 'Wkt'.");

        var place = new SpatialFieldDefinition();
        foreach (JsonProperty part in option.Value.EnumerateObject())
        {
            place = part.Name switch
            {
                "Latitude" => place with { Latitude = Text(field, part) },
                "Longitude" => place with { Longitude = Text(field, part) },
                "Wkt" => place with { Wkt = Text(field, part) },
                "Type" when part.Value.ValueKind == JsonValueKind.Null || part.Value.ValueEquals("Geography"u8) => place,
                "Type" => throw Refuse(
                    "Fields",
                    $"the place '{field}' is 'Cartesian'; only places on the earth ('Geography') are built. Places on a plane "
                        + $"are two numbers: give each a field, and ask for X between … and Y between …."),
                // Cell options of other spatial implementations do not change results.
                "Strategy" or "MaxTreeLevel" or "MinX" or "MaxX" or "MinY" or "MaxY" => place,
                "Units" => place with { IsInMiles = IsInMiles(field, part) },
                _ => throw Refuse(
                    "Fields",
                    $"the place '{field}' has the option '{part.Name}', which does not exist. Options are: Latitude, Longitude, "
                        + $"Wkt, Units."),
            };
        }

        return place;
    }

    /// <summary>
    /// Reads this program's form, or RavenDB's, of which only the number of dimensions and the size of a number matter here.
    /// </summary>
    private VectorFieldDefinition? Vector(string field, JsonProperty option)
    {
        if (option.Value.ValueKind == JsonValueKind.Null)
            return null;
        if (option.Value.ValueKind != JsonValueKind.Object)
            throw Refuse("Fields", $"'Vector' of the field '{field}' is an object such as {{\"Dimensions\":384}}.");

        var vector = new VectorFieldDefinition(0);
        foreach (JsonProperty part in option.Value.EnumerateObject())
        {
            vector = part.Name switch
            {
                "Dimensions" when part.Value.ValueKind == JsonValueKind.Null => vector,
                "Dimensions"
                    when part.Value.ValueKind == JsonValueKind.Number
                        && part.Value.TryGetInt32(out int dimensions)
                        && dimensions != 0 => vector with { Dimensions = dimensions },
                "Dimensions" => throw Refuse(
                    "Fields",
                    $"'Dimensions' of the vector '{field}' is a whole number from 1 on; left out, it is as many as the first "
                        + $"vector has."),
                "Bytes" => vector with { Bytes = Flag(field, part) },
                "Bits" => vector with { Bits = Flag(field, part) },
                "SourceEmbeddingType" when Text(field, part) is null or "Single" or "Int8" => vector,
                "DestinationEmbeddingType" when Text(field, part) is null or "Single" => vector,
                "DestinationEmbeddingType" when part.Value.ValueEquals("Int8"u8) => vector with { Bytes = true },
                "DestinationEmbeddingType" when part.Value.ValueEquals("Binary"u8) => vector with { Bits = true },
                "SourceEmbeddingType" or "DestinationEmbeddingType" =>
                    throw Refuse(
                        "Fields",
                        $"the vector '{field}' has the {part.Name} '{part.Value}'; there are Single (all digits), Int8 (a byte "
                            + "for each number) and, as destination, Binary (a bit for each number). Vectors are made neither of "
                            + "texts nor of packed bits here: store their numbers with the documents."),
                "NumberOfEdges" or "NumberOfCandidatesForIndexing" => vector, // graph options of other implementations
                _ => throw Refuse(
                    "Fields",
                    $"the vector '{field}' has the option '{part.Name}', which does not exist. Options are: Dimensions, Bytes, "
                        + "Bits."),
            };
        }

        return vector;
    }
}
