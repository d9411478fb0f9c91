using System.Buffers;
using System.Text;
using Treepie.Computations;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// What an index maps, by its key in the index: documents, or what lies beside them, shown as documents with the id and the
/// collection of theirs. What it shows lives until it shows another. Not thread-safe.
/// </summary>
internal sealed class MapItems(IndexMap map)
{
    /// <summary>Longest key.</summary>
    public const int MaxKeyBytes = BesideKey.MaxBytes;

    private readonly ArrayBufferWriter<byte> _json = new();
    private byte[] _record = [];

    /// <summary>The time series or counter that was found last; null where a document was.</summary>
    public string? Name { get; private set; }

    /// <summary>Writes the key of what a feed stands on; returns its length.</summary>
    public static int KeyOf(MappedChanges feed, Span<byte> key) =>
        feed.IsBeside ? BesideKey.Write(feed.Key, key) : DocumentId.Fold(feed.Id, key);

    /// <summary>What has a key; false where it is gone, or does not belong into the index.</summary>
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
