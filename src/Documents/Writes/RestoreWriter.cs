using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Treepie.Kinds;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// Writes documents, tombstones and identities of another database with their etags and times, to a new database or, for
/// incremental backups, to the restored state. Maintains the invariants of <see cref="TreeNames"/>. Created for each run of a
/// command, because a storage command may be run again from its start.
/// </summary>
internal sealed class RestoreWriter
{
    private readonly WriteTransaction _transaction;
    private readonly Tree _documents;
    private readonly Tree _byEtag;
    private readonly Tree _byCollection;
    private readonly CollectionWriter _collections;
    private readonly TombstoneWriter _tombstones;
    private readonly KindWriter _kinds;
    private readonly DueIndex _due;

    public RestoreWriter(WriteTransaction transaction)
    {
        _transaction = transaction;
        _documents = transaction.GetOrCreateTree(TreeNames.Documents);
        _byEtag = transaction.GetOrCreateTree(TreeNames.DocumentsByEtag);
        _byCollection = transaction.GetOrCreateTree(TreeNames.DocumentsByCollection);
        _collections = new CollectionWriter(transaction);
        _tombstones = new TombstoneWriter(transaction);
        _due = DueIndex.Of(transaction);
        // tombstones may come before the items with the same content
        _kinds = new KindWriter(transaction, new BodyDictionaries(isSecret: true), keepsUnusedContents: true);
    }

    /// <summary>Stores a document; returns false if the id exists already.</summary>
    public bool TryPut(in RestoredDocument document)
    {
        ReadOnlySpan<byte> folded = document.FoldedId.Span;
        if (_documents.Contains(folded))
            return false;

        CollectionChange collection = _collections.Get(document.Collection);
        ReadOnlySpan<byte> id = document.Id.Span, metadata = document.Metadata.Span, body = document.Body.Span;
        DocumentRecord.Write(
            _documents.Reserve(folded, DocumentRecord.SizeOf(id.Length, metadata.Length, body.Length)), document.Etag,
            document.Ticks, collection.Id, _kinds.Items.FlagsOf(folded), id, metadata, body, isPacked: false);
        Span<byte> key = stackalloc byte[TreeNames.CollectionKeyBytes];
        TreeNames.WriteCollectionKey(key, collection.Id, document.Etag);
        _byCollection.Put(key, folded);
        _byEtag.Put(key[^TreeNames.EtagKeyBytes..], folded);
        _due.Move(folded, default, DueTimes.Of(metadata));
        collection.DocumentCount++;
        collection.SizeBytes += metadata.Length + body.Length;
        collection.LastEtag = Math.Max(collection.LastEtag, document.Etag);
        return true;
    }

    /// <summary>
    /// Stores a document in place of an existing one with its id, whatever its collection; updates the tombstones of the id as
    /// any such change does.
    /// </summary>
    public void Replace(in RestoredDocument document)
    {
        ReadOnlySpan<byte> folded = document.FoldedId.Span;
        Remove(folded, document.Etag);
        _tombstones.IdIsBack(folded, _collections.Get(document.Collection).Id);
        bool isNew = TryPut(document);
        Debug.Assert(isNew, "the one before was removed");
    }

