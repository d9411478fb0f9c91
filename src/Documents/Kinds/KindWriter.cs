using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Keeps the trees of related data consistent: items, the two logs, the counts. Created for each run of a command, since a
/// storage command may be run again from its start.
/// </summary>
/// <param name="transaction">The transaction.</param>
/// <param name="dictionaries">The dictionaries for decompressing bodies of revisions; null if none are read.</param>
/// <param name="keepsUnusedContents">See <see cref="ContentStore"/>.</param>
internal sealed class KindWriter(
    WriteTransaction transaction, BodyDictionaries? dictionaries, bool keepsUnusedContents = false)
{
    private readonly Dictionary<byte, long> _counts = [];
    private UnpackedBodies? _unpacked;
    private Tree? _items;
    private Tree? _byEtag;
    private Tree? _deleted;

    /// <summary>Whether a compare-exchange value was stored that expires.</summary>
    public bool HasExpiringValues { get; private set; }

    /// <summary>Contents of attachments.</summary>
    public ContentStore Contents { get; } = new(transaction, keepsUnusedContents);

    /// <summary>The current items. The body of a revision is valid until the next access.</summary>
    public KindItems Items
    {
        get
        {
            _unpacked?.Release();
            if (dictionaries is not null)
                _unpacked ??= new UnpackedBodies(dictionaries, transaction.FindTree);
            return new KindItems(transaction.FindTree, _unpacked);
        }
    }

    private Tree ItemTree => _items ??= transaction.GetOrCreateTree(TreeNames.Kinds);

    private Tree ByEtag => _byEtag ??= transaction.GetOrCreateTree(TreeNames.KindsByEtag);

    private Tree Deleted => _deleted ??= transaction.GetOrCreateTree(TreeNames.KindsDeleted);

    /// <summary>
    /// Gets the item with a key; valid until the next change. Returns false if it does not exist or was deleted.
    /// </summary>
    public bool TryGet(scoped ReadOnlySpan<byte> key, out KindRecord record)
    {
        record = default;
        if (transaction.FindTree(TreeNames.Kinds) is not { } items || !items.TryGet(key, out ReadOnlySpan<byte> value))
            return false;
        record = new KindRecord(value);
        return !record.IsDeleted;
    }

    /// <summary>
    /// Stores an item, replacing an existing one and keeping the case of its name; returns whether it is new.
    /// </summary>
    public bool Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> name, ReadOnlySpan<byte> value, long etag, long ticks)
    {
        bool isNew = true;
        List<byte[]> released = [];
        long expired = 0;
        foreach (byte[] hash in HashesOf(key, value))
            Contents.Acquire(hash); // before releasing the old contents, which may be the same
        if (ItemTree.TryGet(key, out ReadOnlySpan<byte> found))
        {
            var existing = new KindRecord(found);
            isNew = existing.IsDeleted;
            if (!isNew && !existing.Name.SequenceEqual(name))
                name = existing.Name.ToArray();
            if (!isNew)
            {
                released = HashesOf(key, existing.Value);
                expired = DueTimes.OfItem(key, existing.Value);
            }

            RemoveFromLog(existing.Etag, existing.IsDeleted, key);
        }

        if (isNew)
            Count((byte)KindKey.KindOf(key), 1);
        value.CopyTo(
            KindRecord.Write(
                ItemTree.Reserve(key, KindRecord.SizeOf(name.Length, value.Length)), etag, ticks, isDeleted: false, name));
        AddToLog(ByEtag, etag, key);
        MoveExpiry(key, expired, DueTimes.OfItem(key, value));
        foreach (byte[] hash in released)
            Contents.Release(hash);
        return isNew;
    }

    /// <summary>Deletes an item and adds a tombstone; returns false if it does not exist.</summary>
    public bool Delete(ReadOnlySpan<byte> key, long etag, long ticks)
    {
        if (!TryGet(key, out KindRecord existing))
            return false;
        byte[] name = existing.Name.ToArray();
        List<byte[]> released = HashesOf(key, existing.Value);
        long expired = DueTimes.OfItem(key, existing.Value);
        if (KindKey.KindOf(key) == Kind.Revision)
            HandOnBody(key, new RevisionRecord(existing.Value).IsShared);
        TryGet(key, out existing); // read again: the body may have been moved
        RemoveFromLog(existing.Etag, existing.IsDeleted, key);
        Count((byte)KindKey.KindOf(key), -1);
        PutDeletion(key, name, etag, ticks);
        MoveExpiry(key, expired, 0);
        foreach (byte[] hash in released)
            Contents.Release(hash);
        return true;
    }

    private void MoveExpiry(ReadOnlySpan<byte> key, long before, long after)
    {
        HasExpiringValues |= after != 0;
        if (before != 0 || after != 0)
            DueIndex.Of(transaction).Move(DueAction.ExpireValue, KindKey.FoldedNameOfShared(key), before, after);
    }

    /// <summary>
    /// Returns the hashes of the contents that an item refers to: its own for an attachment, those of its attachments for a
    /// revision.
    /// </summary>
    private static List<byte[]> HashesOf(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        switch (KindKey.KindOf(key))
        {
            case Kind.Attachment:
                return [new AttachmentRecord(value).Hash.ToArray()];
            case Kind.Revision:
                List<byte[]> hashes = [];
                for (var all = new RevisionAttachments(new RevisionRecord(value).Attachments); all.MoveNext();)
                    hashes.Add(all.Hash.ToArray());
                return hashes;
            default:
                return [];
        }
    }

    /// <summary>Adds the tombstone of another database, for an item that may exist here.</summary>
    public void RestoreDeletion(ReadOnlySpan<byte> key, ReadOnlySpan<byte> name, long etag, long ticks)
    {
        if (ItemTree.TryGet(key, out ReadOnlySpan<byte> found))
        {
            var existing = new KindRecord(found);
            if (existing.Etag > etag)
                return;
            if (!existing.IsDeleted)
            {
                Delete(key, etag, ticks);
                return;
            }

            RemoveFromLog(existing.Etag, existing.IsDeleted, key);
        }

        PutDeletion(key, name, etag, ticks);
    }

    /// <summary>Returns the tombstone with the lowest etag; null if there is none.</summary>
    public (long Etag, long Ticks, byte[] Key)? FirstTombstone()
    {
        if (transaction.FindTree(TreeNames.KindsDeleted) is not { } deleted)
            return null;
        using Cursor cursor = deleted.OpenCursor();
        if (!cursor.MoveFirst())
            return null;
        byte[] key = cursor.Value.ToArray();
        return (TreeNames.EtagOfKey(cursor.Key), new KindRecord(Expect(key)).Ticks, key);
    }

    /// <summary>Deletes a tombstone.</summary>
    public void PurgeTombstone(byte[] key)
    {
        var record = new KindRecord(Expect(key));
        RemoveFromLog(record.Etag, record.IsDeleted, key);
        ItemTree.Delete(key);
    }

    /// <summary>Writes the counts.</summary>
    public void Save()
    {
        if (_counts.Count == 0)
            return;
        Tree counts = transaction.GetOrCreateTree(TreeNames.KindCounts);
        Span<byte> value = stackalloc byte[sizeof(long)];
        foreach ((byte key, long change) in _counts)
        {
            long before = counts.TryGet([key], out ReadOnlySpan<byte> known) ? BinaryPrimitives.ReadInt64LittleEndian(known) : 0;
            Debug.Assert(before + change >= 0, "there are never fewer than none");
            BinaryPrimitives.WriteInt64LittleEndian(value, before + change);
            counts.Put([key], value);
        }

        _counts.Clear();
    }

    /// <summary>Moves the body of a deleted revision to the next one that shares it.</summary>
    private void HandOnBody(ReadOnlySpan<byte> key, bool isShared)
    {
        if (isShared
            || Items.RevisionAfter(key) is not { } next
            || !TryGet(next, out KindRecord after)
            || !new RevisionRecord(after.Value).IsShared)
            return;
        byte[] name = after.Name.ToArray(), value = new RevisionRecord(after.Value).WithBody(Items.RevisionBody(key));
        (long etag, long ticks) = (after.Etag, after.Ticks);
        value.CopyTo(
            KindRecord.Write(
                ItemTree.Reserve(next, KindRecord.SizeOf(name.Length, value.Length)), etag, ticks, isDeleted: false, name));
    }

    private void PutDeletion(ReadOnlySpan<byte> key, ReadOnlySpan<byte> name, long etag, long ticks)
    {
        KindRecord.Write(ItemTree.Reserve(key, KindRecord.SizeOf(name.Length, 0)), etag, ticks, isDeleted: true, name);
        AddToLog(Deleted, etag, key);
        Count(KindItems.DeletedCountKey(KindKey.KindOf(key)), 1);
    }

    private ReadOnlySpan<byte> Expect(ReadOnlySpan<byte> key) => ItemTree.TryGet(key, out ReadOnlySpan<byte> value)
        ? value
        : throw new Storage.CorruptionException(
            "The log of what was deleted beside documents names a key that does not exist. Run a check of the database and "
                + "restore a backup.");

    private void Count(byte key, long change) => _counts[key] = _counts.GetValueOrDefault(key) + change;

    private void RemoveFromLog(long etag, bool isDeleted, ReadOnlySpan<byte> key)
    {
        Span<byte> logKey = stackalloc byte[TreeNames.EtagKeyBytes];
        TreeNames.WriteEtagKey(logKey, etag);
        bool found = (isDeleted ? Deleted : ByEtag).Delete(logKey);
        Debug.Assert(found, "a value stands in the log under its etag");
        if (isDeleted)
            Count(KindItems.DeletedCountKey(KindKey.KindOf(key)), -1);
    }

    private static void AddToLog(Tree log, long etag, ReadOnlySpan<byte> key)
    {
        Span<byte> logKey = stackalloc byte[TreeNames.EtagKeyBytes];
        TreeNames.WriteEtagKey(logKey, etag);
        bool isNew = log.Put(logKey, key);
        Debug.Assert(isNew, "an etag is given once");
    }
}
