using System.Buffers;
using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>A compare-exchange value.</summary>
/// <param name="Key">The key, in the case in which it was first written; case-insensitive.</param>
/// <param name="Index">The index; changes with every change of the value, and is what the next change is compared
/// against.</param>
/// <param name="Body">A JSON object with the value in the member <c>Object</c>, as minified UTF-8.</param>
/// <param name="Metadata">The metadata as a JSON object, as minified UTF-8; empty if there is none.</param>
/// <param name="ChangeVector">The change vector.</param>
public sealed record CompareExchangeValue(
    string Key, long Index, ReadOnlyMemory<byte> Body, ReadOnlyMemory<byte> Metadata, string ChangeVector)
{
    /// <summary>The prefix of the keys of atomic guards, followed by the id of the guarded document.</summary>
    public const string AtomicGuardPrefix = "rvn-atomic/";

    /// <summary>Writes the value as <c>{"Object":…,"@metadata":…}</c>.</summary>
    public void WriteTo(IBufferWriter<byte> output)
    {
        ArgumentNullException.ThrowIfNull(output);
        output.Write(Body.Span[..^1]);
        if (!Metadata.IsEmpty)
        {
            output.Write(Body.Length > 2 ? ",\"@metadata\":"u8 : "\"@metadata\":"u8);
            output.Write(Metadata.Span);
        }

        output.Write("}"u8);
    }

    /// <summary>Returns the JSON of the member <c>Object</c>; null if it does not exist.</summary>
    internal byte[]? Held()
    {
        using var json = System.Text.Json.JsonDocument.Parse(
            Body, new System.Text.Json.JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        return json.RootElement.TryGetProperty("Object", out System.Text.Json.JsonElement held)
            ? Encoding.UTF8.GetBytes(held.GetRawText())
            : null;
    }

    /// <summary>Whether the value is the atomic guard of a document.</summary>
    public bool IsAtomicGuard => Key.StartsWith(AtomicGuardPrefix, StringComparison.OrdinalIgnoreCase);

    /// <summary>Returns the key in the tree.</summary>
    internal static byte[] TreeKey(ReadOnlySpan<byte> key) => KindKey.OfName(Kind.CompareExchange, default, key);

    /// <summary>Returns the stored form: 4 length of the body, little-endian; body; metadata.</summary>
    internal static byte[] Encode(ReadOnlySpan<byte> body, ReadOnlySpan<byte> metadata)
    {
        byte[] value = new byte[sizeof(int) + body.Length + metadata.Length];
        BinaryPrimitives.WriteInt32LittleEndian(value, body.Length);
        body.CopyTo(value.AsSpan(sizeof(int)));
        metadata.CopyTo(value.AsSpan(sizeof(int) + body.Length));
        return value;
    }

    /// <summary>Returns the stored form of <c>{"Object":…,"@metadata":…}</c>.</summary>
    /// <exception cref="InvalidDocumentException">The JSON has another form.</exception>
    internal static byte[] Parse(string json)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(json), room = new byte[utf8.Length];
        ParsedDocument parsed = new DocumentParser(int.MaxValue, DatabaseOptions.MostDocumentDepth).Parse(
            "a compare-exchange value", utf8, room);
        return Encode(room.AsSpan(0, parsed.BodyLength), room.AsSpan(parsed.BodyLength, parsed.MetadataLength));
    }

    /// <summary>Copies a record.</summary>
    internal static CompareExchangeValue Read(KindRecord record, ChangeVectors changeVectors)
    {
        ReadOnlySpan<byte> value = record.Value;
        int body = BinaryPrimitives.ReadInt32LittleEndian(value);
        Debug.Assert(body >= 2 && body <= value.Length - sizeof(int), "a value has a body");
        return new CompareExchangeValue(
            Encoding.UTF8.GetString(record.Name), record.Etag, value.Slice(sizeof(int), body).ToArray(),
            value[(sizeof(int) + body)..].ToArray(), changeVectors.Format(record.Etag));
    }
}
