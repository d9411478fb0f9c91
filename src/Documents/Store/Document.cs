using System.Buffers;
using System.Text;
using Treepie.Json;

namespace Treepie.Store;

/// <summary>A document as it lies in its page. Lives as long as its snapshot.</summary>
public readonly ref struct Document
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly DocumentRecord _record;

    internal Document(DatabaseSnapshot snapshot, ReadOnlySpan<byte> record)
    {
        _snapshot = snapshot;
        _record = new DocumentRecord(record);
    }

    /// <summary>The id as it was first written (ids are compared without case), UTF-8.</summary>
    public ReadOnlySpan<byte> Id => _record.Id;

    /// <summary>The collection's name, UTF-8; <c>@empty</c> where none was given.</summary>
    public ReadOnlySpan<byte> Collection => _snapshot.NameOf(_record.CollectionId).Utf8;

    /// <summary>The collection's name; the same string for all documents of a collection.</summary>
    public string CollectionName => _snapshot.NameOf(_record.CollectionId).Text;

    /// <summary>Position in the document log; grows with every change of the database.</summary>
    public long Etag => _record.Etag;

    /// <summary>When it was written (UTC ticks).</summary>
    public long LastModifiedTicks => _record.LastModifiedTicks;

    /// <summary>The JSON object without <c>@metadata</c>, minified UTF-8.</summary>
    public ReadOnlySpan<byte> Body => _record.Body;

    /// <summary>User metadata and client keys as a JSON object, minified UTF-8; <c>{}</c> where there is none.</summary>
    public ReadOnlySpan<byte> Metadata => _record.Metadata is { IsEmpty: false } metadata ? metadata : "{}"u8;

    /// <summary>Bytes of body and metadata.</summary>
    internal int ContentBytes => _record.ContentBytes;

    /// <summary>The change vector as clients see it.</summary>
    public string ChangeVector => _snapshot.ChangeVectors.Format(_record.Etag);

    /// <summary>
    /// Writes the document as clients see it: its fields, then <c>@metadata</c> with user metadata, <c>@id</c>, <c>@collection</c>,
    /// <c>@change-vector</c>, <c>@last-modified</c>; with <paramref name="metadataOnly"/> only <c>{"@metadata":…}</c>.
    /// </summary>
    public void WriteTo(IBufferWriter<byte> output, bool metadataOnly = false) => WriteTo(output, metadataOnly, default);

    /// <summary>
    /// As <see cref="WriteTo(IBufferWriter{byte}, bool)"/>, with more members at the end of <c>@metadata</c>:
    /// <paramref name="extraMetadata"/> is valid JSON like <c>"@index-score":1.5</c>, without a comma at either end.
    /// </summary>
    public void WriteTo(IBufferWriter<byte> output, bool metadataOnly, ReadOnlySpan<byte> extraMetadata)
    {
        ReadOnlySpan<byte> body = _record.Body;
        if (metadataOnly || body.Length <= 2)
        {
            output.Write("{\"@metadata\":"u8);
        }
        else
        {
            output.Write(body[..^1]);
            output.Write(",\"@metadata\":"u8);
        }

        WriteMetadata(output, extraMetadata);
        output.Write("}"u8);
    }

    private void WriteMetadata(IBufferWriter<byte> output, ReadOnlySpan<byte> extraMetadata)
    {
        ReadOnlySpan<byte> metadata = _record.Metadata;
        if (metadata.IsEmpty)
        {
            output.Write("{\"@id\":"u8);
        }
        else
        {
            output.Write(metadata[..^1]);
            output.Write(",\"@id\":"u8);
        }

        JsonStrings.Write(output, Id);
        output.Write(",\"@collection\":"u8);
        JsonStrings.Write(output, Collection);
        output.Write(",\"@change-vector\":\""u8);
        Span<byte> changeVector = output.GetSpan(ChangeVectors.MaxLength);
        output.Advance(_snapshot.ChangeVectors.Format(_record.Etag, changeVector));
        output.Write("\",\"@last-modified\":\""u8);
        WriteTime(output, _record.LastModifiedTicks);
        output.Write("\""u8);
        if (!extraMetadata.IsEmpty)
        {
            output.Write(","u8);
            output.Write(extraMetadata);
        }

        output.Write("}"u8);
    }

    private static void WriteTime(IBufferWriter<byte> output, long ticks)
    {
        const int Length = 28; // 2024-01-01T00:00:00.0000000Z
        Span<byte> text = output.GetSpan(Length);
        new DateTime(ticks, DateTimeKind.Utc).TryFormat(text, out int written, "O", System.Globalization.CultureInfo.InvariantCulture);
        output.Advance(written);
    }

    /// <summary>The id as a string, for messages and maps.</summary>
    public string IdText() => Encoding.UTF8.GetString(_record.Id);
}
