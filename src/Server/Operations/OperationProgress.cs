using System.Text.Json;

namespace Treepie.Server.Operations;

/// <summary>How far an operation is.</summary>
/// <param name="Processed">Documents done.</param>
/// <param name="Total">Documents to do; for work without a known end, those done.</param>
/// <param name="BatchCount">Durable batches.</param>
/// <param name="LastProcessedId">The document done last.</param>
internal readonly record struct OperationProgress(long Processed, long Total, long BatchCount, string? LastProcessedId)
{
    // The keys of bulk inserts and of deletions by query together: clients take those they know.
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteNumber("Processed", Processed);
        json.WriteNumber("Total", Total);
        json.WriteNumber("BatchCount", BatchCount);
        json.WriteString("LastProcessedId", LastProcessedId);
        json.WriteNumber("DocumentsProcessed", Processed);
        json.WriteNumber("AttachmentsProcessed", 0);
        json.WriteNumber("CountersProcessed", 0);
        json.WriteNumber("TimeSeriesProcessed", 0);
        json.WriteEndObject();
    }
}
