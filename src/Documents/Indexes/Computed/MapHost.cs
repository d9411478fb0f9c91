using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Outputs;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>What a map may read apart from its document, in the same snapshot. Records the references. Not thread-safe.</summary>
internal sealed class MapHost : IMapHost
{
    /// <summary>The maximum number of documents and values that one document may load.</summary>
    public const int MaxReferences = 4_096;

    /// <summary>The maximum size of an attachment that a map reads: 1 MiB.</summary>
    public const int MaxAttachmentBytes = 1 << 20;

    private static readonly FieldPath _object = FieldPath.TryParse("Object")!; // always a valid path

    private readonly HashSet<UInt128> _references = [];
    private DatabaseSnapshot? _snapshot;
    private byte[] _id = [];
    private byte[] _beside = [];

    /// <summary>The references of the document, ascending.</summary>
    public UInt128[] References => _references.Count == 0 ? [] : [.. _references.Order()];

    public string? BesideName { get; private set; }

    /// <summary>Starts with a document, or with a counter or time series presented as a document.</summary>
    public void Begin(DatabaseSnapshot snapshot, Document document, string? besideName = null)
    {
        _snapshot = snapshot;
        _id = document.Id.ToArray();
        BesideName = besideName;
        _beside = besideName is null ? [] : document.Body.ToArray();
        _references.Clear();
    }

    public byte[]? Load(string id, string collection)
    {
        byte[] folded = new byte[DocumentId.MaxFoldedBytes];
        if (!DocumentId.TryFold(id, folded, out int length))
            return null;
        Note(Reference.ToDocument(folded.AsSpan(0, length)));
        return Snapshot.TryGetByFoldedId(folded.AsSpan(0, length), out Document document)
            && string.Equals(document.CollectionName, collection, StringComparison.OrdinalIgnoreCase)
            ? Whole(document)
            : null;
    }

    public byte[]? CompareExchange(string key)
    {
        Note(Reference.ToValue(key));
        if (Snapshot.CompareExchange(key) is not { } value)
            return null;
        var json = new ArrayBufferWriter<byte>();
        return JsonPathReader.TryWrite(value.Body.Span, _object, json) ? json.WrittenSpan.ToArray() : null;
    }

    public byte[]? Attachment(string id, string name)
    {
        if (FindAttachment(id, name) is not { } attachment)
            return null;
        var json = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(json))
        {
            writer.WriteStartObject();
            writer.WriteString("Name"u8, attachment.Name);
            writer.WriteString("ContentType"u8, attachment.ContentType);
            writer.WriteString("Hash"u8, attachment.Hash);
            writer.WriteNumber("Size"u8, attachment.SizeBytes);
            writer.WriteEndObject();
        }

        return json.WrittenSpan.ToArray();
    }

    public string? AttachmentText(string id, string name)
    {
        if (FindAttachment(id, name) is not { } attachment)
            return null;
        if (attachment.SizeBytes > MaxAttachmentBytes)
            throw new ComputationException(
                $"the attachment '{name}' has {attachment.SizeBytes:N0} bytes; maps read at most {MaxAttachmentBytes:N0}.");
        byte[] content = new byte[attachment.SizeBytes];
        for (int at = 0; at < content.Length;)
        {
            ReadOnlySpan<byte> part = Snapshot.Content(attachment, at);
            part.CopyTo(content.AsSpan(at));
            at += part.Length;
        }

        return Encoding.UTF8.GetString(content);
    }

    /// <summary>
    /// Finds an attachment of the mapped document. Others are not allowed: a change of an attachment changes its document,
    /// so only that document is mapped again.
    /// </summary>
    private AttachmentValue? FindAttachment(string id, string name) =>
        OutputDocument.Folded(id).AsSpan().SequenceEqual(OutputDocument.Folded(Encoding.UTF8.GetString(_id)))
            ? Snapshot.Attachment(id, name)
            : throw new ComputationException(
                $"it reads an attachment of '{id}': a map reads those of the document that it maps alone.");

    public byte[] WholeDocument() => BesideName is not null
        ? _beside
        : Snapshot.TryGet(_id, out Document document)
            ? Whole(document)
            : throw new InvalidOperationException("The document that is mapped is in its snapshot.");

    private DatabaseSnapshot Snapshot => _snapshot ?? throw new InvalidOperationException("No document is being mapped.");

    private static byte[] Whole(Document document)
    {
        var json = new ArrayBufferWriter<byte>(document.ContentBytes + 256);
        document.WriteTo(json);
        return json.WrittenSpan.ToArray();
    }

    private void Note(UInt128 reference)
    {
        if (_references.Add(reference) && _references.Count > MaxReferences)
            throw new ComputationException($"the document looks at more than {MaxReferences:N0} others.");
    }
}
