using System.Text;
using System.Text.Json;
using Treepie.Kernels;
using Treepie.Server.Http;
using Treepie.Server.Limits;

namespace Treepie.Server.BulkInsert;

/// <summary>
/// Splits a bulk insert into items as it arrives, in chunks of any size: <c>[{"Id":…,"Type":"PUT","Document":{…}},…]</c>.
/// Examines only brackets and quotes until an item is complete, then parses it once. Buffers at most one item, whose size is
/// limited.
/// </summary>
/// <remarks>
/// States: <c>Start</c> -[→ <c>FirstItem</c> -{→ <c>InItem</c> -}→ <c>AfterItem</c> -,→ <c>BeforeItem</c> -{→ <c>InItem</c>;
/// a <c>]</c> in <c>FirstItem</c> or <c>AfterItem</c> → <c>Ended</c>. The insert ends with the closing bracket, not with the
/// request body: clients wait for the response before they end it.
/// </remarks>
/// <param name="limits">The limits of documents.</param>
/// <param name="lease">Accounts for the buffer in the memory shared by all requests; null: not counted.</param>
internal sealed class BulkInsertParser(DatabaseOptions limits, BufferLease? lease = null)
{
    /// <summary>The initial size of the item buffer.</summary>
    private const int FirstBytes = 16 * 1024;

    /// <summary>The size up to which the buffer is kept for the next item.</summary>
    private const int KeptBytes = 1 << 20;

    /// <summary>The space for id, type and punctuation of an item besides its document.</summary>
    private const int AroundDocumentBytes = 16 * 1024;

    /// <summary>
    /// The nesting levels around a document: the item, and one more so that the database rejects a document that is too deep,
    /// with its id in the message.
    /// </summary>
    private const int LevelsAroundDocument = 1 + 1;

    private byte[] _item = new byte[FirstBytes];
    private int _length;
    private State _state;
    private JsonValueScan _scan;
    private long _items;

    private enum State
    {
        Start,
        FirstItem,
        BeforeItem,
        InItem,
        AfterItem,
        Ended,
    }

    /// <summary>The number of items read so far, including heartbeats.</summary>
    public long Items => _items;

    /// <summary>Whether the closing bracket has been read.</summary>
    public bool Ended => _state == State.Ended;

    /// <summary>Whether <see cref="Document"/> contains operations on counters instead of a document.</summary>
    public bool IsCounters { get; private set; }

    /// <summary>Whether <see cref="Document"/> contains entries of a time series.</summary>
    public bool IsTimeSeries { get; private set; }

    /// <summary>
    /// The attachment whose content follows, <see cref="RawBytes"/> bytes that the caller must consume; null if none.
    /// </summary>
    public (string Name, string? ContentType)? Attachment { get; private set; }

    /// <summary>The length of that content in bytes.</summary>
    public long RawBytes { get; private set; }

    /// <summary>The id of the document found by <see cref="Read"/>; null if none was completed.</summary>
    public string? DocumentId { get; private set; }

    /// <summary>The JSON of that document; valid until the next <see cref="Read"/>.</summary>
    public ReadOnlyMemory<byte> Document { get; private set; }

    /// <summary>
    /// Reads until an item is complete, the insert has ended, or the bytes end; returns the number of bytes read.
    /// </summary>
    public int Read(ReadOnlySpan<byte> bytes)
    {
        DocumentId = null;
        if (_state != State.InItem && _item.Length > KeptBytes)
            Shrink();
        int read = 0;
        while (read < bytes.Length && DocumentId is null && _state != State.Ended)
        {
            if (_state == State.InItem)
                read += ReadItem(bytes[read..]);
            else
                ReadBetween(bytes[read++]);
        }

        return read;
    }

    private void ReadBetween(byte next)
    {
        if (next is (byte)' ' or (byte)'\n' or (byte)'\r' or (byte)'\t')
            return;

        _state = (_state, next) switch
        {
            (State.Start, (byte)'[') => State.FirstItem,
            (State.FirstItem or State.AfterItem, (byte)']') => State.Ended,
            (State.AfterItem, (byte)',') => State.BeforeItem,
            (State.FirstItem or State.BeforeItem, (byte)'{') => State.InItem,
            _ => throw Broken(next),
        };
        if (_state != State.InItem)
            return;

        _length = 0;
        _scan = default;
        ReadItem([next]);
    }

    private int ReadItem(ReadOnlySpan<byte> bytes)
    {
        int position = _scan.Read(bytes);
        Append(bytes[..position]);
        if (!_scan.IsWhole)
            return position;

        _state = State.AfterItem;
        _items++;
        try
        {
            FinishItem();
        }
        catch (JsonException exception)
        {
            throw WireException.BadRequest(
                $"Item {_items} of the bulk insert is not valid JSON: {WireJson.Explain(exception)}", exception);
        }

        return position;
    }

    private void Append(ReadOnlySpan<byte> bytes)
    {
        long needed = (long)_length + bytes.Length;
        long most = (long)limits.MaxDocumentBytes + AroundDocumentBytes;
        if (needed > most)
            throw TooLarge(bytes);

        if (needed > _item.Length)
        {
            int larger = (int)Math.Min(Math.Max(_item.Length * 2L, needed), most);
            lease?.Grow(larger - _item.Length);
            Array.Resize(ref _item, larger);
        }

        bytes.CopyTo(_item.AsSpan(_length));
        _length += bytes.Length;
    }

