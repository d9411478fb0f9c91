using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Reads patches in the format of RavenDB's clients, <c>{"Script":…,"Values":{…}}</c>, and writes their results.
/// </summary>
internal static class PatchWire
{
    /// <summary>Adds a patch of one document to a batch.</summary>
    /// <exception cref="WireException">The script is missing.</exception>
    /// <exception cref="ScriptException">The script is not valid.</exception>
    public static void Add(
        WriteBatch batch, string id, ReadOnlyMemory<byte> patch, ReadOnlyMemory<byte> ifMissing, DatabaseOptions limits,
        PatchOptions options)
    {
        (Patch script, JsonElement values) = Read(patch, $"The PATCH of '{id}'", limits);
        batch.Patch(id, script, WithMissing(options with { Arguments = values }, ifMissing, id, limits));
    }

    /// <summary>Adds the same patch of several documents: <c>[{"Id":…,"ChangeVector":…},…]</c>.</summary>
    /// <exception cref="WireException">The script or the ids are missing.</exception>
    public static void AddAll(
        WriteBatch batch, ReadOnlyMemory<byte> ids, ReadOnlyMemory<byte> patch, ReadOnlyMemory<byte> ifMissing,
        DatabaseOptions limits, int number)
    {
        (Patch script, JsonElement values) = Read(patch, $"Command {number} of the batch", limits);
        PatchOptions options = WithMissing(new PatchOptions { Arguments = values }, ifMissing, $"of command {number}", limits);
        using JsonDocument? documents = ids.IsEmpty ? null : JsonDocument.Parse(ids);
        if (documents is null || documents.RootElement.ValueKind != JsonValueKind.Array)
            throw WireException.BadRequest(
                $"Command {number} of the batch lacks 'Ids', an array of {{\"Id\":…}}. Nothing was changed.");

        foreach (JsonElement one in documents.RootElement.EnumerateArray())
        {
            if (one.ValueKind != JsonValueKind.Object)
                throw WireException.BadRequest(
                    $"'Ids' of command {number} holds a JSON {one.ValueKind}; expected are objects with 'Id'. Nothing was "
                        + $"changed.");
            string id = WireJson.Text(one, "Id", required: true)!; // Text throws if it is missing
            batch.Patch(id, script, options with { ExpectedChangeVector = WireJson.Text(one, "ChangeVector", required: false) });
        }
    }

    /// <summary>Reads a patch: the compiled script, and its values.</summary>
    public static (Patch Script, JsonElement Values) Read(ReadOnlyMemory<byte> patch, string what, DatabaseOptions limits)
    {
        if (patch.IsEmpty)
            throw WireException.BadRequest($"{what} lacks 'Patch', an object with 'Script'. Nothing was changed.");

        // A copy: the batch may be written after the body of the request was released.
        JsonElement root = JsonDocument.Parse(patch.ToArray()).RootElement;
        return Read(root, what, limits);
    }

    /// <summary>Same as above, for parsed JSON that stays valid as long as the batch.</summary>
    public static (Patch Script, JsonElement Values) Read(JsonElement patch, string what, DatabaseOptions limits)
    {
        if (patch.ValueKind != JsonValueKind.Object
            || !patch.TryGetProperty("Script", out JsonElement script)
            || script.ValueKind != JsonValueKind.String)
            throw WireException.BadRequest($"{what} lacks 'Script', the statements of the patch. Nothing was changed.");
        JsonElement values = patch.TryGetProperty("Values", out JsonElement given) && given.ValueKind == JsonValueKind.Object
            ? given
            : default;
        return (Patch.Compile(script.GetString() ?? "", limits), values);
    }

    /// <summary>Writes the members of the result of a patch in a batch.</summary>
    public static void WriteBatchResult(Utf8JsonWriter json, WriteResult result)
    {
        PatchResult patch = result.Patch ?? throw new InvalidOperationException("The result is one of a patch.");
        json.WriteString("Id", result.Id);
        json.WriteString("ChangeVector", result.ChangeVector);
        json.WriteString("LastModified", WireTime.ToWire(result.LastModified));
        json.WriteString("Type", "PATCH");
        json.WriteString("PatchStatus", patch.Status.ToString());
        WriteDebug(json, patch);
        if (!patch.Modified.IsEmpty)
            Write(json, "ModifiedDocument", patch.Modified);
    }

    /// <summary>Writes the output of the script.</summary>
    public static void WriteDebug(Utf8JsonWriter json, PatchResult patch)
    {
        json.WriteStartObject("Debug");
        json.WriteStartArray("Info");
        foreach (string line in patch.Output)
            json.WriteStringValue(line);
        json.WriteEndArray();
        if (patch.Actions.Count > 0)
            WriteActions(json, patch.Actions);
        json.WriteEndObject();
    }

    /// <summary>Writes what the script read and wrote apart from its document, by kind.</summary>
    private static void WriteActions(Utf8JsonWriter json, IReadOnlyList<PatchAction> actions)
    {
        json.WriteStartObject("Actions");
        foreach (IGrouping<PatchActionKind, PatchAction> kind in actions.GroupBy(static action => action.Kind))
        {
            json.WriteStartArray(kind.Key.ToString());
            foreach (PatchAction action in kind)
            {
                json.WriteStartObject();
                json.WriteString("Id", action.Id);
                if (action.Name is not null)
                    json.WriteString("Name", action.Name);
                if (action.Delta is { } delta)
                    json.WriteNumber("Delta", delta);
                if (kind.Key is PatchActionKind.LoadDocument or PatchActionKind.PutDocument
                    or PatchActionKind.GetCompareExchangeValue)
                    Write(json, "Data", action.Json);
                json.WriteEndObject();
            }

            json.WriteEndArray();
        }

        json.WriteEndObject();
    }

    /// <summary>Writes a document; null if it is empty.</summary>
    public static void Write(Utf8JsonWriter json, string name, ReadOnlyMemory<byte> document)
    {
        json.WritePropertyName(name);
        if (document.IsEmpty)
            json.WriteNullValue();
        else
            json.WriteRawValue(document.Span, skipInputValidation: true);
    }

    private static PatchOptions WithMissing(
        PatchOptions options, ReadOnlyMemory<byte> ifMissing, string id, DatabaseOptions limits)
    {
        if (ifMissing.IsEmpty)
            return options;
        (Patch script, JsonElement values) = Read(ifMissing, $"'PatchIfMissing' of '{id}'", limits);
        return options with { IfMissing = script, IfMissingArguments = values };
    }
}
