using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Backups;

namespace Treepie.CommandLine.Backups;

/// <summary>What was taken and left out of each section of a backup, a line for each.</summary>
internal static class SectionLines
{
    /// <summary>Of a report.</summary>
    public static string Of(IReadOnlyList<BackupSection> sections)
    {
        var lines = new StringBuilder();
        foreach (BackupSection section in sections)
            lines.Append(
                CultureInfo.InvariantCulture,
                $"{Environment.NewLine}  {section.Name}: {section.Taken:N0} taken, {section.LeftOut:N0} left out");
        return lines.ToString();
    }

    /// <summary>Of the answer of a server; nothing where it has no sections.</summary>
    public static string Of(JsonElement answer) => answer.TryGetProperty("Sections", out JsonElement sections)
        ? Of(
            [.. sections.EnumerateObject()
                .Select(
                    static section => new BackupSection(
                        section.Name, section.Value.GetProperty("Taken").GetInt64(),
                        section.Value.GetProperty("LeftOut").GetInt64()))])
        : "";
}
