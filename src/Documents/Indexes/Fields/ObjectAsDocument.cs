using Treepie.Store;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Presents a JSON object as a document that has only a body, for code that reads values of documents. A returned document
/// is valid until the next call. Not thread-safe.
/// </summary>
internal sealed class ObjectAsDocument
{
    private byte[] _record = [];

    /// <summary>Presents an object as a document.</summary>
    /// <param name="json">The object.</param>
    /// <param name="snapshot">The snapshot of the document; null if only values of its body are read.</param>
    /// <param name="id">The id of the document.</param>
    public Document Of(ReadOnlySpan<byte> json, DatabaseSnapshot? snapshot = null, ReadOnlySpan<byte> id = default)
    {
        int size = DocumentRecord.SizeOf(id.Length, 0, json.Length);
        if (_record.Length < size)
            _record = new byte[Math.Max(size, 2 * _record.Length)];
        Span<byte> record = _record.AsSpan(0, size);
        DocumentRecord.Write(record, 0, 0, 0, DocumentFlags.None, id, default, json, isPacked: false);
        return new Document(snapshot!, record); // callers without a snapshot do not read the collection name
    }
}
