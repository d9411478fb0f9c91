using Treepie.Store;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Shows a JSON object as a document that has nothing but a body, for what reads values of documents. What it shows lives until
/// it shows another. Not thread-safe.
/// </summary>
internal sealed class ObjectAsDocument
{
    private byte[] _record = [];

    /// <summary>Shows an object.</summary>
    /// <param name="json">The object.</param>
    /// <param name="snapshot">Where it is looked at; null where only values of its body are read.</param>
    /// <param name="id">The id it shows.</param>
    public Document Of(ReadOnlySpan<byte> json, DatabaseSnapshot? snapshot = null, ReadOnlySpan<byte> id = default)
    {
        int size = DocumentRecord.SizeOf(id.Length, 0, json.Length);
        if (_record.Length < size)
            _record = new byte[Math.Max(size, 2 * _record.Length)];
        Span<byte> record = _record.AsSpan(0, size);
        DocumentRecord.Write(record, 0, 0, 0, DocumentFlags.None, id, default, json, isPacked: false);
        return new Document(snapshot!, record); // whoever gives none asks for no name of a collection
    }
}
