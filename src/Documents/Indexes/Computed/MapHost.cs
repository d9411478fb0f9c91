using System.Buffers;
using Treepie.Computations;
using Treepie.Indexes.Fields;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// What a map may look at beside its document, in the snapshot of that. Notes what it has looked at. Not thread-safe.
/// </summary>
internal sealed class MapHost : IMapHost
{
    /// <summary>Most documents and values that one document may look at.</summary>
    public const int MaxReferences = 4_096;

    private static readonly FieldPath s_object = FieldPath.TryParse("Object")!; // it is one

    private readonly HashSet<UInt128> _references = [];
    private DatabaseSnapshot? _snapshot;
    private byte[] _id = [];

    /// <summary>What the document has looked at, ascending.</summary>
    public UInt128[] References => [.. _references.Order()];

    /// <summary>Begins with a document.</summary>
    public void Begin(DatabaseSnapshot snapshot, Document document)
    {
        _snapshot = snapshot;
        _id = document.Id.ToArray();
        _references.Clear();
    }

    public byte[]? Load(string id, string collection)
    {
        byte[] folded = new byte[DocumentId.MaxFoldedBytes];
        if (!DocumentId.TryFold(id, folded, out int length))
            return null;
        Note(Reference.ToDocument(folded.AsSpan(0, length)));
        return Snapshot.TryGetByFoldedId(folded.AsSpan(0, length), out Document document)
            && string.Equals(document.CollectionName, collection, StringComparison.OrdinalIgnoreCase)
            ? Whole(document)
            : null;
    }

    public byte[]? CompareExchange(string key)
    {
        Note(Reference.ToValue(key));
        if (Snapshot.CompareExchange(key) is not { } value)
            return null;
        var json = new ArrayBufferWriter<byte>();
        return JsonPathReader.TryWrite(value.Body.Span, s_object, json) ? json.WrittenSpan.ToArray() : null;
    }

    public byte[] WholeDocument() =>
        Snapshot.TryGet(_id, out Document document)
            ? Whole(document)
            : throw new InvalidOperationException("The document that is mapped is in its snapshot.");

    private DatabaseSnapshot Snapshot => _snapshot ?? throw new InvalidOperationException("No document is being mapped.");

    private static byte[] Whole(Document document)
    {
        var json = new ArrayBufferWriter<byte>(document.ContentBytes + 256);
        document.WriteTo(json);
        return json.WrittenSpan.ToArray();
    }

    private void Note(UInt128 reference)
    {
        if (_references.Add(reference) && _references.Count > MaxReferences)
            throw new ComputationException($"the document looks at more than {MaxReferences:N0} others.");
    }
}
