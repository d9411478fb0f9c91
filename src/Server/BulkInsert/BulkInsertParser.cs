using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Server.Http;

namespace Treepie.Server.BulkInsert;

/// <summary>
/// Takes a bulk insert apart as it arrives, in pieces of any size: <c>[{"Id":…,"Type":"PUT","Document":{…}},…]</c>. Looks only at brackets and
/// quotes until an item is whole, then reads that item once. Holds one item at most beyond the batch.
/// </summary>
/// <remarks>
/// States: <c>Start</c> -[→ <c>BeforeItem</c> -{→ <c>InItem</c> -}→ <c>AfterItem</c> -,→ <c>BeforeItem</c>; a <c>]</c> before or after an
/// item → <c>Ended</c>. The end is the bracket, not the end of the request: clients wait for the answer before they end it.
/// </remarks>
internal sealed class BulkInsertParser(DatabaseOptions limits)
{
    /// <summary>Bytes of a batch after which it is written: large enough that the sync costs little, small enough to be bounded.</summary>
    public const int FullBatchBytes = 1024 * 1024;

    /// <summary>Documents of a batch after which it is written.</summary>
    public const int FullBatchCount = 8_192;

    /// <summary>Room for an item's id, type and punctuation around its document.</summary>
    private const int AroundDocumentBytes = 16 * 1024;

    /// <summary>Levels around a document: the item; and one more, so that the database is who refuses it, by name.</summary>
    private const int LevelsAroundDocument = 1 + 1;

    private static readonly SearchValues<byte> Structure = SearchValues.Create("\"{}[]"u8);

    private State state;
    private int itemStart;
    private int depth;
    private bool inString;
    private bool escaped;
    private long items;

    private enum State
    {
        Start,
        BeforeItem,
        FirstItem,
        InItem,
        AfterItem,
        Ended,
    }

    /// <summary>Whether the closing bracket was seen.</summary>
    public bool Ended => state == State.Ended;

    /// <summary>
    /// Reads on, into <paramref name="batch"/>, until the bytes end, the batch is full, or the insert has ended; gives the bytes read. An
    /// unfinished item stays at the end of the batch, and goes on in the next one through <see cref="MoveUnfinishedItem"/>.
    /// </summary>
    public int Read(ReadOnlySpan<byte> bytes, BulkInsertBatch batch)
    {
        int read = 0;
        while (read < bytes.Length && state != State.Ended && !(state != State.InItem && IsFull(batch)))
        {
            if (state == State.InItem)
                read += ReadItem(bytes[read..], batch);
            else
                ReadBetween(bytes[read++], batch);
        }

        return read;
    }

    /// <summary>Whether it is time to write the batch.</summary>
    public static bool IsFull(BulkInsertBatch batch) => batch.Length >= FullBatchBytes || batch.Count >= FullBatchCount;

    /// <summary>Takes the item that is not whole yet along to the batch that comes next.</summary>
    public void MoveUnfinishedItem(BulkInsertBatch from, BulkInsertBatch to)
    {
        if (state != State.InItem)
            return;

        to.Append(from.From(itemStart));
        from.CutTo(itemStart);
        itemStart = 0;
    }

    private void ReadBetween(byte next, BulkInsertBatch batch)
    {
        if (next is (byte)' ' or (byte)'\n' or (byte)'\r' or (byte)'\t')
            return;

        state = (state, next) switch
        {
            (State.Start, (byte)'[') => State.FirstItem,
            (State.FirstItem or State.AfterItem, (byte)']') => State.Ended,
            (State.AfterItem, (byte)',') => State.BeforeItem,
            (State.FirstItem or State.BeforeItem, (byte)'{') => State.InItem,
            _ => throw Broken(next),
        };
        if (state != State.InItem)
            return;

        itemStart = batch.Length;
        depth = 1;
        batch.Append([next]);
    }

    private int ReadItem(ReadOnlySpan<byte> bytes, BulkInsertBatch batch)
    {
        int position = 0;
        while (position < bytes.Length && depth > 0)
            position += inString ? SkipString(bytes[position..]) : SkipStructure(bytes[position..]);

        if (batch.Length - itemStart + (long)position > limits.MaxDocumentBytes + AroundDocumentBytes)
            throw TooLarge(batch, bytes[..position]);

        batch.Append(bytes[..position]);
        if (depth == 0)
        {
            state = State.AfterItem;
            items++;
            try
            {
                FinishItem(batch);
            }
            catch (JsonException exception)
            {
                throw WireException.BadRequest($"Item {items} of the bulk insert is not valid JSON: {WireJson.Explain(exception)}", exception);
            }
        }

        return position;
    }

