using System.Text.Json;

namespace Treepie.Server.Operations;

/// <summary>The result of a change by query.</summary>
/// <param name="Total">The number of documents changed.</param>
/// <param name="Query">The text of the query.</param>
/// <param name="Details">What was done to each document; null if not requested.</param>
internal sealed record ChangeResult(long Total, string Query, ChangeDetails? Details)
{
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        WireOperation.WriteType(json, OperationKind.Change, isResult: true);
        json.WriteNumber("Total", Total);
        WireOperation.WriteProcessed(json, Total, attachments: 0, counters: 0, timeSeries: 0);
        json.WriteString("Query", Query);
        Details?.Write(json);
        json.WriteEndObject();
    }
}
