using System.Buffers;
using System.Text;
using Treepie.Indexes.Fields;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>What SELECT makes of a document: an object of named values. A value that is not there is null. Immutable.</summary>
internal sealed class Projection(IReadOnlyList<ProjectedField> fields)
{
    /// <summary>Writes the fields, apart by commas, without brackets: what makes two results equal.</summary>
    public void WriteFields(Document document, IBufferWriter<byte> output)
    {
        bool isFirst = true;
        foreach (ProjectedField field in fields)
        {
            if (!isFirst)
                output.Write(","u8);

            isFirst = false;
            output.Write(field.EncodedName);
            WriteValue(field, document, output);
        }
    }

    /// <summary>Writes the fields of an object that were written before, with their metadata.</summary>
    public static void WriteObject(Document document, ReadOnlySpan<byte> writtenFields, ReadOnlySpan<byte> extraMetadata, IBufferWriter<byte> output)
    {
        output.Write("{"u8);
        output.Write(writtenFields);
        output.Write(writtenFields.IsEmpty ? "\"@metadata\":{\"@projection\":true,\"@id\":"u8 : ",\"@metadata\":{\"@projection\":true,\"@id\":"u8);
        JsonStrings.Write(output, document.Id);
        if (!extraMetadata.IsEmpty)
        {
            output.Write(","u8);
            output.Write(extraMetadata);
        }

        output.Write("}}"u8);
    }

    private static void WriteValue(ProjectedField field, Document document, IBufferWriter<byte> output)
    {
        switch (field)
        {
            case { IsId: true }:
                JsonStrings.Write(output, document.Id);
                break;
            case { Literal: { } literal }:
                output.Write(literal);
                break;
            case { Path: { IsMetadata: true } path }:
                var metadata = new ArrayBufferWriter<byte>();
                document.WriteTo(metadata, metadataOnly: true);
                WriteAt(metadata.WrittenSpan, path, output);
                break;
            case { Path: { } path }:
                WriteAt(document.Body, path, output);
                break;
        }
    }

    private static void WriteAt(ReadOnlySpan<byte> json, FieldPath path, IBufferWriter<byte> output)
    {
        if (!JsonPathReader.TryWrite(json, path, output))
            output.Write("null"u8);
    }
}

/// <summary>One value of a projection: what stands at a path, the id, or the same for all.</summary>
internal sealed class ProjectedField
{
    private ProjectedField(string name, FieldPath? path, byte[]? literal)
    {
        Name = name;
        Path = path;
        Literal = literal;
        var encoded = new ArrayBufferWriter<byte>();
        JsonStrings.Write(encoded, Encoding.UTF8.GetBytes(name));
        encoded.Write(":"u8);
        EncodedName = encoded.WrittenSpan.ToArray();
    }

    public string Name { get; }

    /// <summary>The name as JSON, with its colon.</summary>
    public byte[] EncodedName { get; }

    public FieldPath? Path { get; }

    /// <summary>JSON.</summary>
    public byte[]? Literal { get; }

    public bool IsId => Path is null && Literal is null;

    public static ProjectedField OfPath(string name, FieldPath path) => new(name, path, null);

    public static ProjectedField OfLiteral(string name, byte[] json) => new(name, null, json);

    public static ProjectedField OfId(string name) => new(name, null, null);
}
