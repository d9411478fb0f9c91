using System.Text.Json;
using Treepie.Backups;
using Treepie.Server.Http;
using Treepie.Server.Operations;

namespace Treepie.Server.Smuggler;

/// <summary>
/// Writes what an import or restore has taken and skipped, for its response and the result of its operation.
/// </summary>
internal static class ReportJson
{
    /// <summary>Writes <c>Sections</c>, by name, <c>Skipped</c>, by kind, and the documents that were rejected.</summary>
    public static void WriteCounts(Utf8JsonWriter json, BackupReport report)
    {
        json.WriteStartObject("Sections");
        foreach (BackupSection section in report.Sections)
        {
            json.WriteStartObject(section.Name);
            json.WriteNumber("Taken", section.Taken);
            json.WriteNumber("LeftOut", section.LeftOut);
            json.WriteEndObject();
        }

        json.WriteEndObject();
        json.WriteStartObject("Skipped");
        foreach ((string kind, long count) in report.Skipped)
            json.WriteNumber(kind, count);
        json.WriteEndObject();
        json.WriteNumber("RefusedDocuments", report.RefusedDocuments);
        json.WriteTexts("Refusals", report.Refusals);
    }

    /// <summary>Writes the result of an import: the number of documents, as clients read it, and each section.</summary>
    public static void WriteImport(Utf8JsonWriter json, BackupReport report)
    {
        Begin(json, report);
        WriteCounts(json, report);
        json.WriteEndObject();
    }

    /// <summary>Writes the result of an export.</summary>
    public static void WriteExport(Utf8JsonWriter json, BackupReport report)
    {
        Begin(json, report);
        json.WriteEndObject();
    }

    private static void Begin(Utf8JsonWriter json, BackupReport report)
    {
        long taken = report.Sections.FirstOrDefault(static section => section.Name == "Documents")?.Taken ?? 0;
        json.WriteStartObject();
        WireOperation.WriteType(json, OperationKind.Smuggler, isResult: true);
        json.WriteNumber("Processed", taken);
        json.WriteNumber("Total", report.Counts.Documents);
        json.WriteNumber("BatchCount", 0);
        json.WriteNull("LastProcessedId");
        WireOperation.WriteProcessed(json, taken, attachments: 0, counters: 0, timeSeries: 0);
        json.WriteTexts("Messages", report.Refusals);
        WireOperation.WriteSections(json, report.Sections, isOver: true);
    }
}
