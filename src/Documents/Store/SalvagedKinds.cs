using System.Buffers.Binary;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Rebuilds the log and counts of related data recovered by a salvage. Data of a lost document is dropped, as are tombstones.
/// Works in steps of bounded size, which may be run again.
/// </summary>
internal sealed class SalvagedKinds(StorageEnvironment environment, ReadTransaction read)
{
    private const int ValuesPerStep = 5000;

    private readonly SortedDictionary<byte, long> _counts = [];
    private readonly SalvagedContents _contents = new(read);
    private long _lastEtag;

    /// <summary>Runs after the documents; returns the last etag of any item.</summary>
    public long Run()
    {
        _contents.Read();
        if (read.FindTree(TreeNames.Kinds) is { } items)
            RunItems(items);
        environment.Write(_contents.Write);
        return environment.Write(transaction =>
        {
            if (_counts.Count == 0)
                return _lastEtag;
            Tree counts = transaction.GetOrCreateTree(TreeNames.KindCounts);
            foreach ((byte kind, long count) in _counts)
                BinaryPrimitives.WriteInt64LittleEndian(counts.Reserve([kind], sizeof(long)), count);
            return _lastEtag;
        });
    }

    private void RunItems(Tree items)
    {
        using Cursor cursor = items.OpenCursor();
        for (byte[]? next = cursor.MoveFirst() ? cursor.Key.ToArray() : null; next is { } from;)
        {
            Step step = environment.Write(transaction => Write(transaction, cursor, from));
            foreach ((byte kind, long count) in step.Counts)
                _counts[kind] = _counts.GetValueOrDefault(kind) + count;
            foreach (string hash in step.Contents)
                _contents.Acquire(hash);
            _lastEtag = Math.Max(_lastEtag, step.LastEtag);
            next = step.Next;
            read.ReleasePages();
        }
    }

    private Step Write(WriteTransaction transaction, Cursor cursor, byte[] from)
    {
        Tree items = transaction.GetOrCreateTree(TreeNames.Kinds),
            byEtag = transaction.GetOrCreateTree(TreeNames.KindsByEtag),
            documents = transaction.GetOrCreateTree(TreeNames.Documents);
        Span<byte> logKey = stackalloc byte[TreeNames.EtagKeyBytes];
        var counts = new Dictionary<byte, long>();
        var contents = new List<string>();
        long lastEtag = 0;
        bool more = cursor.Seek(from);
        for (int i = 0; more && i < ValuesPerStep; i++, more = cursor.MoveNext())
        {
            ReadOnlySpan<byte> key = cursor.Key, owner = KindKey.OwnerOf(key);
            var record = new KindRecord(cursor.Value);
            lastEtag = Math.Max(lastEtag, record.Etag);
            if (record.IsDeleted || (!owner.IsEmpty && !documents.Contains(owner)))
            {
                items.Delete(key);
                continue;
            }

            if (KindKey.KindOf(key) == Kind.Attachment)
            {
                string hash = Convert.ToHexString(new AttachmentRecord(record.Value).Hash);
                if (!_contents.Contains(hash))
                {
                    items.Delete(key);
                    SetFlags(transaction, documents, owner);
                    continue;
                }

                contents.Add(hash);
            }

            if (KindKey.KindOf(key) == Kind.Revision)
                contents.AddRange(KeepContents(items, key, record));
            TreeNames.WriteEtagKey(logKey, record.Etag);
            byEtag.Put(logKey, key);
            if (DueTimes.OfItem(key, record.Value) is > 0L and var expires)
                DueIndex.Of(transaction).Put(DueAction.ExpireValue, expires, KindKey.FoldedNameOfShared(key));
            counts[key[0]] = counts.GetValueOrDefault(key[0]) + 1;
        }

        return new Step(more ? cursor.Key.ToArray() : null, counts, contents, lastEtag);
    }

    /// <summary>Returns the hashes of a revision's contents; removes attachments whose contents are lost.</summary>
    private List<string> KeepContents(Tree items, ReadOnlySpan<byte> key, KindRecord record)
    {
        var revision = new RevisionRecord(record.Value);
        var hashes = new List<string>();
        if (revision.Attachments.IsEmpty)
            return hashes;
        byte[] kept = RevisionAttachments.Where(
            revision.Attachments, hash => _contents.Contains(Convert.ToHexString(hash)));
        for (var all = new RevisionAttachments(kept); all.MoveNext();)
            hashes.Add(Convert.ToHexString(all.Hash));
        if (kept.Length == revision.Attachments.Length)
            return hashes;
        byte[] name = record.Name.ToArray(), value = revision.WithAttachments(kept);
        value.CopyTo(
            KindRecord.Write(
                items.Reserve(key, KindRecord.SizeOf(name.Length, value.Length)), record.Etag, record.Ticks, isDeleted: false,
                name));
        return hashes;
    }

    /// <summary>Updates the flags of a document that lost related data.</summary>
    private static void SetFlags(WriteTransaction transaction, Tree documents, ReadOnlySpan<byte> owner)
    {
        if (!documents.TryGet(owner, out ReadOnlySpan<byte> value))
            return;
        byte[] copy = value.ToArray();
        var record = new DocumentRecord(copy);
        DocumentRecord.Write(
            documents.Reserve(owner, copy.Length), record.Etag, record.LastModifiedTicks, record.CollectionId,
            new KindItems(transaction.FindTree).FlagsOf(owner), record.Id, record.Metadata, record.StoredBody,
            record.IsPacked);
    }

    /// <summary>
    /// The result of a step: the key with which the next one starts, items by kind, contents of attachments, and the last etag.
    /// </summary>
    private sealed record Step(byte[]? Next, Dictionary<byte, long> Counts, List<string> Contents, long LastEtag);
}
