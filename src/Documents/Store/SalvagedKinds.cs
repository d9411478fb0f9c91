using System.Buffers.Binary;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Makes anew what speaks of the values beside documents that a salvage brought back: their log and their counts. What belonged to a document
/// that is lost goes with it, and deletions are dropped, as those of documents are. In steps of bounded size, which may be run again.
/// </summary>
internal sealed class SalvagedKinds(StorageEnvironment environment, ReadTransaction read)
{
    private const int ValuesPerStep = 5000;

    private readonly SortedDictionary<byte, long> _counts = [];
    private long _lastEtag;

    /// <summary>Does it, after the documents; gives the last etag of any value.</summary>
    public long Run()
    {
        if (read.FindTree(TreeNames.Kinds) is not { } items)
            return 0;

        using Cursor cursor = items.OpenCursor();
        for (byte[]? next = cursor.MoveFirst() ? cursor.Key.ToArray() : null; next is { } from;)
        {
            Step step = environment.Write(transaction => Write(transaction, cursor, from));
            foreach ((byte kind, long count) in step.Counts)
                _counts[kind] = _counts.GetValueOrDefault(kind) + count;
            _lastEtag = Math.Max(_lastEtag, step.LastEtag);
            next = step.Next;
            read.ReleasePages();
        }

        return environment.Write(transaction =>
        {
            Tree counts = transaction.GetOrCreateTree(TreeNames.KindCounts);
            foreach ((byte kind, long count) in _counts)
                BinaryPrimitives.WriteInt64LittleEndian(counts.Reserve([kind], sizeof(long)), count);
            return _lastEtag;
        });
    }

    private static Step Write(WriteTransaction transaction, Cursor cursor, byte[] from)
    {
        Tree items = transaction.GetOrCreateTree(TreeNames.Kinds), byEtag = transaction.GetOrCreateTree(TreeNames.KindsByEtag), documents = transaction.GetOrCreateTree(TreeNames.Documents);
        Span<byte> logKey = stackalloc byte[TreeNames.EtagKeyBytes];
        var counts = new Dictionary<byte, long>();
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

            TreeNames.WriteEtagKey(logKey, record.Etag);
            byEtag.Put(logKey, key);
            counts[key[0]] = counts.GetValueOrDefault(key[0]) + 1;
        }

        return new Step(more ? cursor.Key.ToArray() : null, counts, lastEtag);
    }

    /// <summary>What a step did: the key that the next one begins with, values by kind, and the last etag.</summary>
    private sealed record Step(byte[]? Next, Dictionary<byte, long> Counts, long LastEtag);
}
