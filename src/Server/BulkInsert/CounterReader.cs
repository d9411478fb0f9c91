using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.BulkInsert;

/// <summary>
/// Reads operations on counters: <c>{"DocumentId":…,"Operations":[{"Type":"Increment","CounterName":…,"Delta":…}]}</c>.
/// </summary>
internal static class CounterReader
{
    /// <summary>
    /// The maximum number of operations on counters of one document in one command, as many counters as a document should
    /// have.
    /// </summary>
    private const int MaxOperations = 10_000;

    /// <summary>Adds the operations to a batch.</summary>
    public static void Add(WriteBatch batch, string? id, ReadOnlyMemory<byte> json)
    {
        if (json.IsEmpty)
            throw WireException.BadRequest(
                $"The counters of document '{id}' lack 'Counters', an object with 'Operations'. Nothing was changed.");
        using var parsed = JsonDocument.Parse(json);
        (string document, List<CounterOperation> operations) = Read(parsed.RootElement, id);
        batch.Counters(document, operations);
    }

    /// <summary>Reads the operations.</summary>
    public static (string DocumentId, List<CounterOperation> Operations) Read(JsonElement json, string? id)
    {
        string document = (json.ValueKind == JsonValueKind.Object ? WireJson.Text(json, "DocumentId", required: false) : null)
            ?? id
            ?? throw WireException.BadRequest("Operations on counters lack 'DocumentId'. Nothing was changed.");
        if (json.ValueKind != JsonValueKind.Object
            || !json.TryGetProperty("Operations", out JsonElement given)
            || given.ValueKind != JsonValueKind.Array)
            throw WireException.BadRequest(
                $"The counters of document '{document}' lack 'Operations', an array. Nothing was changed.");
        if (given.GetArrayLength() > MaxOperations)
            throw WireException.TooLarge(
                $"The counters of document '{document}' have {given.GetArrayLength():N0} operations in one command; "
                    + $"{MaxOperations:N0} are allowed. Nothing was changed.");

        var operations = new List<CounterOperation>(given.GetArrayLength());
        foreach (JsonElement operation in given.EnumerateArray())
        {
            if (operation.ValueKind != JsonValueKind.Object)
                throw WireException.BadRequest(
                    $"'Operations' of the counters of document '{document}' holds a JSON {operation.ValueKind}; expected are "
                        + $"objects. Nothing was changed.");
            CounterOperationKind kind = WireJson.Text(operation, "Type", required: true) switch
            {
                "Increment" => CounterOperationKind.Increment,
                "Delete" => CounterOperationKind.Delete,
                "Get" => CounterOperationKind.Get,
                "Put" => CounterOperationKind.Put,
                var other => throw WireException.BadRequest(
                    $"The operation '{other}' on a counter of document '{document}' is not known; there are Increment, Delete, "
                        + $"Get and Put. Nothing was changed."),
            };
            operations.Add(
                CounterOperation.Of(
                    kind, WireJson.Text(operation, "CounterName", required: true), DeltaOf(operation, kind, document)));
        }

        return (document, operations);
    }

    private static long DeltaOf(JsonElement operation, CounterOperationKind kind, string document)
    {
        if (kind is CounterOperationKind.Delete or CounterOperationKind.Get)
            return 0;
        if (!operation.TryGetProperty("Delta", out JsonElement delta) || delta.ValueKind == JsonValueKind.Null)
            return kind == CounterOperationKind.Increment ? 1 : 0;
        return delta.ValueKind == JsonValueKind.Number && delta.TryGetInt64(out long value)
            ? value
            : throw WireException.BadRequest(
                $"'Delta' of a counter of document '{document}' is {delta.GetRawText()}; expected is a whole number of 64 bits. "
                    + $"Nothing was changed.");
    }
}