    /// <summary>Stores a tombstone.</summary>
    public void Put(string id, CollectionName name, long etag, long ticks, bool isSuperseded)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(id);
        Put(utf8, CollectionName.Fold(utf8), _collections.Get(name), etag, ticks, isSuperseded);
    }

    /// <summary>
    /// Applies a deletion that is newer than the restored state: an older document with the id is deleted, a newer one was stored
    /// again after it. Tombstones come in etag order.
    /// </summary>
    public void Delete(string id, CollectionName name, long etag, long ticks, bool isSuperseded)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(id), folded = CollectionName.Fold(utf8);
        CollectionChange collection = _collections.Get(name);
        Remove(folded, etag);
        // the document existed in this collection before the deletion, which superseded earlier deletions of the id
        _tombstones.IdIsBack(folded, collection.Id);
        Put(utf8, folded, collection, etag, ticks, isSuperseded);
    }

    /// <summary>Deletes tombstones up to an etag, up to a limit; returns their number.</summary>
    public int Purge(long upToEtag, int limit) => _tombstones.Purge(upToEtag, limit);

    /// <summary>
    /// Creates a collection if it does not exist, and sets its last etag, which is at least that of all its known changes.
    /// </summary>
    public void Put(CollectionName name, long lastEtag)
    {
        CollectionChange collection = _collections.Get(name);
        collection.LastEtag = Math.Max(collection.LastEtag, lastEtag);
    }

    /// <summary>Sets an identity.</summary>
    public void PutIdentity(string name, long value) =>
        new IdMaker(_transaction, _documents).SeedIdentity(name, value, force: true);

    /// <summary>
    /// Writes the id of the source database and its last etag. Which deletions the source had forgotten when the backup was
    /// taken is unknown.
    /// </summary>
    public void PutOrigin(Guid databaseId, long lastEtag, long takenAtTicks)
    {
        Tree meta = _transaction.GetOrCreateTree(TreeNames.Meta);
        DatabaseFormat.WriteIdentity(meta, databaseId);
        byte[] etag = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(etag, lastEtag);
        meta.Put(TreeNames.MetaEtag, etag);
        _tombstones.Forget(takenAtTicks);
    }

    /// <summary>Writes the collections.</summary>
    public void Save()
    {
        _collections.Save();
        _kinds.Save();
    }

    /// <summary>Stores related data, or its tombstone. The document it belongs to must be stored first.</summary>
    public void Put(in RestoredKind item)
    {
        ReadOnlySpan<byte> key = item.Key.Span, name = item.Name.Span;
        if (item.IsDeleted)
            _kinds.RestoreDeletion(key, name, item.Etag, item.Ticks);
        else
            _kinds.Put(key, name, item.Value.Span, item.Etag, item.Ticks);
        ReadOnlySpan<byte> owner = KindKey.DocumentOf(key);
        if (!owner.IsEmpty)
            SetFlags(owner);
    }

    /// <summary>Rewrites only the flags of a document.</summary>
    private void SetFlags(ReadOnlySpan<byte> folded)
    {
        if (!_documents.TryGet(folded, out ReadOnlySpan<byte> value))
            return;

        var existing = new DocumentRecord(value);
        DocumentFlags flags = _kinds.Items.FlagsOf(folded);
        if (existing.Flags == flags)
            return;
        byte[] id = existing.Id.ToArray(), body = existing.StoredBody.ToArray(), metadata = existing.Metadata.ToArray();
        bool isPacked = existing.IsPacked;
        (long etag, long ticks, int collectionId) = (existing.Etag, existing.LastModifiedTicks, existing.CollectionId);
        DocumentRecord.Write(
            _documents.Reserve(folded, value.Length), etag, ticks, collectionId, flags, id, metadata, body, isPacked);
    }

    private void Put(
        ReadOnlySpan<byte> utf8, ReadOnlySpan<byte> folded, CollectionChange collection, long etag, long ticks, bool isSuperseded)
    {
        _tombstones.Add(etag, collection.Id, folded, utf8, ticks, isSuperseded);
        collection.LastEtag = Math.Max(collection.LastEtag, etag);
    }

    /// <summary>Removes a document older than an etag, without a tombstone.</summary>
    private void Remove(ReadOnlySpan<byte> folded, long before)
    {
        if (!_documents.TryGet(folded, out ReadOnlySpan<byte> value))
            return;

        var existing = new DocumentRecord(value);
        long etag = existing.Etag;
        if (etag >= before)
            return;

        CollectionChange collection = _collections.Get(existing.CollectionId);
        collection.DocumentCount--;
        collection.SizeBytes -= existing.ContentBytes;
        DueTimes due = DueTimes.Of(existing.Metadata);
        Span<byte> key = stackalloc byte[TreeNames.CollectionKeyBytes];
        TreeNames.WriteCollectionKey(key, collection.Id, etag);
        bool found = _byCollection.Delete(key) & _byEtag.Delete(key[^TreeNames.EtagKeyBytes..]) & _documents.Delete(folded);
        Debug.Assert(found, "a document stands in both logs");
        _due.Move(folded, due, default);
    }
}

/// <summary>A document to restore.</summary>
/// <param name="Id">The id in the case in which it was first written, in UTF-8.</param>
/// <param name="FoldedId">The folded id.</param>
/// <param name="Collection">The collection.</param>
/// <param name="Metadata">The metadata, minified; empty if there is none.</param>
/// <param name="Body">The body, minified.</param>
/// <param name="Etag">The etag.</param>
/// <param name="Ticks">When it was written (UTC ticks).</param>
internal readonly record struct RestoredDocument(
    ReadOnlyMemory<byte> Id, ReadOnlyMemory<byte> FoldedId, CollectionName Collection, ReadOnlyMemory<byte> Metadata,
    ReadOnlyMemory<byte> Body, long Etag, long Ticks);
