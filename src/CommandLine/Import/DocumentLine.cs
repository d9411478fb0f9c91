using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Unicode;

namespace Treepie.CommandLine.Import;

/// <summary>
/// Converts one line to a document: checks that it is one JSON object in valid UTF-8, and writes it as the PUT command of a
/// batch. The id is, in order of precedence: the requested field, after the prefix; the <c>@id</c> in its <c>@metadata</c>, as
/// in exports; or the line number after the prefix or, without one, the lower-case collection (<c>movies/17</c>). All three
/// depend on the file and the options alone, so the same command produces the same ids again.
/// </summary>
internal static class DocumentLine
{
    // Deeper than any limit a server may be configured with. The reader keeps one bit per level.
    private static readonly JsonReaderOptions _options = new() { MaxDepth = 1_000_000 };

    /// <summary>
    /// Writes the command for a line to <paramref name="output"/> and returns null, or returns the problem and writes nothing.
    /// </summary>
    public static LineProblem? Write(
        ReadOnlySpan<byte> line, long number, ImportOptions options, ArrayBufferWriter<byte> output, out string id)
    {
        id = "";
        if (!Utf8.IsValid(line))
            return new LineProblem(number, $"not valid UTF-8 at byte {InvalidAt(line)}");

        Parts parts;
        try
        {
            if (Read(line, options.IdField, out parts) is { } message)
                return new LineProblem(number, message);
        }
        catch (JsonException exception)
        {
            return new LineProblem(
                number, $"not valid JSON at byte {exception.BytePositionInLine}: {FirstSentence(exception.Message)}");
        }
        catch (InvalidOperationException)
        {
            return new LineProblem(number, "a string holds half of a surrogate pair");
        }

        string? collection = options.Collection ?? parts.Collection;
        if (collection is null)
            return new LineProblem(number, "names no collection in its @metadata; give one with --collection");

        if (options.IdField is not null && parts.IdFromField is null)
            return new LineProblem(number, $"has no field '{options.IdField}' with a string or number to take the id from");

        id = options.IdField is not null ? options.IdPrefix + parts.IdFromField
            : parts.Id is not null && options.IdPrefix is null ? parts.Id
            : (options.IdPrefix ?? collection.ToLowerInvariant() + "/") + number.ToString(CultureInfo.InvariantCulture);
        WriteCommand(line, parts, id, collection, options.Overwrite, output);
        return null;
    }

    private static string? Read(ReadOnlySpan<byte> line, string? idField, out Parts parts)
    {
        parts = new Parts();
        var reader = new Utf8JsonReader(line, _options);
        if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
            return $"not a JSON object but {Describe(reader.TokenType)}";

        parts.ContentStart = (int)reader.BytesConsumed;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            int nameStart = (int)reader.TokenStartIndex;
            bool metadata = reader.ValueTextEquals("@metadata"u8);
            bool isIdField = idField is not null && reader.ValueTextEquals(idField);
            reader.Read();
            if (isIdField)
                parts.IdFromField = Scalar(reader, line);

            if (!metadata)
            {
                reader.Skip();
                continue;
            }

            if (parts.HasMetadata)
                return "has @metadata twice";

            if (reader.TokenType != JsonTokenType.StartObject)
                return $"its @metadata is not an object but {Describe(reader.TokenType)}";

            parts.MetadataStart = nameStart;
            parts.UserMetadata = ReadMetadata(ref reader, line, ref parts);
            parts.MetadataEnd = (int)reader.BytesConsumed;
        }