    private int SkipString(ReadOnlySpan<byte> bytes)
    {
        if (escaped)
        {
            escaped = false;
            return 1;
        }

        int found = bytes.IndexOfAny((byte)'"', (byte)'\\');
        if (found < 0)
            return bytes.Length;

        if (bytes[found] == '"')
            inString = false;
        else
            escaped = true;

        return found + 1;
    }

    private int SkipStructure(ReadOnlySpan<byte> bytes)
    {
        int found = bytes.IndexOfAny(Structure);
        if (found < 0)
            return bytes.Length;

        switch (bytes[found])
        {
            case (byte)'"':
                inString = true;
                break;
            case (byte)'{' or (byte)'[':
                depth++;
                break;
            default:
                depth--;
                break;
        }

        return found + 1;
    }

    // The item is whole: read it, keep its document, drop the rest of it if it is the last thing in the buffer.
    private void FinishItem(BulkInsertBatch batch)
    {
        var reader = new Utf8JsonReader(batch.From(itemStart), new JsonReaderOptions { MaxDepth = limits.MaxDocumentDepth + LevelsAroundDocument });
        string? id = null;
        string? type = null;
        int documentStart = -1;
        int documentLength = 0;
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isId = reader.ValueTextEquals("Id"u8);
            bool isType = reader.ValueTextEquals("Type"u8);
            bool isDocument = reader.ValueTextEquals("Document"u8);
            reader.Read();
            if (isId)
                id = Text(ref reader, "Id");
            else if (isType)
                type = Text(ref reader, "Type");
            else if (isDocument && reader.TokenType == JsonTokenType.StartObject)
            {
                documentStart = itemStart + (int)reader.TokenStartIndex;
                reader.Skip();
                documentLength = itemStart + (int)reader.BytesConsumed - documentStart;
            }
            else
                reader.Skip();
        }

        if (type == "HeartBeat")
        {
            batch.CutTo(itemStart);
            return;
        }

        if (type != "PUT")
            throw type is null
                ? WireException.BadRequest($"Item {items} of the bulk insert lacks 'Type'.")
                : WireException.NotBuilt($"The bulk insert item {type} (item {items}, document '{id}')");

        if (string.IsNullOrEmpty(id))
            throw WireException.BadRequest($"Item {items} of the bulk insert lacks 'Id'.");

        if (documentStart < 0)
            throw WireException.BadRequest($"Item {items} of the bulk insert (document '{id}') lacks 'Document', a JSON object.");

        if (documentLength > limits.MaxDocumentBytes)
            throw WireException.TooLarge($"Document '{id}' has {documentLength:N0} bytes; {limits.MaxDocumentBytes:N0} are allowed (MaxDocumentBytes).");

        batch.AddDocument(id, documentStart, documentLength);
    }

    private string? Text(ref Utf8JsonReader reader, string name)
    {
        if (reader.TokenType == JsonTokenType.Null)
            return null;

        if (reader.TokenType != JsonTokenType.String)
            throw WireException.BadRequest($"'{name}' of item {items} of the bulk insert is not a string.");

        try
        {
            return reader.GetString();
        }
        catch (InvalidOperationException exception)
        {
            throw WireException.BadRequest($"'{name}' of item {items} of the bulk insert is not valid UTF-8, or escapes half a surrogate pair.", exception);
        }
    }

    private WireException Broken(byte found)
    {
        string expected = state switch
        {
            State.Start => "'['",
            State.FirstItem => "'{' or ']'",
            State.BeforeItem => "'{'",
            _ => "',' or ']'",
        };
        char shown = found is >= 0x20 and < 0x7F ? (char)found : '?';
        return WireException.BadRequest($"The bulk insert is not an array of items: after item {items} stands '{shown}' (0x{found:X2}); expected is {expected}.");
    }

    private WireException TooLarge(BulkInsertBatch batch, ReadOnlySpan<byte> rest)
    {
        const int shownBytes = 100;
        ReadOnlySpan<byte> start = batch.From(itemStart);
        if (start.Length < shownBytes)
            start = rest;

        string shown = Encoding.UTF8.GetString(start[..Math.Min(shownBytes, start.Length)]);
        return WireException.TooLarge(
            $"Item {items + 1} of the bulk insert is longer than the {limits.MaxDocumentBytes:N0} bytes allowed for a document (MaxDocumentBytes). It begins: {shown}");
    }
}
