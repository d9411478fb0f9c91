using System.Buffers.Text;
using System.Globalization;
using System.Text.Json;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Parses a document of a dump and checks it like any external input. Buffers are reused: the results are valid until the
/// next call of <see cref="Read"/>. Not thread-safe.
/// </summary>
internal sealed class DumpDocument
{
    /// <summary>The space for what a dump adds to a document: id, collection, change vector and time, escaped.</summary>
    private const int AddedBytes = 16 * 1024;

    /// <summary>
    /// The additional space in dumps of this program: 10,000 names of 512 bytes each, with their surrounding JSON.
    /// </summary>
    private const int AddedNameBytes = 8 * 1024 * 1024;

    private readonly DocumentParser _parser;
    private readonly JsonReaderOptions _readerOptions;
    private readonly int _maxIdBytes;
    private readonly DumpFlags _flags;
    private readonly byte[] _idUtf8 = new byte[DocumentId.MaxBytes];
    private byte[] _content = [];
    private int _idLength;
    private int _bodyLength;
    private int _metadataLength;
    private bool _isForeign;
    private CollectionName _collection = new(CollectionNames.Empty);

    public DumpDocument(DatabaseOptions limits)
    {
        _parser = new DocumentParser(
            (int)Math.Min((long)limits.MaxDocumentBytes + AddedBytes + AddedNameBytes, Array.MaxLength), limits.MaxDocumentDepth);
        _readerOptions = new JsonReaderOptions { MaxDepth = limits.MaxDocumentDepth + 1 };
        MaxElementBytes = (int)Math.Min((long)limits.MaxDocumentBytes + AddedBytes, Array.MaxLength);
        _maxIdBytes = limits.MaxIdBytes;
        _flags = new DumpFlags(_readerOptions.MaxDepth);
    }

    /// <summary>The maximum length in bytes of an element of a dump that can be a document.</summary>
    public int MaxElementBytes { get; }

    /// <summary>The same for a dump of this program, which lists the names of the related data of documents.</summary>
    public int MaxOwnElementBytes => _parser.MaxDocumentBytes;

    public ReadOnlyMemory<byte> Json { get; private set; }

    public string Id { get; private set; } = "";

    public ReadOnlySpan<byte> IdUtf8 => _idUtf8.AsSpan(0, _idLength);

    public CollectionName Collection => _collection;

    /// <summary>The minified body, without <c>@metadata</c>.</summary>
    public ReadOnlySpan<byte> Body => _content.AsSpan(0, _bodyLength);

    /// <summary>The minified metadata, without the entries that the database sets itself; empty if none.</summary>
    public ReadOnlySpan<byte> Metadata => _content.AsSpan(_bodyLength, _metadataLength);

    /// <summary>The change vector; null if the dump has none.</summary>
    public string? ChangeVector { get; private set; }

    /// <summary>The time of the last change; null if the dump has none.</summary>
    public DateTime? LastModified { get; private set; }

    /// <summary>The number of raw bytes that follow this element: the content of an attachment. 0 for documents.</summary>
    public long RawBytes { get; private set; }

    /// <summary>For the content of an attachment, its hash.</summary>
    public string Hash { get; private set; } = "";

    /// <summary>Whether the document has revisions, which the dump may contain.</summary>
    public bool HasRevisions => Flags.Contains("HasRevisions", StringComparison.Ordinal);

    /// <summary>The value of <c>@flags</c> in the metadata; empty if absent.</summary>
    public string Flags { get; private set; } = "";

    /// <summary>For a revision in a dump of this program: properties that other programs do not need.</summary>
    public string? RevisionMark { get; private set; }

    /// <summary>The attachments listed in the metadata.</summary>
    public List<DumpedAttachment> Attachments { get; } = [];

    /// <summary>The type of an element that is not a document, for example <c>Attachment</c>; null for documents.</summary>
    public string? ExportType { get; private set; }

    /// <summary>Parses an element.</summary>
    /// <param name="json">The element.</param>
    /// <param name="isForeign">
    /// Whether the dump was written by another program; its flags may refer to data that is skipped.
    /// </param>
    /// <param name="isRevision">Whether it is a revision, whose flags only mark it as one.</param>
    /// <exception cref="InvalidDocumentException">The element is not a document, or exceeds a limit.</exception>
    public void Read(ReadOnlyMemory<byte> json, bool isForeign, bool isRevision = false)
    {
        _isForeign = isForeign;
        (Id, ChangeVector, LastModified, ExportType, RawBytes) = ("", null, null, null, 0);
        (Flags, RevisionMark, Hash) = ("", null, "");
        _parser.DropsFlags = isRevision;
        Attachments.Clear();
        ReadMetadata(json.Span);
        json = isForeign && !isRevision ? _flags.Without(json) : json;
        Json = json;
        if (ExportType is not null)
            return;

        if (Id.Length == 0)
            throw new InvalidDocumentException("A document of the backup has no @id in its @metadata. Add one.");
        _idLength = DocumentId.Encode(Id, _maxIdBytes, _idUtf8);
        if (_content.Length < json.Length)
            _content = new byte[(int)Math.Max(json.Length, Math.Min(_content.Length * 2L, MaxOwnElementBytes))];
        ParsedDocument parsed = _parser.Parse(Id, json.Span, _content);
        (_bodyLength, _metadataLength) = (parsed.BodyLength, parsed.MetadataLength);
        ReadOnlySpan<byte> name = _parser.Collection.IsEmpty ? "@empty"u8 : _parser.Collection;
        if (!name.SequenceEqual(_collection.Utf8))
            _collection = CollectionName.From(name, Id);
    }

