using System.Globalization;
using System.Text.Json;

namespace Treepie.Backups;

/// <summary>Helpers for the small objects of a dump; documents are not read with them.</summary>
internal static class DumpJson
{
    /// <summary>The RavenDB build number written to dumps, whose format they follow.</summary>
    public const int BuildVersion = 71000;

    public const string BuildVersionSection = "BuildVersion",
        HeaderSection = "Treepie",
        Documents = "Docs",
        Tombstones = "Tombstones",
        Indexes = "Indexes",
        Identities = "Identities", Collections = "TreepieCollections", ManifestSection = "TreepieManifest",
        TimeSeries = "TimeSeries";

    /// <summary>Returns a required string.</summary>
    public static string Text(JsonElement json, string name) =>
        json.GetProperty(name).GetString() ?? throw new FormatException($"'{name}' is null.");

    /// <summary>Returns a required UTC time.</summary>
    public static DateTime Time(JsonElement json, string name) => ParseTime(Text(json, name));

    /// <summary>Reads a number written as a JSON number or string; both occur.</summary>
    public static long Number(JsonElement json) => json.ValueKind == JsonValueKind.String
        ? long.Parse(json.GetString() ?? "", NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture)
        : json.GetInt64();

    public static DateTime ParseTime(string text) =>
        DateTime.Parse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal);

    public static string FormatTime(long ticks) =>
        new DateTime(ticks, DateTimeKind.Utc).ToString("O", CultureInfo.InvariantCulture);
}
