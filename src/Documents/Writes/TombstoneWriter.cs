using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>Keeps the three trees of tombstones consistent.</summary>
internal sealed class TombstoneWriter
{
    private readonly WriteTransaction _transaction;
    private readonly Tree _byEtag;
    private readonly Tree _byCollection;
    private readonly Tree _byId;

    public TombstoneWriter(WriteTransaction transaction)
    {
        _transaction = transaction;
        _byEtag = transaction.GetOrCreateTree(TreeNames.TombstonesByEtag);
        _byCollection = transaction.GetOrCreateTree(TreeNames.TombstonesByCollection);
        _byId = transaction.GetOrCreateTree(TreeNames.TombstonesById);
    }

    /// <summary>
    /// Deletes tombstones up to an etag, in durable transactions of limited size, between which others write. Returns the number
    /// of deleted tombstones.
    /// </summary>
    public static async Task<long> PurgeAsync(
        StorageEnvironment environment, long upToEtag, CancellationToken cancellationToken)
    {
        const int Step = 1024;
        long purged = 0;
        int inStep;
        do
        {
            inStep = await environment.WriteAsync(
                transaction => new TombstoneWriter(transaction).Purge(upToEtag, Step), cancellationToken)
                .ConfigureAwait(false);
            purged += inStep;
        }
        while (inStep == Step);
        return purged;
    }

    /// <summary>Adds the tombstone of a document deleted from a collection.</summary>
    public void Add(
        long etag, int collectionId, ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> id, long ticks, bool superseded = false)
    {
        Span<byte> key = stackalloc byte[TreeNames.CollectionKeyBytes];
        TreeNames.WriteCollectionKey(key, collectionId, etag);
        _byCollection.Put(key, default);
        TombstoneRecord.Write(
            _byEtag.Reserve(key[^TreeNames.EtagKeyBytes..], TombstoneRecord.HeaderBytes + id.Length), ticks, collectionId,
            superseded, id);

        Span<byte> idKey = stackalloc byte[DocumentId.MaxFoldedBytes + 5];
        Span<byte> value = stackalloc byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(value, etag);
        bool isNew = _byId.Put(WriteIdKey(idKey, foldedId, collectionId), value);
        Debug.Assert(isNew, "the document was there, so this collection had no tombstone of it");
    }

    /// <summary>
    /// Handles an id stored in a collection in which it did not exist: removes its tombstone there, and marks those of other
    /// collections as superseded. Returns whether there was any.
    /// </summary>
    public bool IdIsBack(ReadOnlySpan<byte> foldedId, int collectionId)
    {
        if (_byId.Count == 0)
            return false;

        Span<byte> start = stackalloc byte[DocumentId.MaxFoldedBytes + 5];
        start = WriteIdKey(start, foldedId, 0);
        List<(int CollectionId, long Etag)>? found = null;
        using (Cursor cursor = _byId.OpenCursor())
        {
            for (bool more = cursor.Seek(start); more && cursor.Key.StartsWith(start[..^4]); more = cursor.MoveNext())
                (found ??= []).Add(
                    (BinaryPrimitives.ReadInt32BigEndian(cursor.Key[^4..]), BinaryPrimitives.ReadInt64LittleEndian(
                        cursor.Value)));
        }

        foreach ((int otherCollection, long etag) in found ?? [])
        {
            if (otherCollection == collectionId)
                Remove(etag, otherCollection, foldedId);
            else
                Supersede(etag);
        }

        return found is not null;
    }

    /// <summary>
    /// Deletes a number of tombstones at most, up to an etag, and records the last one's etag and the latest time of a
    /// deletion; returns their number. Those of documents and of what lies beside them go in one order: up to the recorded etag
    /// there is none of either.
    /// </summary>
    public int Purge(long upToEtag, int most)
    {
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        var kinds = new Kinds.KindWriter(_transaction, dictionaries: null);
        (long Etag, long Ticks, int CollectionId, byte[] Id)? document = First();
        (long Etag, long Ticks, byte[] Key)? other = kinds.FirstTombstone();
        int purged = 0;
        long last = 0, forgotten = 0;
        for (; purged < most; purged++)
        {
            if (document is { } one && (other is null || one.Etag < other.Value.Etag))
            {
                if (one.Etag > upToEtag)
                    break;
                forgotten = Math.Max(forgotten, one.Ticks);
                Remove(one.Etag, one.CollectionId, folded[..DocumentId.Fold(one.Id, folded)]);
                last = one.Etag;
                document = First();
            }
            else
            {
                if (other is not { } beside || beside.Etag > upToEtag)
                    break;
                kinds.PurgeTombstone(beside.Key);
                last = beside.Etag;
                other = kinds.FirstTombstone();
            }
        }

        kinds.Save();
        if (purged > 0)
        {
            if (forgotten > 0 || PurgedUpTo == 0)
                Forget(forgotten);
            WriteMeta(TreeNames.MetaPurged, Math.Max(last, PurgedUpTo));
        }

        return purged;
    }

