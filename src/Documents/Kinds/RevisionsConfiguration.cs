using System.Text.Json;
using Treepie.Json;

namespace Treepie.Kinds;

/// <summary>The collections of which revisions are kept, and how many.</summary>
public sealed record RevisionsConfiguration
{
    internal const string SettingName = "revisions";

    /// <summary>The rule for collections without a rule of their own. Null: no revisions are kept of them.</summary>
    public RevisionsRule? Default { get; init; }

    /// <summary>The rules by collection, case-insensitive.</summary>
    public IReadOnlyDictionary<string, RevisionsRule> Collections { get; init; } = new Dictionary<string, RevisionsRule>(
        StringComparer.OrdinalIgnoreCase);

    /// <summary>Reads the configuration from JSON in the format of RavenDB's clients.</summary>
    /// <exception cref="InvalidDocumentException">A member is not valid.</exception>
    public static RevisionsConfiguration Read(JsonElement json)
    {
        var collections = new Dictionary<string, RevisionsRule>(StringComparer.OrdinalIgnoreCase);
        if (json.TryGetProperty("Collections"u8, out JsonElement given) && given.ValueKind == JsonValueKind.Object)
            foreach (JsonProperty collection in given.EnumerateObject())
                collections[collection.Name] = RevisionsRule.Read(collection.Value, $"of '{collection.Name}'");
        return new RevisionsConfiguration
        {
            Default = json.TryGetProperty("Default"u8, out JsonElement byDefault) && byDefault.ValueKind != JsonValueKind.Null
                ? RevisionsRule.Read(byDefault, "by default")
                : null,
            Collections = collections,
        };
    }

    /// <summary>Writes the configuration as JSON in the format of RavenDB's clients.</summary>
    public void WriteTo(Utf8JsonWriter json)
    {
        ArgumentNullException.ThrowIfNull(json);
        json.WriteStartObject();
        json.WritePropertyName("Default"u8);
        if (Default is null)
            json.WriteNullValue();
        else
            Default.Write(json);
        json.WriteStartObject("Collections"u8);
        foreach ((string name, RevisionsRule rule) in Collections)
        {
            json.WritePropertyName(name);
            rule.Write(json);
        }

        json.WriteEndObject();
        json.WriteEndObject();
    }

    /// <summary>
    /// Returns the rule of a collection; null if no revisions are created. HiLo documents have none unless their collection is
    /// named.
    /// </summary>
    internal RevisionsRule? RuleOf(string collection)
    {
        if (!Collections.Any())
            return Effective(collection);
        foreach ((string name, RevisionsRule rule) in Collections)
            if (string.Equals(name, collection, StringComparison.OrdinalIgnoreCase))
                return rule.IsDisabled ? null : rule;
        return Effective(collection);
    }

    /// <summary>Returns what is stored, which <see cref="FromJson"/> accepts.</summary>
    /// <exception cref="InvalidDocumentException">The configuration is not valid.</exception>
    internal byte[] ToJson()
    {
        byte[] json = JsonBytes.Of(WriteTo);
        _ = FromJson(json);
        return json;
    }

    internal static RevisionsConfiguration FromJson(ReadOnlyMemory<byte> bytes)
    {
        using var json = JsonDocument.Parse(bytes);
        return Read(json.RootElement);
    }

    private RevisionsRule? Effective(string collection) =>
        Default is { IsDisabled: false } && collection != "@hilo" ? Default : null;
}
