using System.Text.Json;
using Treepie.Backups;

namespace Treepie.Server.Operations;

/// <summary>The progress of an operation.</summary>
/// <param name="Processed">The number of documents processed.</param>
/// <param name="Total">The number of documents to process; if unknown, of those processed.</param>
/// <param name="BatchCount">The number of durable batches.</param>
/// <param name="LastProcessedId">The last document processed.</param>
internal readonly record struct OperationProgress(long Processed, long Total, long BatchCount, string? LastProcessedId)
{
    /// <summary>What is done, which decides as what clients read it.</summary>
    public OperationKind Kind { get; init; }

    /// <summary>The number of attachments stored.</summary>
    public long Attachments { get; init; }

    /// <summary>The number of counters changed.</summary>
    public long Counters { get; init; }

    /// <summary>The number of entries of time series appended.</summary>
    public long TimeSeries { get; init; }

    /// <summary>For an export or import, what was done of each section so far.</summary>
    public IReadOnlyList<BackupSection>? Sections { get; init; }

    // The members for all kinds together: clients read those they know.
    public void Write(Utf8JsonWriter json, bool isResult = false)
    {
        json.WriteStartObject();
        WireOperation.WriteType(json, Kind, isResult);
        json.WriteNumber("Processed", Processed);
        json.WriteNumber("Total", Total);
        json.WriteNumber("BatchCount", BatchCount);
        json.WriteString("LastProcessedId", LastProcessedId);
        WireOperation.WriteProcessed(json, Processed, Attachments, Counters, TimeSeries);
        if (Kind == OperationKind.Smuggler)
            WireOperation.WriteSections(json, Sections ?? [], isResult);
        json.WriteEndObject();
    }
}