    /// <summary>The tombstones by etag.</summary>
    public Tree ByEtag => _byEtag;

    /// <summary>The etag up to which tombstones were purged; 0 if none were.</summary>
    public long PurgedUpTo => ReadMeta(TreeNames.MetaPurged) ?? 0;

    /// <summary>
    /// The latest time (UTC ticks) of the deletion of a document whose tombstone was purged; 0 if none was, and the greatest
    /// time if it is unknown because tombstones were purged before it was recorded.
    /// </summary>
    public long ForgottenTicks =>
        ReadMeta(TreeNames.MetaForgotten) ?? (PurgedUpTo > 0 ? RevisionOrigin.UnknownTicks : 0);

    /// <summary>Records that deletions up to a time (UTC ticks), which are all earlier ones, are no longer known.</summary>
    public void Forget(long ticks)
    {
        if (ReadMeta(TreeNames.MetaForgotten) is not { } stored || ticks > stored)
            WriteMeta(TreeNames.MetaForgotten, ticks);
    }

    private long? ReadMeta(ReadOnlySpan<byte> key) =>
        _transaction.GetOrCreateTree(TreeNames.Meta).TryGet(key, out ReadOnlySpan<byte> value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : null;

    private void WriteMeta(ReadOnlySpan<byte> key, long value) =>
        BinaryPrimitives.WriteInt64LittleEndian(
            _transaction.GetOrCreateTree(TreeNames.Meta).Reserve(key, sizeof(long)), value);

    private static Span<byte> WriteIdKey(Span<byte> key, ReadOnlySpan<byte> foldedId, int collectionId)
    {
        foldedId.CopyTo(key);
        key[foldedId.Length] = 0; // ids contain no control characters, so no key is a prefix of that of another id
        BinaryPrimitives.WriteInt32BigEndian(key[(foldedId.Length + 1)..], collectionId);
        return key[..(foldedId.Length + 5)];
    }

    private (long Etag, long Ticks, int CollectionId, byte[] Id)? First()
    {
        using Cursor cursor = _byEtag.OpenCursor();
        if (!cursor.MoveFirst())
            return null;
        var record = new TombstoneRecord(cursor.Value);
        return (TreeNames.EtagOfKey(cursor.Key), record.DeletedAtTicks, record.CollectionId, record.Id.ToArray());
    }

    private void Remove(long etag, int collectionId, ReadOnlySpan<byte> foldedId)
    {
        Span<byte> key = stackalloc byte[TreeNames.CollectionKeyBytes];
        TreeNames.WriteCollectionKey(key, collectionId, etag);
        Span<byte> idKey = stackalloc byte[DocumentId.MaxFoldedBytes + 5];
        bool found = _byCollection.Delete(key) & _byEtag.Delete(key[^TreeNames.EtagKeyBytes..])
            & _byId.Delete(WriteIdKey(idKey, foldedId, collectionId));
        Debug.Assert(found, "a tombstone stands in all three trees");
    }

    private void Supersede(long etag)
    {
        Span<byte> key = stackalloc byte[TreeNames.EtagKeyBytes];
        TreeNames.WriteEtagKey(key, etag);
        bool found = _byEtag.TryGet(key, out ReadOnlySpan<byte> value);
        Debug.Assert(found, "a tombstone stands in all three trees");
        var record = new TombstoneRecord(value);
        if (record.IsSuperseded)
            return;

        (long ticks, int collectionId, byte[] id) = (record.DeletedAtTicks, record.CollectionId, record.Id.ToArray());
        TombstoneRecord.Write(_byEtag.Reserve(key, value.Length), ticks, collectionId, superseded: true, id);
    }
}
