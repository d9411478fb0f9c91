using System.Buffers;
using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Store;

namespace Treepie.Indexes.Outputs;

/// <summary>The format of documents written by indexes.</summary>
internal static class OutputDocument
{
    private const int HashBytes = 16;

    /// <summary>Returns the id of an output of a group, which does not change when the index is rebuilt.</summary>
    public static string IdOf(string collection, ReadOnlySpan<byte> group, int number)
    {
        Span<byte> source = stackalloc byte[group.Length + sizeof(int)], hash = stackalloc byte[SHA256.HashSizeInBytes];
        group.CopyTo(source);
        BinaryPrimitives.WriteInt32BigEndian(source[group.Length..], number);
        SHA256.HashData(source, hash);
        return $"{collection}/{Convert.ToHexStringLower(hash[..HashBytes])}";
    }

    /// <summary>Returns the document for a result.</summary>
    public static byte[] OfResult(ReadOnlySpan<byte> json, string collection)
    {
        var reader = new Utf8JsonReader(json);
        JsonElement result = JsonElement.ParseValue(ref reader);
        return Write(collection, writer =>
        {
            foreach (JsonProperty member in result.EnumerateObject())
                if (member.Name is not ("@metadata" or MappedField.Dynamic))
                    member.WriteTo(writer);
        });
    }

    /// <summary>Returns the document that refers to outputs.</summary>
    public static byte[] OfReferences(IReadOnlyList<string> outputs, string collection) => Write(collection, writer =>
    {
        writer.WriteStartArray("ReduceOutputs"u8);
        foreach (string output in outputs)
            writer.WriteStringValue(output);
        writer.WriteEndArray();
    });

    /// <summary>Returns whether a document was written by an index; indexes change and delete only such documents.</summary>
    public static bool IsOutput(Document document) => IsOutput(document.Metadata);

    /// <summary>Same as above, by the metadata of a document.</summary>
    public static bool IsOutput(ReadOnlySpan<byte> metadata)
    {
        if (metadata.IndexOf("FromIndex"u8) < 0)
            return false;
        var reader = new Utf8JsonReader(metadata);
        return JsonElement.ParseValue(ref reader).TryGetProperty("@flags"u8, out JsonElement flags)
            && flags.ValueKind == JsonValueKind.String
            && flags.GetString()?.Contains("FromIndex", StringComparison.Ordinal) == true;
    }

    /// <summary>Returns an id as used in keys.</summary>
    public static byte[] Folded(string id)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(id), folded = new byte[DocumentId.MaxFoldedBytes];
        return folded[..DocumentId.Fold(utf8, folded)];
    }

    private static byte[] Write(string collection, Action<Utf8JsonWriter> members)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            members(json);
            json.WriteStartObject("@metadata"u8);
            json.WriteString("@collection"u8, collection);
            json.WriteString("@flags"u8, "Artificial, FromIndex"u8);
            json.WriteEndObject();
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }
}
