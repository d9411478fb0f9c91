using System.Globalization;
using System.Text.Json;

namespace Treepie.Kinds;

/// <summary>Which revisions of a document are kept.</summary>
public sealed record RevisionsRule
{
    /// <summary>The default of <see cref="MaxDeletesPerUpdate"/>.</summary>
    public const long DefaultDeletesPerUpdate = 100;

    /// <summary>Whether no revisions are created.</summary>
    public bool IsDisabled { get; init; }

    /// <summary>The number of newest revisions to keep. Null: no limit.</summary>
    public long? MinimumToKeep { get; init; }

    /// <summary>The age up to which revisions are kept as well. Null: age is ignored.</summary>
    public TimeSpan? MinimumAgeToKeep { get; init; }

    /// <summary>Whether the revisions of a document are deleted with it.</summary>
    public bool PurgeOnDelete { get; init; }

    /// <summary>The maximum number of revisions that one update deletes. Null: 100.</summary>
    public long? MaxDeletesPerUpdate { get; init; }

    internal bool HasLimit => MinimumToKeep is not null || MinimumAgeToKeep is not null;

    /// <summary>Reads a rule from JSON in the format of RavenDB's clients.</summary>
    /// <exception cref="InvalidDocumentException">A member is not valid.</exception>
    internal static RevisionsRule Read(JsonElement json, string of)
    {
        if (json.ValueKind != JsonValueKind.Object)
            throw Invalid(of, $"is a JSON {json.ValueKind}, expected is an object");
        return new RevisionsRule
        {
            IsDisabled = Flag(json, "Disabled"),
            PurgeOnDelete = Flag(json, "PurgeOnDelete"),
            MinimumToKeep = Number(json, "MinimumRevisionsToKeep", of, 0),
            MaxDeletesPerUpdate = Number(json, "MaximumRevisionsToDeleteUponDocumentUpdate", of, 1),
            MinimumAgeToKeep = Age(json, of),
        };
    }

    internal void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteBoolean("Disabled"u8, IsDisabled);
        WriteNumber(json, "MinimumRevisionsToKeep", MinimumToKeep);
        if (MinimumAgeToKeep is { } age)
            json.WriteString("MinimumRevisionAgeToKeep"u8, age.ToString("c", CultureInfo.InvariantCulture));
        else
            json.WriteNull("MinimumRevisionAgeToKeep"u8);
        json.WriteBoolean("PurgeOnDelete"u8, PurgeOnDelete);
        WriteNumber(json, "MaximumRevisionsToDeleteUponDocumentUpdate", MaxDeletesPerUpdate);
        json.WriteEndObject();
    }

    private static void WriteNumber(Utf8JsonWriter json, string name, long? number)
    {
        if (number is { } value)
            json.WriteNumber(name, value);
        else
            json.WriteNull(name);
    }

    private static bool Flag(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.True;

    private static long? Number(JsonElement json, string name, string of, long least)
    {
        if (!json.TryGetProperty(name, out JsonElement value) || value.ValueKind == JsonValueKind.Null)
            return null;
        return value.ValueKind == JsonValueKind.Number && value.TryGetInt64(out long number) && number >= least
            ? number
            : throw Invalid(of, $"has '{name}' {value.GetRawText()}, expected is a whole number from {least} on");
    }

    private static TimeSpan? Age(JsonElement json, string of)
    {
        if (!json.TryGetProperty("MinimumRevisionAgeToKeep"u8, out JsonElement value) || value.ValueKind == JsonValueKind.Null)
            return null;
        return value.ValueKind == JsonValueKind.String
            && TimeSpan.TryParse(value.GetString(), CultureInfo.InvariantCulture, out TimeSpan age)
            && age >= TimeSpan.Zero
            ? age
            : throw Invalid(of, $"has 'MinimumRevisionAgeToKeep' {value.GetRawText()}, expected is a time span like 30.00:00:00");
    }

    private static InvalidDocumentException Invalid(string of, string what) =>
        new($"The configuration of revisions {of} {what}. Nothing was changed.");
}