        parts.ContentEnd = (int)reader.TokenStartIndex;
        return reader.Read() ? "holds more than one JSON value" : null;
    }

    /// <summary>
    /// Reads id and collection. Metadata that the server sets itself is dropped; the rest is kept unchanged.
    /// </summary>
    private static List<Range>? ReadMetadata(ref Utf8JsonReader reader, ReadOnlySpan<byte> line, ref Parts parts)
    {
        List<Range>? kept = null;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            int start = (int)reader.TokenStartIndex;
            bool isId = reader.ValueTextEquals("@id"u8);
            bool isCollection = reader.ValueTextEquals("@collection"u8);
            bool ofServer = reader.ValueTextEquals("@change-vector"u8) || reader.ValueTextEquals("@last-modified"u8)
                || reader.ValueTextEquals("@index-score"u8)
                || reader.ValueTextEquals("@etag"u8)
                || reader.ValueTextEquals("@flags"u8);
            reader.Read();
            if (isId)
                parts.Id = Scalar(reader, line);
            else if (isCollection)
                parts.Collection = Scalar(reader, line);

            reader.Skip();
            if (!isId && !isCollection && !ofServer)
                (kept ??= []).Add(start..(int)reader.BytesConsumed);
        }

        return kept;
    }

    private static string? Scalar(Utf8JsonReader reader, ReadOnlySpan<byte> line) => reader.TokenType switch
    {
        JsonTokenType.String => reader.GetString(),
        JsonTokenType.Number => Encoding.UTF8.GetString(line[(int)reader.TokenStartIndex..(int)reader.BytesConsumed]),
        _ => null,
    };

    private static void WriteCommand(
        ReadOnlySpan<byte> line, in Parts parts, string id, string collection, bool overwrite, ArrayBufferWriter<byte> output)
    {
        output.Write("""{"Type":"PUT","Id":"""u8);
        WriteString(id, output);

        // An empty change vector requires that the document does not exist; otherwise the server refuses the whole batch.
        output.Write(
            overwrite
                ? ""","Document":{"@metadata":{"@collection":"""u8
                : ""","ChangeVector":"","Document":{"@metadata":{"@collection":"""u8);
        WriteString(collection, output);
        foreach (Range kept in parts.UserMetadata ?? [])
        {
            output.Write(","u8);
            output.Write(line[kept]);
        }

        output.Write("}"u8);
        if (parts.HasMetadata)
        {
            WriteContent(line[parts.ContentStart..parts.MetadataStart], output);
            WriteContent(line[parts.MetadataEnd..parts.ContentEnd], output);
        }
        else
            WriteContent(line[parts.ContentStart..parts.ContentEnd], output);

        output.Write("}}"u8);
    }

    private static void WriteContent(ReadOnlySpan<byte> properties, ArrayBufferWriter<byte> output)
    {
        // Besides properties, the range holds only white space and the comma next to @metadata, and no property starts or
        // ends with either.
        ReadOnlySpan<byte> content = properties.Trim(" \t\r\n,"u8);
        if (content.IsEmpty)
            return;

        output.Write(","u8);
        output.Write(content);
    }

    private static void WriteString(string value, ArrayBufferWriter<byte> output)
    {
        output.Write("\""u8);
        output.Write(JsonEncodedText.Encode(value).EncodedUtf8Bytes);
        output.Write("\""u8);
    }

    private static int InvalidAt(ReadOnlySpan<byte> line)
    {
        int at = 0;
        while (Rune.DecodeFromUtf8(line[at..], out _, out int length) == OperationStatus.Done)
            at += length;

        return at;
    }

    private static string FirstSentence(string message)
    {
        int place = message.IndexOf(" LineNumber:", StringComparison.Ordinal);
        return place < 0 ? message : message[..place];
    }

    private static string Describe(JsonTokenType token) => token switch
    {
        JsonTokenType.StartArray => "an array",
        JsonTokenType.StartObject => "an object",
        JsonTokenType.String => "a string",
        JsonTokenType.Number => "a number",
        JsonTokenType.Null => "null",
        _ => "true or false",
    };

    /// <summary>Positions of the parts of a line.</summary>
    private struct Parts
    {
        public string? Id;
        public string? Collection;
        public string? IdFromField;
        public List<Range>? UserMetadata;
        public int ContentStart;
        public int ContentEnd;
        public int MetadataStart;
        public int MetadataEnd;

        public readonly bool HasMetadata => MetadataEnd > 0;
    }
}
