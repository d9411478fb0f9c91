using System.Globalization;
using System.Text.Json;

namespace Treepie.Backups;

/// <summary>The small objects of a dump. Documents do not come through here.</summary>
internal static class DumpJson
{
    /// <summary>RavenDB's number of the version whose dumps these are like.</summary>
    public const int BuildVersion = 71000;

    public const string BuildVersionSection = "BuildVersion",
        HeaderSection = "Treepie",
        Documents = "Docs",
        Tombstones = "Tombstones",
        Indexes = "Indexes",
        Identities = "Identities", Collections = "TreepieCollections", ManifestSection = "TreepieManifest",
        TimeSeries = "TimeSeries";

    /// <summary>A text that must be there.</summary>
    public static string Text(JsonElement json, string name) =>
        json.GetProperty(name).GetString() ?? throw new FormatException($"'{name}' is null.");

    /// <summary>A time in UTC that must be there.</summary>
    public static DateTime Time(JsonElement json, string name) => ParseTime(Text(json, name));

    /// <summary>A number that is written as one or as a text, both of which are in use.</summary>
    public static long Number(JsonElement json) => json.ValueKind == JsonValueKind.String
        ? long.Parse(json.GetString() ?? "", NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture)
        : json.GetInt64();

    public static DateTime ParseTime(string text) =>
        DateTime.Parse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal);

    public static string FormatTime(long ticks) =>
        new DateTime(ticks, DateTimeKind.Utc).ToString("O", CultureInfo.InvariantCulture);
}
