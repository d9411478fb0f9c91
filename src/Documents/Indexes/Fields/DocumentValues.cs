using System.Buffers;
using Treepie.Store;

namespace Treepie.Indexes.Fields;

/// <summary>Reads values of a document as JSON, by a path in its body or metadata.</summary>
internal static class DocumentValues
{
    /// <summary>Writes the value at a path; returns false, with nothing written, if there is none.</summary>
    public static bool TryWrite(Document document, FieldPath path, IBufferWriter<byte> output)
    {
        if (!path.IsMetadata)
            return JsonPathReader.TryWrite(document.Body, path, output);

        var metadata = new ArrayBufferWriter<byte>();
        document.WriteTo(metadata, metadataOnly: true);
        return JsonPathReader.TryWrite(metadata.WrittenSpan, path, output);
    }
}
