using System.Buffers;
using System.Globalization;
using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Writes a dump: one JSON object with an array for each kind of data. Most arrays are those that RavenDB's tools read and
/// write; this program adds a header at the start, collections, and counts and content hash at the end. Memory use is a few
/// chunks, or the longest document.
/// </summary>
internal sealed class DumpWriter : IDisposable
{
    /// <summary>The size of a chunk of JSON: large enough for a compressor, small enough to stay in the cache.</summary>
    private const int PieceBytes = 128 * 1024;

    private static readonly JsonWriterOptions _options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true
    };

    private readonly Stream _output;
    private readonly ArrayBufferWriter<byte> _buffer = new(2 * PieceBytes);
    private readonly Utf8JsonWriter _json;
    private readonly ContentHash _hash = new();
    private readonly ContentHash _settings = new();
    private long _handedOn;
    private bool _first = true;

    public DumpWriter(Stream output)
    {
        _output = output;
        _json = new Utf8JsonWriter(_buffer, _options);
    }

    /// <summary>The number of items written so far.</summary>
    public BackupCounts Counts => _hash.Counts;

    /// <summary>The number of bytes of JSON written so far.</summary>
    public long Bytes => _handedOn + _buffer.WrittenCount;

    /// <summary>Whether <see cref="HandOnAsync"/> should be called.</summary>
    public bool IsPieceFull => _buffer.WrittenCount >= PieceBytes;

    public void Begin(DumpHeader header)
    {
        _hash.Database(header.DatabaseId, header.LastEtag);
        if (header.Since is { } since)
            _hash.Since(since);
        _buffer.Write("{\"BuildVersion\":"u8);
        Number(DumpJson.BuildVersion);
        BeginSection(DumpJson.HeaderSection);
        Item(header, static (json, header) => header.Write(json));
        EndSection();
    }

    /// <summary>Writes the settings of the database, for tools of other programs.</summary>
    public void Record(string name, DatabaseSnapshot snapshot, LeftOutSettings leftOut)
    {
        _buffer.Write(",\n\"DatabaseRecord\":"u8);
        Item(
            (name, snapshot, leftOut),
            static (json, state) => DumpRecord.Write(json, state.name, state.snapshot, state.leftOut), isFirst: true);
    }

    public void BeginSection(string name)
    {
        _buffer.Write(",\n"u8);
        Item(name, static (json, name) => json.WriteStringValue(name), isFirst: true);
        _buffer.Write(":["u8);
        _first = true;
    }

    public void EndSection() => _buffer.Write("]"u8);

    public void Document(Document document)
    {
        Separate();
        document.WriteTo(_buffer);
        _hash.Document(
            document.Etag, document.LastModifiedTicks, document.Id, document.Collection, document.Metadata, document.Body);
    }

    /// <summary>Writes a document as a script left it.</summary>
    public void Document(DumpDocument document, long etag, long ticks)
    {
        Separate();
        _buffer.Write(document.Json.Span);
        _hash.Document(etag, ticks, document);
    }

    public void Tombstone(long etag, TombstoneRecord record, CollectionName collection, ChangeVectors changeVectors)
    {
        Separate();
        _json.Reset();
        _json.WriteStartObject();
        _json.WriteString("Key"u8, record.Id);
        _json.WriteString("Type"u8, "Document"u8);
        _json.WriteString("Collection"u8, collection.Utf8);
        _json.WriteString("ChangeVector"u8, changeVectors.Format(etag));
        _json.WriteNumber("Etag"u8, etag);
        _json.WriteString("LastModified"u8, DumpJson.FormatTime(record.DeletedAtTicks));
        _json.WriteBoolean("TreepieSuperseded"u8, record.IsSuperseded);
        _json.WriteEndObject();
        _json.Flush();
        _hash.Tombstone(etag, record.DeletedAtTicks, record.IsSuperseded, record.Id, collection.Utf8);
    }

    /// <summary>Writes an item of related data.</summary>
    public void Beside(ReadOnlySpan<byte> key, KindRecord record, ReadOnlySpan<byte> documentId, ChangeVectors changeVectors)
    {
        Separate();
        _json.Reset();
        DumpKinds.Write(_json, key, record, documentId, changeVectors);
        _json.Flush();
        _hash.Beside(record.Etag, record.Ticks, isDeleted: false, key, record.Name, record.Value);
    }

    /// <summary>Writes a revision, with or without the list of its attachments.</summary>
    public void Revision(ReadOnlySpan<byte> key, DatabaseSnapshot snapshot, bool withAttachments)
    {
        Separate();
        DumpRevisions.Write(_buffer, key, snapshot, withAttachments);
        KindRecord record = snapshot.Kinds.RecordOf(key);
        ReadOnlySpan<byte> value = snapshot.Kinds.RevisionValue(key);
        var revision = new RevisionRecord(value);
        _hash.Beside(
            record.Etag, record.Ticks, isDeleted: false, key, record.Name,
            withAttachments || revision.Attachments.IsEmpty ? value : revision.WithAttachments(default));
    }

    /// <summary>Begins the content of an attachment: writes the element that precedes its raw bytes.</summary>
    public void BeginContent(ReadOnlySpan<byte> hash, long sizeBytes)
    {
        Separate();
        _json.Reset();
        _json.WriteStartObject();
        _json.WriteStartObject("@metadata"u8);
        _json.WriteString("@export-type"u8, DumpBlob.Attachment);
        _json.WriteEndObject();
        _json.WriteBase64String("Hash"u8, hash);
        _json.WriteNumber("Size"u8, sizeBytes);
        _json.WriteEndObject();
        _json.Flush();
    }

    /// <summary>Writes the next bytes of the content.</summary>
    public void Content(ReadOnlySpan<byte> bytes) => _buffer.Write(bytes);

    /// <summary>Writes the deletion of an item of related data.</summary>
    public void Deletion(ReadOnlySpan<byte> key, KindRecord record)
    {
        Separate();
        _json.Reset();
        DumpKinds.WriteDeletion(_json, key, record);
        _json.Flush();
        _hash.Beside(record.Etag, record.Ticks, isDeleted: true, key, record.Name, default);
    }

    public void Index(DumpedIndex index)
    {
        Item(index, static (json, index) => DumpIndex.Write(json, index));
        _hash.Index(index.Mapping);
        _settings.Settings(index.Mapping.Name, index.Settings);
    }

    public void Identity(string name, long value)
    {
        Item((name, value), static (json, identity) =>
        {
            json.WriteStartObject();
            json.WriteString("Key"u8, identity.name);
            json.WriteString("Value"u8, identity.value.ToString(CultureInfo.InvariantCulture));
            json.WriteEndObject();
        });
        _hash.Identity(name, value);
    }

    public void Collection(CollectionStatistics collection)
    {
        Item(collection, static (json, collection) =>
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, collection.Name);
            json.WriteNumber("Documents"u8, collection.DocumentCount);
            json.WriteNumber("SizeBytes"u8, collection.SizeBytes);
            json.WriteNumber("LastEtag"u8, collection.LastEtag);
            json.WriteEndObject();
        });
        _hash.Collection(collection.Name, collection.DocumentCount, collection.SizeBytes, collection.LastEtag);
    }

    /// <summary>Writes the manifest and the end of the dump; returns the content hash.</summary>
    public string End()
    {
        var manifest = new DumpManifest(_hash.Counts, _hash.Finish()) { SettingsHash = _settings.Finish() };
        BeginSection(DumpJson.ManifestSection);
        Item(manifest, static (json, manifest) => manifest.Write(json));
        EndSection();
        _buffer.Write("}\n"u8);
        return manifest.ContentHash;
    }

    /// <summary>Passes the buffered JSON to the output.</summary>
    public async ValueTask HandOnAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        await _output.WriteAsync(_buffer.WrittenMemory, cancellationToken).ConfigureAwait(false);
        _handedOn += _buffer.WrittenCount;
        _buffer.ResetWrittenCount();
    }

    public void Dispose()
    {
        _json.Dispose();
        _hash.Dispose();
        _settings.Dispose();
    }

    private void Item<T>(T value, Action<Utf8JsonWriter, T> write, bool isFirst = false)
    {
        if (!isFirst)
            Separate();
        _json.Reset();
        write(_json, value);
        _json.Flush();
    }

    private void Separate()
    {
        _buffer.Write(_first ? "\n"u8 : ",\n"u8);
        _first = false;
    }

    private void Number(long value)
    {
        Span<byte> room = _buffer.GetSpan(20);
        System.Buffers.Text.Utf8Formatter.TryFormat(value, room, out int written);
        _buffer.Advance(written);
    }
}
