using System.Text.Json;

namespace Treepie.Server.Operations;

/// <summary>What a change by query did.</summary>
/// <param name="Total">Documents it changed.</param>
/// <param name="Query">Text of the query.</param>
/// <param name="Details">Each document; null where they were not asked for.</param>
internal sealed record ChangeResult(long Total, string Query, ChangeDetails? Details)
{
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteNumber("Total", Total);
        json.WriteNumber("DocumentsProcessed", Total);
        json.WriteNumber("AttachmentsProcessed", 0);
        json.WriteNumber("CountersProcessed", 0);
        json.WriteNumber("TimeSeriesProcessed", 0);
        json.WriteString("Query", Query);
        Details?.Write(json);
        json.WriteEndObject();
    }
}
