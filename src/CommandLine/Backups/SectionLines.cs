using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Backups;

namespace Treepie.CommandLine.Backups;

/// <summary>Formats how many items of each section of a backup were taken and left out, one line per section.</summary>
internal static class SectionLines
{
    /// <summary>Formats the sections of a report.</summary>
    public static string Of(IReadOnlyList<BackupSection> sections)
    {
        var lines = new StringBuilder();
        foreach (BackupSection section in sections)
            lines.Append(
                CultureInfo.InvariantCulture,
                $"{Environment.NewLine}  {section.Name}: {section.Taken:N0} taken, {section.LeftOut:N0} left out");
        return lines.ToString();
    }

    /// <summary>Formats the sections of a server's response, or returns an empty string if it has none.</summary>
    public static string Of(JsonElement answer) => answer.TryGetProperty("Sections", out JsonElement sections)
        ? Of(
            [.. sections.EnumerateObject()
                .Select(
                    static section => new BackupSection(
                        section.Name, section.Value.GetProperty("Taken").GetInt64(),
                        section.Value.GetProperty("LeftOut").GetInt64()))])
        : "";
}
