using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Json;

namespace Treepie.Sessions;

/// <summary>
/// Serializes entities to documents and back. Adds the id member when deserializing and leaves it out when serializing.
/// </summary>
internal sealed class EntityJson
{
    private static readonly JsonWriterOptions _plain = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly DatabaseOptions _options;
    private Utf8JsonWriter? _writer;

    public EntityJson(DatabaseOptions options) => _options = options;

    // Created lazily: sessions that only load need neither.
    private ArrayBufferWriter<byte> Buffer => field ??= new ArrayBufferWriter<byte>();

    private DocumentParser Parser => field ??= new DocumentParser(_options.MaxDocumentBytes, _options.MaxDocumentDepth);

    /// <summary>Deserializes an entity from the body of a document.</summary>
    /// <exception cref="TreepieException">The body cannot be deserialized to the type.</exception>
    public object Read(EntityType type, string id, ReadOnlySpan<byte> body)
    {
        try
        {
            object read = JsonSerializer.Deserialize(
                type.Id is { } own && !type.IdFollows ? WithId(own, id, body) : body, type.Json)
                ?? throw new JsonException("The document became null.");
            if (type.IdFollows)
                type.Id?.Give(read, id);
            return read;
        }
        catch (Exception error) when (error is JsonException or NotSupportedException)
        {
            throw new TreepieException(
                $"Document '{id}' cannot be read as {type.Json.Type.Name}: {error.Message} Load it as another type, or correct "
                    + $"the type's properties.",
                error);
        }
    }

    /// <summary>Deserializes the result of a query, ignoring its metadata.</summary>
    /// <exception cref="TreepieException">The result cannot be deserialized to the type.</exception>
    public object ReadProjection(EntityType type, ReadOnlySpan<byte> json)
    {
        byte[] body = new byte[json.Length];
        ParsedDocument parsed = Parser.Parse("(projection)", json, body);
        try
        {
            return JsonSerializer.Deserialize(body.AsSpan(0, parsed.BodyLength), type.Json)
                ?? throw new JsonException("The result became null.");
        }
        catch (Exception error) when (error is JsonException or NotSupportedException)
        {
            throw new TreepieException(
                $"A result of the query cannot be read as {type.Json.Type.Name}: {error.Message} Select the fields the type has, "
                    + $"or use another type.",
                error);
        }
    }

    /// <summary>Returns the body of an entity, minified.</summary>
    /// <exception cref="InvalidDocumentException">The result is not a valid document, or exceeds a limit.</exception>
    public byte[] Write(EntityType type, string id, object entity) => Minify(type, id, Serialize(type, id, entity));

    /// <summary>
    /// Returns the body of an entity, minified; null if it equals one of two known bodies, which costs little more than
    /// serializing it.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The result is not a valid document, or exceeds a limit.</exception>
    public byte[]? WriteUnless(
        EntityType type, string id, object entity, ReadOnlySpan<byte> known, ReadOnlySpan<byte> alsoKnown)
    {
        ReadOnlySpan<byte> json = Serialize(type, id, entity);
        if (IsOf(type.Id, json, known) || IsOf(type.Id, json, alsoKnown))
            return null;
        byte[] body = Minify(type, id, json);
        return known.SequenceEqual(body) || alsoKnown.SequenceEqual(body) ? null : body;
    }

    private ReadOnlySpan<byte> Serialize(EntityType type, string id, object entity)
    {
        Buffer.ResetWrittenCount();
        JsonSerializerOptions options = type.Json.Options;
        var how = new JsonWriterOptions { Encoder = options.Encoder, MaxDepth = options.MaxDepth, SkipValidation = true };
        _writer ??= new Utf8JsonWriter(Buffer, how);
        _writer.Reset(Buffer);
        try
        {
            JsonSerializer.Serialize(_writer, entity, type.Json);
            _writer.Flush();
        }
        catch (Exception error) when (error is JsonException or NotSupportedException)
        {
            throw new InvalidDocumentException(
                $"The object with id '{id}' of type {type.Json.Type.Name} cannot be written as JSON: {error.Message}", error);
        }

        return Buffer.WrittenSpan;
    }

    private byte[] Minify(EntityType type, string id, ReadOnlySpan<byte> json)
    {
        byte[] body = new byte[Math.Min(json.Length, _options.MaxDocumentBytes)];
        ParsedDocument parsed = Parser.Parse(id, json, body, type.IdMember);
        return body[..parsed.BodyLength];
    }

    /// <summary>
    /// Returns whether JSON equals a body preceded by the id, where most types have it. False is inconclusive.
    /// </summary>
    private static bool IsOf(EntityId? own, ReadOnlySpan<byte> json, ReadOnlySpan<byte> body)
    {
        if (own is null)
            return json.SequenceEqual(body);
        if (body.Length <= 2 || !json.EndsWith(body[1..]))
            return false;
        ReadOnlySpan<byte> first = json[..^(body.Length - 1)]; // {"Id":7,
        return first.StartsWith("{\""u8)
            && first[2..].StartsWith(own.Member)
            && first[(2 + own.Member.Length)..].StartsWith("\":"u8)
            && first.IndexOf((byte)',') == first.Length - 1; // nothing but the id
    }

    /// <summary>Joins a body and its metadata to one document. The result is valid until the next call.</summary>
    public ReadOnlySpan<byte> Join(ReadOnlySpan<byte> body, TrackedEntity entity)
    {
        Buffer.ResetWrittenCount();
        Buffer.Write(body[..^1]);
        Buffer.Write(body.Length > 2 ? ",\"@metadata\":"u8 : "\"@metadata\":"u8);
        if (entity.Metadata is { } metadata)
        {
            JsonObject copy = (JsonObject)metadata.DeepClone();
            if (!copy.ContainsKey("@collection"))
                copy["@collection"] = entity.Collection;
            using var writer = new Utf8JsonWriter(Buffer, _plain);
            copy.WriteTo(writer);
        }
        else
        {
            ReadOnlySpan<byte> stored = entity.Document is { } document ? document.Metadata : "{}"u8;
            Buffer.Write(stored[..^1]);
            Buffer.Write(stored.Length > 2 ? ",\"@collection\":"u8 : "\"@collection\":"u8);
            JsonStrings.Write(Buffer, Encoding.UTF8.GetBytes(entity.Collection));
            Buffer.Write("}"u8);
        }

        Buffer.Write("}"u8);
        return Buffer.WrittenSpan;
    }

    /// <summary>
    /// Appends the id at the end: a discriminator must come first, and of duplicate members the last one counts.
    /// </summary>
    private ReadOnlySpan<byte> WithId(EntityId own, string id, ReadOnlySpan<byte> body)
    {
        Buffer.ResetWrittenCount();
        Buffer.Write(body[..^1]);
        Buffer.Write(body.Length > 2 ? ","u8 : ""u8);
        JsonStrings.Write(Buffer, own.Member);
        Buffer.Write(":"u8);
        Buffer.Write(own.Value(id));
        Buffer.Write("}"u8);
        return Buffer.WrittenSpan;
    }
}
