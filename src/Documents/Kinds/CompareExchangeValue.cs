using System.Buffers;
using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>A compare-exchange value of a database.</summary>
/// <param name="Key">Its key as first written (compared without case).</param>
/// <param name="Index">Changes with every change of the value; what the next change is compared with.</param>
/// <param name="Body">A JSON object whose member <c>Object</c> is the value, minified UTF-8.</param>
/// <param name="Metadata">Metadata as a JSON object, minified UTF-8; empty for none.</param>
/// <param name="ChangeVector">Its change vector.</param>
public sealed record CompareExchangeValue(
    string Key, long Index, ReadOnlyMemory<byte> Body, ReadOnlyMemory<byte> Metadata, string ChangeVector)
{
    /// <summary>What keys of atomic guards begin with; the id of the guarded document follows.</summary>
    public const string AtomicGuardPrefix = "rvn-atomic/";

    /// <summary>Writes <c>{"Object":…,"@metadata":…}</c>.</summary>
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

    /// <summary>What the member <c>Object</c> holds, as JSON; null where it is not there.</summary>
    internal byte[]? Held()
    {
        using var json = System.Text.Json.JsonDocument.Parse(
            Body, new System.Text.Json.JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        return json.RootElement.TryGetProperty("Object", out System.Text.Json.JsonElement held)
            ? Encoding.UTF8.GetBytes(held.GetRawText())
            : null;
    }

    /// <summary>Whether it is the atomic guard of a document.</summary>
    public bool IsAtomicGuard => Key.StartsWith(AtomicGuardPrefix, StringComparison.OrdinalIgnoreCase);

    /// <summary>Its key in the tree.</summary>
    internal static byte[] TreeKey(ReadOnlySpan<byte> key) => KindKey.OfName(Kind.CompareExchange, default, key);

    /// <summary>The form it is kept in: 4 bytes of body, little-endian; body; metadata.</summary>
    internal static byte[] Encode(ReadOnlySpan<byte> body, ReadOnlySpan<byte> metadata)
    {
        byte[] value = new byte[sizeof(int) + body.Length + metadata.Length];
        BinaryPrimitives.WriteInt32LittleEndian(value, body.Length);
        body.CopyTo(value.AsSpan(sizeof(int)));
        metadata.CopyTo(value.AsSpan(sizeof(int) + body.Length));
        return value;
    }

    /// <summary>The form it is kept in, of <c>{"Object":…,"@metadata":…}</c>.</summary>
    /// <exception cref="InvalidDocumentException">It is something else.</exception>
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
