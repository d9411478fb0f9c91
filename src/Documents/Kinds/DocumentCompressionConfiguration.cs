using System.Text.Json;
using Treepie.Json;

namespace Treepie.Kinds;

/// <summary>The collections whose documents are stored compressed.</summary>
public sealed record DocumentCompressionConfiguration
{
    internal const string SettingName = "documents-compression";

    /// <summary>The names of the collections, case-insensitive.</summary>
    public IReadOnlyList<string> Collections { get; init; } = [];

    /// <summary>Whether all collections are compressed, including future ones.</summary>
    public bool AllCollections { get; init; }

    /// <summary>Whether new revisions of these documents are compressed as well.</summary>
    public bool Revisions { get; init; } = true;

    /// <summary>Returns whether documents of a collection are compressed.</summary>
    public bool Includes(string collection) =>
        AllCollections || Collections.Contains(collection, StringComparer.OrdinalIgnoreCase);

    /// <summary>Reads the configuration from JSON in the format of RavenDB's clients.</summary>
    /// <exception cref="InvalidDocumentException">A member is not valid.</exception>
    public static DocumentCompressionConfiguration Read(JsonElement json)
    {
        if (json.ValueKind != JsonValueKind.Object)
            throw Refused("is no JSON object");
        var configuration = new DocumentCompressionConfiguration
        {
            AllCollections = Flag(json, "CompressAllCollections"),
            Revisions = Flag(json, "CompressRevisions"),
            Collections = json.TryGetProperty("Collections"u8, out JsonElement names) && names.ValueKind != JsonValueKind.Null
                ? [.. ReadNames(names)]
                : [],
        };
        return configuration is { Revisions: true, AllCollections: false, Collections.Count: 0 }
            ? throw Refused("is of revisions alone (CompressRevisions); they are compressed as their documents are")
            : configuration;
    }

    /// <summary>Writes the configuration as JSON in the format of RavenDB's clients.</summary>
    public void WriteTo(Utf8JsonWriter json)
    {
        ArgumentNullException.ThrowIfNull(json);
        json.WriteStartObject();
        json.WriteStartArray("Collections"u8);
        foreach (string name in Collections)
            json.WriteStringValue(name);
        json.WriteEndArray();
        json.WriteBoolean("CompressAllCollections"u8, AllCollections);
        json.WriteBoolean("CompressRevisions"u8, Revisions);
        json.WriteEndObject();
    }

    /// <summary>Returns what is stored, which <see cref="FromJson"/> accepts.</summary>
    /// <exception cref="InvalidDocumentException">The configuration is not valid.</exception>
    internal byte[] ToJson()
    {
        byte[] json = JsonBytes.Of(WriteTo);
        _ = FromJson(json);
        return json;
    }

    internal static DocumentCompressionConfiguration FromJson(ReadOnlyMemory<byte> bytes)
    {
        using var json = JsonDocument.Parse(bytes);
        return Read(json.RootElement);
    }

    private static bool Flag(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement flag)
        && flag.ValueKind switch
        {
            JsonValueKind.True => true,
            JsonValueKind.False or JsonValueKind.Null => false,
            _ => throw Refused($"has '{name}' that is neither true nor false"),
        };

    private static IEnumerable<string> ReadNames(JsonElement names)
    {
        if (names.ValueKind != JsonValueKind.Array)
            throw Refused("has 'Collections' that are no array");
        foreach (JsonElement name in names.EnumerateArray())
            yield return name.ValueKind == JsonValueKind.String && name.GetString() is { Length: > 0 } text
                ? text
                : throw Refused("has a collection without a name");
    }

    private static InvalidDocumentException Refused(string why) =>
        new(
            $"The compression of documents {why}. Nothing was changed. Expected is "
                + "{\"Collections\":[…],\"CompressAllCollections\":false,\"CompressRevisions\":false}.");
}
