using System.Text.Json;

namespace Treepie.Server.Operations;

/// <summary>The progress of an operation.</summary>
/// <param name="Processed">The number of documents processed.</param>
/// <param name="Total">The number of documents to process; if unknown, of those processed.</param>
/// <param name="BatchCount">The number of durable batches.</param>
/// <param name="LastProcessedId">The last document processed.</param>
internal readonly record struct OperationProgress(long Processed, long Total, long BatchCount, string? LastProcessedId)
{
    // The members for bulk inserts and for deletions by query together: clients read those they know.
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
