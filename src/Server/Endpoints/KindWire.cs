using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>Writes related data in the format of RavenDB's clients.</summary>
internal static class KindWire
{
    /// <summary>Writes the members of the result of one batch command.</summary>
    public static void WriteBatchResult(Utf8JsonWriter json, WriteResult result)
    {
        switch (result.Beside)
        {
            case CompareExchangeResult value:
                json.WriteString("Type", value.IsDeletion ? "CompareExchangeDELETE" : "CompareExchangePUT");
                json.WriteString("Key", value.Key);
                json.WriteNumber("Index", value.Index);
                break;

            case AttachmentResult attachment:
                WriteAttachmentResult(json, attachment);
                break;

            case TimeSeriesResult series:
                json.WriteString("Id", series.DocumentId);
                json.WriteString("ChangeVector", result.ChangeVector);
                json.WriteString("Type", series.IsCopy ? "TimeSeriesCopy" : "TimeSeries");
                if (series.DocumentChangeVector is not null)
                    json.WriteString("DocumentChangeVector", series.DocumentChangeVector);
                break;

            case RevisionResult revision:
                json.WriteBoolean("RevisionCreated", revision.IsCreated);
                json.WriteString("Type", "ForceRevisionCreation");
                json.WriteString("@id", revision.DocumentId);
                json.WriteString("@change-vector", revision.ChangeVector);
                json.WriteString("@last-modified", WireTime.ToWire(result.LastModified));
                json.WriteString("@flags", "HasRevisions");
                break;

            case CountersResult counters:
                json.WriteString("Id", counters.DocumentId);
                json.WriteString("ChangeVector", result.ChangeVector);
                json.WriteString("Type", "Counters");
                json.WriteStartObject("CountersDetail");
                WriteCounters(json, counters.Counters, full: false);
                json.WriteEndObject();
                if (counters.DocumentChangeVector is not null)
                    json.WriteString("DocumentChangeVector", counters.DocumentChangeVector);
                break;
        }
    }

    private static void WriteAttachmentResult(Utf8JsonWriter json, AttachmentResult result)
    {
        bool isDelete = result.Operation == AttachmentOperation.Delete,
            isCopy = result.Operation == AttachmentOperation.Copy,
            isMove = result.Operation == AttachmentOperation.Move;
        json.WriteString("Type", "Attachment" + result.Operation.ToString().ToUpperInvariant());
        json.WriteString(isDelete ? "@id" : "Id", isCopy ? result.Value!.DocumentId : result.DocumentId); // copies have a value
        json.WriteString("Name", isCopy ? result.Value!.Name : result.Name);
        if (isMove)
        {
            json.WriteString("DestinationId", result.Value!.DocumentId); // moves have a value
            json.WriteString("DestinationName", result.Value.Name);
            json.WriteString("DestinationDocumentChangeVector", result.DestinationChangeVector);
        }

        if (result.Value is not null)
            WriteAttachment(json, result.Value);
        json.WriteString("DocumentChangeVector", isCopy ? result.DestinationChangeVector : result.DocumentChangeVector);
    }

    /// <summary>Writes the members of an attachment other than its document and name.</summary>
    public static void WriteAttachment(Utf8JsonWriter json, AttachmentValue attachment)
    {
        json.WriteString("ChangeVector", attachment.ChangeVector);
        json.WriteString("Hash", attachment.Hash);
        json.WriteString("ContentType", attachment.ContentType);
        json.WriteNumber("Size", attachment.SizeBytes);
    }

    /// <summary>Writes the member <c>Counters</c>.</summary>
    public static void WriteCounters(Utf8JsonWriter json, IEnumerable<CounterValue?> counters, bool full)
    {
        json.WriteStartArray("Counters");
        foreach (CounterValue? counter in counters)
        {
            if (counter is null)
                json.WriteNullValue();
            else
                WriteCounter(json, counter, full);
        }

        json.WriteEndArray();
    }

    public static void WriteCounter(Utf8JsonWriter json, CounterValue counter, bool full)
    {
        json.WriteStartObject();
        json.WriteString("DocumentId", counter.DocumentId);
        json.WriteString("CounterName", counter.Name);
        json.WriteNumber("TotalValue", counter.Value);
        json.WriteNumber("Etag", counter.Etag);
        json.WriteString("ChangeVector", counter.ChangeVector);
        if (full)
        {
            json.WriteStartObject("CounterValues");
            foreach ((string node, long value) in counter.ByNode)
                json.WriteNumber(node, value);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    /// <summary>Writes a compare-exchange value, or the entry of a key without one.</summary>
    public static void WriteCompareExchange(ResponseBody output, string key, CompareExchangeValue? value)
    {
        output.Write("{\"Key\":"u8);
        output.WriteString(value?.Key ?? key);
        output.Write(",\"Index\":"u8);
        output.WriteNumber(value?.Index ?? -1);
        output.Write(",\"Value\":"u8);
        if (value is null)
            output.Write("null"u8);
        else
            value.WriteTo(output);
        output.Write(",\"ChangeVector\":"u8);
        if (value is null)
            output.Write("null"u8);
        else
            output.WriteString(value.IsAtomicGuard ? AtomicGuardText(value) : value.ChangeVector);
        output.Write("}"u8);
    }

    /// <summary>Returns the change vector that clients send back as the state of a document they have seen.</summary>
    private static string AtomicGuardText(CompareExchangeValue value) =>
        $"TRXN:{value.ChangeVector.AsSpan(value.ChangeVector.IndexOf(':', StringComparison.Ordinal) + 1)}";
}
