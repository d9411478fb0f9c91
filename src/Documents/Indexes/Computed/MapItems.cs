using System.Buffers;
using System.Text;
using Treepie.Computations;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// The items that an index maps, by their key in the index: documents, or counters and segments of time series presented as
/// documents with the id and collection of their document. A returned item is valid until the next call. Not thread-safe.
/// </summary>
internal sealed class MapItems(IndexMap map)
{
    /// <summary>The maximum length of a key.</summary>
    public const int MaxKeyBytes = BesideKey.MaxBytes;

    private readonly ArrayBufferWriter<byte> _json = new();
    private byte[] _record = [];

    /// <summary>The name of the time series or counter that was found last; null if a document was.</summary>
    public string? Name { get; private set; }

    /// <summary>Writes the key of the current change of a feed; returns its length.</summary>
    public static int KeyOf(MappedChanges feed, Span<byte> key) =>
        feed.IsBeside ? BesideKey.Write(feed.Key, key) : DocumentId.Fold(feed.Id, key);

    /// <summary>Finds the item of a key; returns false if it is deleted or does not belong to the index.</summary>
    public bool TryGet(MappedChanges feed, ReadOnlySpan<byte> key, out Document document)
    {
        Name = null;
        Kind? kind = map.KindBeside;
        if (!feed.Snapshot.TryGetByFoldedId(kind is null ? key : BesideKey.OwnerOf(key), out document)
            || feed.LeavesOut(document))
            return false;
        if (kind is not { } beside)
            return map.Covers(document.CollectionName, null);
        if (!feed.Snapshot.Kinds.TryGet(BesideKey.Stored(beside, key), out KindRecord record))
            return false;
        Name = Encoding.UTF8.GetString(record.Name);
        if (!map.Covers(document.CollectionName, Name))
            return false;
        _json.ResetWrittenCount();
        BesideJson.Write(beside, document.Id, record, _json);
        document = Show(document, _json.WrittenSpan);
        return true;
    }

    private Document Show(Document owner, ReadOnlySpan<byte> body)
    {
        int size = DocumentRecord.SizeOf(owner.Id.Length, 0, body.Length);
        if (_record.Length < size)
            _record = new byte[Math.Max(size, 2 * _record.Length)];
        Span<byte> record = _record.AsSpan(0, size);
        DocumentRecord.Write(
            record, owner.Etag, owner.LastModifiedTicks, owner.CollectionId, DocumentFlags.None, owner.Id, default, body,
            isPacked: false);
        return new Document(owner.Snapshot, record);
    }
}
