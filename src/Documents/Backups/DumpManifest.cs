using System.Globalization;
using System.Text.Json;

namespace Treepie.Backups;

/// <summary>
/// The last element of a backup written by this program: the number of items of each kind, and the content hash.
/// </summary>
/// <param name="Counts">The number of items of each kind.</param>
/// <param name="ContentHash">The hash computed by <see cref="Backups.ContentHash"/>.</param>
internal sealed record DumpManifest(BackupCounts Counts, string ContentHash)
{
    /// <summary>The hash of the index settings, which are not part of the content hash; null in older formats.</summary>
    public string? SettingsHash { get; init; }

    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteNumber("Documents"u8, Counts.Documents);
        json.WriteNumber("Tombstones"u8, Counts.Tombstones);
        json.WriteNumber("Indexes"u8, Counts.Indexes);
        json.WriteNumber("Identities"u8, Counts.Identities);
        json.WriteNumber("Collections"u8, Counts.Collections);
        json.WriteNumber("Beside"u8, Counts.Beside);
        json.WriteString("ContentHash"u8, ContentHash);
        json.WriteString("SettingsHash"u8, SettingsHash);
        json.WriteEndObject();
    }

    public static DumpManifest Read(JsonElement json) => new(
        new BackupCounts(
            json.GetProperty("Documents"u8).GetInt64(),
            json.GetProperty("Tombstones"u8).GetInt64(),
            json.GetProperty("Indexes"u8).GetInt64(),
            json.GetProperty("Identities"u8).GetInt64(),
            json.GetProperty("Collections"u8).GetInt64())
        {
            Beside = json.TryGetProperty("Beside"u8, out JsonElement beside) ? beside.GetInt64() : 0,
        },
        DumpJson.Text(json, "ContentHash"))
    {
        SettingsHash = json.TryGetProperty("SettingsHash"u8, out JsonElement settings) ? settings.GetString() : null,
    };

    /// <summary>Describes the difference to what was read; null if there is none.</summary>
    public string? Difference(BackupCounts found, string hash)
    {
        if (Counts != found)
            return $"it should hold {Describe(Counts)}, and holds {Describe(found)}";
        return ContentHash == hash ? null : $"its content hash should be {ContentHash}, and is {hash}";
    }

    private static string Describe(BackupCounts counts) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{counts.Documents:N0} documents, {counts.Tombstones:N0} tombstones, {counts.Indexes:N0} indexes, "
                    + $"{counts.Identities:N0} identities, {counts.Collections:N0} collections and {counts.Beside:N0} values "
                    + $"beside "
                    + $"documents");
}