    /// <summary>
    /// Releases a large buffer, so that one large document does not hold memory for the rest of the insert.
    /// </summary>
    private void Shrink()
    {
        lease?.Shrink(_item.Length - FirstBytes);
        _item = new byte[FirstBytes];
    }

    private void FinishItem()
    {
        var reader = new Utf8JsonReader(
            _item.AsSpan(0, _length), new JsonReaderOptions { MaxDepth = limits.MaxDocumentDepth + LevelsAroundDocument });
        string? id = null;
        string? type = null, name = null, contentType = null;
        bool isRemote = false;
        long contentLength = -1;
        int documentStart = -1;
        int documentLength = 0;
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isId = reader.ValueTextEquals("Id"u8);
            bool isType = reader.ValueTextEquals("Type"u8);
            bool isDocument = reader.ValueTextEquals("Document"u8)
                || reader.ValueTextEquals("Counters"u8)
                || reader.ValueTextEquals("TimeSeries"u8);
            bool isName = reader.ValueTextEquals("Name"u8),
                isContentType = reader.ValueTextEquals("ContentType"u8),
                isLength = reader.ValueTextEquals("ContentLength"u8);
            bool isPlace = reader.ValueTextEquals("RemoteParameters"u8);
            reader.Read();
            isRemote |= isPlace && reader.TokenType != JsonTokenType.Null;
            if (isName)
                name = Text(ref reader, "Name");
            else if (isContentType)
                contentType = Text(ref reader, "ContentType");
            else if (isLength && reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out long given))
                contentLength = given;
            else if (isId)
                id = Text(ref reader, "Id");
            else if (isType)
                type = Text(ref reader, "Type");
            else if (isDocument && reader.TokenType == JsonTokenType.StartObject)
            {
                documentStart = (int)reader.TokenStartIndex;
                reader.Skip();
                documentLength = (int)reader.BytesConsumed - documentStart;
            }
            else
                reader.Skip();
        }

        if (type == "HeartBeat")
            return;

        Attachment = null;
        if (type == "AttachmentPUT")
        {
            if (string.IsNullOrEmpty(id) || name is null || contentLength < 0)
                throw WireException.BadRequest(
                    $"Item {_items} of the bulk insert lacks 'Id', 'Name' or 'ContentLength', a whole number from 0 on.");
            if (isRemote)
                throw WireException.NotBuilt($"Attachments kept elsewhere (item {_items}, '{name}' of document '{id}')");
            (DocumentId, Attachment, RawBytes, IsCounters, IsTimeSeries) = (id, (name, contentType), contentLength, false, false);
            return;
        }

        Check(id, type, documentStart, documentLength);
        DocumentId = id;
        IsCounters = type == "Counters";
        IsTimeSeries = type == "TimeSeriesBulkInsert";
        Document = _item.AsMemory(documentStart, documentLength);
    }

    private void Check(string? id, string? type, int documentStart, int documentLength)
    {
        if (type is not ("PUT" or "Counters" or "TimeSeriesBulkInsert"))
            throw type is null
                ? WireException.BadRequest($"Item {_items} of the bulk insert lacks 'Type'.")
                : WireException.NotBuilt($"The bulk insert item {type} (item {_items}, document '{id}')");

        if (string.IsNullOrEmpty(id))
            throw WireException.BadRequest($"Item {_items} of the bulk insert lacks 'Id'.");

        if (documentStart < 0)
            throw WireException.BadRequest(
                $"Item {_items} of the bulk insert (document '{id}') lacks '{(type == "PUT" ? "Document" : type)}', a JSON "
                    + $"object.");

        if (documentLength > limits.MaxDocumentBytes)
            throw WireException.TooLarge(
                $"Document '{id}' has {documentLength:N0} bytes; {limits.MaxDocumentBytes:N0} are allowed (MaxDocumentBytes).");
    }

    private string? Text(ref Utf8JsonReader reader, string name)
    {
        if (reader.TokenType == JsonTokenType.Null)
            return null;

        if (reader.TokenType != JsonTokenType.String)
            throw WireException.BadRequest($"'{name}' of item {_items} of the bulk insert is not a string.");

        try
        {
            return reader.GetString();
        }
        catch (InvalidOperationException exception)
        {
            throw WireException.BadRequest(
                $"'{name}' of item {_items} of the bulk insert is not valid UTF-8, or escapes half a surrogate pair.", exception);
        }
    }

    private WireException Broken(byte found)
    {
        string expected = _state switch
        {
            State.Start => "'['",
            State.FirstItem => "'{' or ']'",
            State.BeforeItem => "'{'",
            _ => "',' or ']'",
        };
        char shown = found is >= 0x20 and < 0x7F ? (char)found : '?';
        return WireException.BadRequest(
            $"The bulk insert is not an array of items: after item {_items} it has '{shown}' (0x{found:X2}) instead of "
                + $"{expected}.");
    }

    private WireException TooLarge(ReadOnlySpan<byte> rest)
    {
        const int shownBytes = 100;
        ReadOnlySpan<byte> start = _length > shownBytes ? _item.AsSpan(0, _length) : rest;
        string shown = Encoding.UTF8.GetString(start[..Math.Min(shownBytes, start.Length)]);
        return WireException.TooLarge(
            $"Item {_items + 1} of the bulk insert is longer than the {limits.MaxDocumentBytes:N0} bytes allowed for a document "
                + $"(MaxDocumentBytes). It begins with: {shown}…");
    }
}