    private void ReadMetadata(ReadOnlySpan<byte> json)
    {
        try
        {
            if (LastMember(json) is { IsEmpty: false } metadata)
            {
                var last = new Utf8JsonReader(metadata, _readerOptions);
                last.Read();
                ReadMetadata(ref last);
                if (ExportType is null)
                    return;
                Attachments.Clear();
            }

            var reader = new Utf8JsonReader(json, _readerOptions);
            if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
                throw new InvalidDocumentException("A document of the backup is no JSON object.");
            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                bool isMetadata = reader.ValueTextEquals(MetadataKeys.Metadata),
                    isSize = reader.ValueTextEquals("Size"u8),
                    isHash = reader.ValueTextEquals("Hash"u8);
                reader.Read();
                if (isHash && reader.TokenType == JsonTokenType.String)
                    Hash = reader.GetString() ?? "";
                else if (isMetadata && reader.TokenType == JsonTokenType.StartObject)
                    ReadMetadata(ref reader);
                else if (isSize && reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out long size))
                    RawBytes = Math.Max(0, size);
                else
                    reader.Skip();
            }

            if (ExportType != DumpBlob.Attachment)
                RawBytes = 0;
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException or FormatException)
        {
            throw new InvalidDocumentException(
                $"A document of the backup{(Id.Length == 0 ? "" : $", '{Id}',")} is not valid: {error.Message}");
        }
    }

    /// <summary>
    /// Returns the value of <c>@metadata</c> if it is an object and the last member, as in documents that this program writes,
    /// otherwise an empty span. Does not read the members before it; the parser does that later. The name that is found cannot
    /// be inside a string, where its quotes would be escaped, or inside a nested object, which more than one brace would close.
    /// </summary>
    private ReadOnlySpan<byte> LastMember(ReadOnlySpan<byte> json)
    {
        ReadOnlySpan<byte> name = "\"@metadata\":"u8;
        int at = json.LastIndexOf(name);
        if (at < 0 || json[^1] != (byte)'}')
            return default;
        ReadOnlySpan<byte> value = json[(at + name.Length)..^1];
        var reader = new Utf8JsonReader(value, _readerOptions);
        bool isObject = reader.Read() && reader.TokenType == JsonTokenType.StartObject && reader.TrySkip();
        return isObject && reader.BytesConsumed == value.Length ? value : default;
    }

    private void ReadAttachments(ref Utf8JsonReader reader)
    {
        using var list = JsonDocument.ParseValue(ref reader);
        foreach (JsonElement attachment in list.RootElement.EnumerateArray())
        {
            if (attachment.ValueKind == JsonValueKind.Object
                && attachment.TryGetProperty("Name"u8, out JsonElement name)
                && attachment.TryGetProperty("Hash"u8, out JsonElement hash)
                && name.GetString() is { } text)
            {
                // GetString of a JSON string is not null
                string contentType = attachment.TryGetProperty("ContentType"u8, out JsonElement type)
                    && type.ValueKind == JsonValueKind.String ? type.GetString()! : "";
                Attachments.Add(new DumpedAttachment(text, hash.GetString() ?? "", contentType, 0));
            }
        }
    }

    private void ReadMetadata(ref Utf8JsonReader reader)
    {
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isId = reader.ValueTextEquals("@id"u8), isChangeVector = reader.ValueTextEquals("@change-vector"u8);
            // the database wrote the flags next to this entry
            _parser.DropsFlags |= !_isForeign && MetadataKeys.IsBeside(reader.ValueSpan);
            bool isTime = reader.ValueTextEquals("@last-modified"u8), isType = reader.ValueTextEquals("@export-type"u8);
            bool isAttachments = reader.ValueTextEquals("@attachments"u8), isFlags = reader.ValueTextEquals(MetadataKeys.Flags),
                isMark = reader.ValueTextEquals(DumpRevisions.Mark);
            reader.Read();
            // no other entry accompanies this flag
            _parser.DropsFlags |= !_isForeign
                && isFlags
                && reader.TokenType == JsonTokenType.String
                && reader.ValueTextEquals("HasRevisions"u8);
            if (isAttachments && reader.TokenType == JsonTokenType.StartArray)
                ReadAttachments(ref reader);
            else if (reader.TokenType != JsonTokenType.String)
                reader.Skip();
            else if (isId)
                Id = reader.GetString() ?? "";
            else if (isChangeVector)
                ChangeVector = reader.GetString();
            else if (isType)
                ExportType = reader.GetString();
            else if (isFlags)
                Flags = reader.GetString() ?? "";
            else if (isMark)
                RevisionMark = reader.GetString();
            else if (isTime && TryReadTime(ref reader, out DateTime time))
                LastModified = time;
        }
    }

    /// <summary>Reads a time: the form in which this program writes it without a string, any other as text.</summary>
    private static bool TryReadTime(ref Utf8JsonReader reader, out DateTime time)
    {
        ReadOnlySpan<byte> utf8 = reader.ValueSpan;
        return (utf8 is [.., (byte)'Z'] && Utf8Parser.TryParse(utf8, out time, out int read, 'O') && read == utf8.Length)
            || DateTime.TryParse(
                reader.GetString(), CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out time);
    }
}
