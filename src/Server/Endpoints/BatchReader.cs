using System.Text.Json;
using Treepie.Server.BulkInsert;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Reads <c>{"Commands":[{"Id":…,"Type":"PUT","ChangeVector":…,"Document":{…}},…]}</c> in one pass. Documents are not parsed:
/// their bytes are passed to the batch.
/// </summary>
internal static class BatchReader
{
    /// <summary>
    /// The nesting levels around a document: the object, its commands, one command; and one more, so that the database
    /// rejects a document that is too deep, with its id in the message.
    /// </summary>
    private const int LevelsAroundDocument = 3 + 1;

    public static WriteBatch Read(
        ReadOnlyMemory<byte> body, DatabaseOptions limits, int maxCommands, Queue<AttachmentUpload>? contents = null)
    {
        var reader = new Utf8JsonReader(
            body.Span, new JsonReaderOptions { MaxDepth = limits.MaxDocumentDepth + LevelsAroundDocument });
        if (body.Length == 0 || !reader.Read() || reader.TokenType != JsonTokenType.StartObject)
            throw WireException.BadRequest("The request body is not a batch; expected is {\"Commands\":[…]}.");

        var batch = new WriteBatch(limits);
        contents ??= new Queue<AttachmentUpload>();
        bool found = false;
        int clusterWide = 0, notClusterWide = 0;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            if (reader.ValueTextEquals("Commands"u8))
            {
                found = true;
                ReadCommands(ref reader, body, batch, limits, maxCommands, contents, ref clusterWide, ref notClusterWide);
            }
            else if (reader.ValueTextEquals("TransactionMode"u8))
            {
                reader.Read();
                batch.IsClusterWide = reader.TokenType == JsonTokenType.String && reader.ValueTextEquals("ClusterWide"u8);
            }
            else
            {
                reader.Read();
                reader.Skip();
            }
        }

        if (!found)
            throw WireException.BadRequest("The batch lacks 'Commands'. Nothing was changed.");

        if (reader.Read())
            throw WireException.BadRequest("The batch has text after its end. Send one JSON object. Nothing was changed.");

