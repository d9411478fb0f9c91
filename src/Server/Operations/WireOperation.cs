using System.Text.Json;
using Treepie.Backups;

namespace Treepie.Server.Operations;

/// <summary>
/// Writes progress and results of operations as the classes of RavenDB's clients, which they name in <c>$type</c>.
/// </summary>
internal static class WireOperation
{
    private const string Operations = "Raven.Client.Documents.Operations.", Assembly = ", Raven.Client";

    /// <summary>The sections of a dump under the names that clients have for them.</summary>
    private static readonly (string Section, string Name)[] _sections =
    [
        ("RevisionDocuments", "RevisionDocuments"), ("Tombstones", "Tombstones"), ("Identities", "Identities"),
        ("Indexes", "Indexes"), ("CompareExchange", "CompareExchange"), ("CounterGroups", "Counters"),
        ("TreepieTimeSeries", "TimeSeries"),
    ];

    /// <summary>
    /// Writes <c>$type</c>, which comes first in an object; nothing for operations that clients have no class for.
    /// </summary>
    public static void WriteType(Utf8JsonWriter json, OperationKind kind, bool isResult)
    {
        string? type = (kind, isResult) switch
        {
            (OperationKind.Change or OperationKind.BulkInsert, true) => $"{Operations}BulkOperationResult",
            (OperationKind.Change, false) => $"{Operations}DeterminateProgress",
            (OperationKind.BulkInsert, false) => $"{Operations}BulkInsertProgress",
            (OperationKind.Smuggler, true) => "Raven.Client.Documents.Smuggler.SmugglerResult",
            (OperationKind.Smuggler, false) => "Raven.Client.Documents.Smuggler.SmugglerResult+SmugglerProgress",
            _ => null,
        };
        if (type is not null)
            json.WriteString("$type", type + Assembly);
    }

    /// <summary>Writes <c>$type</c> of what was done to one document.</summary>
    public static void WriteDetailsType(Utf8JsonWriter json, bool isPatch) =>
        json.WriteString("$type", $"{Operations}BulkOperationResult+{(isPatch ? "Patch" : "Delete")}Details{Assembly}");

    /// <summary>Writes how much was done of each kind of data.</summary>
    public static void WriteProcessed(Utf8JsonWriter json, long documents, long attachments, long counters, long timeSeries)
    {
        json.WriteNumber("DocumentsProcessed", documents);
        json.WriteNumber("AttachmentsProcessed", attachments);
        json.WriteNumber("CountersProcessed", counters);
        json.WriteNumber("TimeSeriesProcessed", timeSeries);
    }

    /// <summary>Writes the counts of each section as clients read them.</summary>
    public static void WriteSections(Utf8JsonWriter json, IReadOnlyList<BackupSection> sections, bool isOver)
    {
        json.WriteStartObject("Documents");
        WriteCounts(json, Of("Documents"), isOver);
        json.WriteStartObject("Attachments");
        WriteCounts(json, Of("TreepieAttachments") ?? Of("Attachments"), isOver);
        json.WriteEndObject();
        json.WriteEndObject();
        foreach ((string section, string name) in _sections)
        {
            json.WriteStartObject(name);
            WriteCounts(json, Of(section), isOver);
            json.WriteEndObject();
        }

        BackupSection? Of(string name) => sections.FirstOrDefault(section => section.Name == name);
    }

    private static void WriteCounts(Utf8JsonWriter json, BackupSection? section, bool isOver)
    {
        json.WriteBoolean("Processed", isOver);
        json.WriteNumber("ReadCount", (section?.Taken ?? 0) + (section?.LeftOut ?? 0));
        json.WriteNumber("SkippedCount", section?.LeftOut ?? 0);
        json.WriteNumber("ErroredCount", 0);
    }
}
