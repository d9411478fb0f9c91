using System.Buffers;
using Treepie.Json;

namespace Treepie.Store;

/// <summary>Writes the members of metadata about a document's related data: <c>@flags</c>, and names by kind.</summary>
internal readonly struct BesideMetadata(KindItems kinds)
{
    private static readonly (DocumentFlags Flag, byte[] Text)[] _flags =
    [
        (DocumentFlags.HasAttachments, "HasAttachments"u8.ToArray()), (DocumentFlags.HasCounters, "HasCounters"u8.ToArray()),
        (DocumentFlags.HasRevisions, "HasRevisions"u8.ToArray()), (DocumentFlags.HasTimeSeries, "HasTimeSeries"u8.ToArray()),
    ];

    /// <summary>Writes the members, each with a leading comma.</summary>
    /// <param name="output">The destination.</param>
    /// <param name="foldedId">The folded id of the document.</param>
    /// <param name="flags">The kinds of related data of the document.</param>
    /// <param name="given">The flags in its own metadata, as text within a JSON string.</param>
    public void Write(
        IBufferWriter<byte> output, ReadOnlySpan<byte> foldedId, DocumentFlags flags, ReadOnlySpan<byte> given)
    {
        output.Write(",\"@flags\":\""u8);
        output.Write(given);
        bool first = given.IsEmpty;
        foreach ((DocumentFlags flag, byte[] text) in _flags)
        {
            if (!flags.HasFlag(flag))
                continue;
            output.Write(first ? ""u8 : ", "u8);
            output.Write(text);
            first = false;
        }

        output.Write("\""u8);
        if (flags.HasFlag(DocumentFlags.HasAttachments))
            WriteList(output, ",\"@attachments\":["u8, KindKey.Prefix(Kind.Attachment, foldedId));
        if (flags.HasFlag(DocumentFlags.HasCounters))
            WriteList(output, ",\"@counters\":["u8, KindKey.Prefix(Kind.Counter, foldedId));
        if (flags.HasFlag(DocumentFlags.HasTimeSeries))
            WriteTimeSeries(output, foldedId);
    }

    private void WriteList(IBufferWriter<byte> output, ReadOnlySpan<byte> start, byte[] prefix)
    {
        output.Write(start);
        using KindCursor cursor = kinds.Under(prefix);
        for (bool first = true; cursor.MoveNext(); first = false)
        {
            if (!first)
                output.Write(","u8);
            if (KindKey.KindOf(prefix) == Kind.Attachment)
                AttachmentRecord.WriteJson(output, cursor.Record);
            else
                JsonStrings.Write(output, cursor.Record.Name);
        }

        output.Write("]"u8);
    }

    private void WriteTimeSeries(IBufferWriter<byte> output, ReadOnlySpan<byte> foldedId)
    {
        output.Write(",\"@timeseries\":["u8);
        bool first = true;
        foreach (byte[] key in kinds.FirstSegments(foldedId.ToArray()))
        {
            output.Write(first ? ""u8 : ","u8);
            first = false;
            JsonStrings.Write(output, kinds.RecordOf(key).Name);
        }

        output.Write("]"u8);
    }
}