        if (contents.Count > 0)
            throw WireException.BadRequest(
                $"The batch has {contents.Count} contents more than commands that put attachments. Nothing was changed.");
        if (clusterWide > 0 && !batch.IsClusterWide)
            throw WireException.BadRequest(
                $"Command {clusterWide} of the batch is about a compare-exchange value, which needs TransactionMode ClusterWide. "
                    + $"Nothing was changed.");
        if (notClusterWide > 0 && batch.IsClusterWide)
            throw WireException.BadRequest(
                $"Command {notClusterWide} of the cluster-wide batch is neither about a document nor a compare-exchange value. "
                    + $"Nothing was changed.");
        return batch;
    }

    private static void ReadCommands(
        ref Utf8JsonReader reader, ReadOnlyMemory<byte> body, WriteBatch batch, DatabaseOptions limits, int maxCommands,
        Queue<AttachmentUpload> contents, ref int clusterWide, ref int notClusterWide)
    {
        reader.Read();
        if (reader.TokenType != JsonTokenType.StartArray)
            throw WireException.BadRequest("'Commands' is not an array. Nothing was changed.");

        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
        {
            if (reader.TokenType != JsonTokenType.StartObject)
                throw WireException.BadRequest($"Command {batch.Count + 1} of the batch is not an object. Nothing was changed.");

            if (batch.Count == maxCommands)
                throw WireException.TooLarge(
                    $"The batch has more than {maxCommands:N0} commands, the limit. Nothing was changed.");

            Command command = ReadCommand(ref reader, batch.Count + 1);
            Add(batch, command, body, limits, contents);
            if (command.Type is "CompareExchangePUT" or "CompareExchangeDELETE")
                clusterWide = command.Number;
            else if (command.Type is not ("PUT" or "DELETE"))
                notClusterWide = command.Number;
        }
    }

    private static Command ReadCommand(ref Utf8JsonReader reader, int number)
    {
        var command = new Command { Number = number };
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            if (reader.ValueTextEquals("Document"u8))
            {
                reader.Read();
                command.DocumentStart = (int)reader.TokenStartIndex;
                command.DocumentIsObject = reader.TokenType == JsonTokenType.StartObject;
                reader.Skip();
                command.DocumentEnd = (int)reader.BytesConsumed;
            }
            else if (reader.ValueTextEquals("Id"u8))
                command.Id = ReadText(ref reader, number, "Id");
            else if (reader.ValueTextEquals("Type"u8))
                command.Type = ReadText(ref reader, number, "Type");
            else if (reader.ValueTextEquals("ChangeVector"u8))
                command.ChangeVector = ReadText(ref reader, number, "ChangeVector");
            else if (reader.ValueTextEquals("OriginalChangeVector"u8))
                command.OriginalChangeVector = ReadText(ref reader, number, "OriginalChangeVector");
            else if (reader.ValueTextEquals("Name"u8))
                command.Name = ReadText(ref reader, number, "Name");
            else if (reader.ValueTextEquals("ContentType"u8))
                command.ContentType = ReadText(ref reader, number, "ContentType");
            else if (reader.ValueTextEquals("DestinationId"u8))
                command.DestinationId = ReadText(ref reader, number, "DestinationId");
            else if (reader.ValueTextEquals("DestinationName"u8))
                command.DestinationName = ReadText(ref reader, number, "DestinationName");
            else if (reader.ValueTextEquals("From"u8))
                command.From = ReadTime(ref reader, number, "From");
            else if (reader.ValueTextEquals("To"u8))
                command.To = ReadTime(ref reader, number, "To");
            else if (reader.ValueTextEquals("Index"u8))
                command.Index = ReadNumber(ref reader, number, "Index");
            else if (reader.ValueTextEquals("Counters"u8) || reader.ValueTextEquals("TimeSeries"u8))
                command.Detail = ReadRange(ref reader);
            else if (reader.ValueTextEquals("Patch"u8))
                command.Patch = ReadRange(ref reader);
            else if (reader.ValueTextEquals("PatchIfMissing"u8))
                command.PatchIfMissing = ReadRange(ref reader);
            else if (reader.ValueTextEquals("CreateIfMissing"u8))
                command.CreateIfMissing = ReadRange(ref reader);
            else if (reader.ValueTextEquals("RemoteParameters"u8))
                command.Remote = ReadRange(ref reader);
            else if (reader.ValueTextEquals("Ids"u8))
                command.Ids = ReadRange(ref reader);
            else if (reader.ValueTextEquals("ReturnDocument"u8))
            {
                reader.Read();
                command.ReturnsDocument = reader.TokenType == JsonTokenType.True;
            }
            else if (reader.ValueTextEquals("ForceRevisionCreationStrategy"u8))
                command.Revision = ReadText(ref reader, number, "ForceRevisionCreationStrategy");
            else if (reader.ValueTextEquals("IdPrefixed"u8))
            {
                reader.Read();
                command.IsPrefix = reader.TokenType == JsonTokenType.True;
            }
            else
            {
                reader.Read();
                reader.Skip();
            }
        }

        return command;
    }

    /// <summary>Returns the range of the next value; empty for null.</summary>
    private static Range ReadRange(ref Utf8JsonReader reader)
    {
        reader.Read();
        int start = (int)reader.TokenStartIndex;
        bool isNull = reader.TokenType == JsonTokenType.Null;
        reader.Skip();
        return isNull ? default : start..(int)reader.BytesConsumed;
    }

    private static string? ReadText(ref Utf8JsonReader reader, int number, string name)
    {
        reader.Read();
        if (reader.TokenType == JsonTokenType.Null)
            return null;

        if (reader.TokenType != JsonTokenType.String)
            throw WireException.BadRequest($"'{name}' of command {number} is not a string. Nothing was changed.");

        try
        {
            return reader.GetString();
        }
        catch (InvalidOperationException exception)
        {
            throw WireException.BadRequest(
                $"'{name}' of command {number} is not valid UTF-8, or escapes half a surrogate pair. Nothing was changed.",
                exception);
        }
    }

    private static DateTime? ReadTime(ref Utf8JsonReader reader, int number, string name)
    {
        if (ReadText(ref reader, number, name) is not { } text)
            return null;
        return WireTime.TryParseTime(text, out DateTime time)
            ? time
            : throw WireException.BadRequest(
                $"'{name}' of command {number} is '{text}'; expected is a time like 2030-01-31T12:00:00.0000000Z. Nothing was "
                    + "changed.");
    }

    private static long ReadNumber(ref Utf8JsonReader reader, int number, string name)
    {
        reader.Read();
        return reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out long value) && value >= 0
            ? value
            : throw WireException.BadRequest(
                $"'{name}' of command {number} is not a whole number from 0 on. Nothing was changed.");
    }

    private static void Add(
        WriteBatch batch, in Command command, ReadOnlyMemory<byte> body, DatabaseOptions limits, Queue<AttachmentUpload> contents)
    {
        if (command.Type == "BatchPATCH")
        {
            PatchWire.AddAll(batch, body[command.Ids], body[command.Patch], body[command.PatchIfMissing], limits, command.Number);
            return;
        }

        string id = command.Id
            ?? throw WireException.BadRequest($"Command {command.Number} of the batch lacks 'Id'. Nothing was changed.");
        switch (command.Type)
        {
            case "PUT":
                if (!command.DocumentIsObject)
                    throw WireException.BadRequest($"The PUT of '{id}' lacks 'Document', a JSON object. Nothing was changed.");

                int length = command.DocumentEnd - command.DocumentStart;
                if (length > limits.MaxDocumentBytes)
                    throw WireException.TooLarge(
                        $"Document '{id}' has {length:N0} bytes; {limits.MaxDocumentBytes:N0} are allowed (MaxDocumentBytes). "
                            + $"Nothing was changed.");

                batch.Put(
                    id, body.Span.Slice(command.DocumentStart, length), command.ChangeVector, command.OriginalChangeVector,
                    forceRevision: command.Revision is "Before");
                break;

            case "DELETE" when command.IsPrefix:
                batch.DeleteByPrefix(id);
                break;

            case "DELETE":
                batch.Delete(id, command.ChangeVector, command.OriginalChangeVector);
                break;

            case "CompareExchangePUT":
                if (!command.DocumentIsObject)
                    throw WireException.BadRequest(
                        $"The CompareExchangePUT of '{id}' lacks 'Document', a JSON object. Nothing was changed.");
                batch.PutCompareExchange(id, body.Span[command.DocumentStart..command.DocumentEnd], command.Index);
                break;

            case "CompareExchangeDELETE":
                batch.DeleteCompareExchange(id, command.Index);
                break;

            case "AttachmentPUT" or "AttachmentDELETE" or "AttachmentCOPY" or "AttachmentMOVE":
                AddAttachment(batch, command, id, contents);
                break;

            case "ForceRevisionCreation":
                batch.ForceRevision(id);
                break;

            case "TimeSeries" or "TimeSeriesWithIncrements":
                TimeSeriesReader.Add(batch, id, body[command.Detail]);
                break;

            case "TimeSeriesCopy":
                string series = Required(command.Name, "Name", command, id),
                    copy = Required(command.DestinationId, "DestinationId", command, id);
                batch.CopyTimeSeries(id, series, copy, command.DestinationName ?? series, command.From, command.To);
                break;

            case "Counters":
                CounterReader.Add(batch, id, body[command.Detail]);
                break;

            case "PATCH":
                PatchWire.Add(batch, id, body[command.Patch], body[command.PatchIfMissing], limits, new PatchOptions
                {
                    ExpectedChangeVector = command.ChangeVector,
                    CreateIfMissing = body[command.CreateIfMissing].ToArray(),
                    ReturnsDocuments = command.ReturnsDocument,
                });
                break;

            case null:
                throw WireException.BadRequest(
                    $"Command {command.Number} of the batch (document '{id}') lacks 'Type'. Nothing was changed.");

            default:
                throw WireException.NotBuilt($"The batch command {command.Type} (command {command.Number}, document '{id}')");
        }
    }

    private static void AddAttachment(WriteBatch batch, in Command command, string id, Queue<AttachmentUpload> contents)
    {
        string name = Required(command.Name, "Name", command, id);
        switch (command.Type)
        {
            case "AttachmentPUT":
                if (!command.Remote.Equals(default))
                    throw WireException.NotBuilt($"Attachments kept elsewhere ('{name}' of document '{id}')");
                if (!contents.TryDequeue(out AttachmentUpload? content))
                    throw WireException.BadRequest(
                        $"The content of the attachment '{name}' of document '{id}' does not stand in the request: contents "
                            + $"follow the batch as parts of a form, in the order of their commands. Nothing was changed.");
                batch.PutAttachment(id, name, command.ContentType, content, command.ChangeVector);
                break;

            case "AttachmentDELETE":
                batch.DeleteAttachment(id, name, command.ChangeVector);
                break;

            default:
                string destinationId = Required(command.DestinationId, "DestinationId", command, id);
                string destinationName = command.DestinationName ?? name;
                _ = command.Type == "AttachmentCOPY"
                    ? batch.CopyAttachment(id, name, destinationId, destinationName, command.ChangeVector)
                    : batch.MoveAttachment(id, name, destinationId, destinationName, command.ChangeVector);
                break;
        }
    }

    private static string Required(string? value, string member, in Command command, string id) => value
        ?? throw WireException.BadRequest($"The {command.Type} of document '{id}' lacks '{member}'. Nothing was changed.");

    /// <summary>One command, whose properties may come in any order.</summary>
    private record struct Command
    {
        public int Number;
        public string? Id;
        public string? Type;
        public string? ChangeVector;
        public string? OriginalChangeVector;
        public string? Name;
        public string? ContentType;
        public string? DestinationId;
        public string? DestinationName;
        public string? Revision;
        public DateTime? From;
        public DateTime? To;
        public long Index;
        public Range Detail;
        public Range Patch;
        public Range PatchIfMissing;
        public Range CreateIfMissing;
        public Range Ids;
        public Range Remote;
        public bool ReturnsDocument;
        public bool IsPrefix;
        public bool DocumentIsObject;
        public int DocumentStart;
        public int DocumentEnd;
    }
}
