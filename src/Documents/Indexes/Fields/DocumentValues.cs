using System.Buffers;
using Treepie.Store;

namespace Treepie.Indexes.Fields;

/// <summary>Values of a document as JSON: what stands at a path of its body or its metadata.</summary>
internal static class DocumentValues
{
    /// <summary>Writes what stands at a path; false, and nothing written, where nothing does.</summary>
    public static bool TryWrite(Document document, FieldPath path, IBufferWriter<byte> output)
    {
        if (!path.IsMetadata)
            return JsonPathReader.TryWrite(document.Body, path, output);

        var metadata = new ArrayBufferWriter<byte>();
        document.WriteTo(metadata, metadataOnly: true);
        return JsonPathReader.TryWrite(metadata.WrittenSpan, path, output);
    }
}
