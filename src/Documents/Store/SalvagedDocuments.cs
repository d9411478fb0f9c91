using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Repairs a database that was only partly recovered by a salvage. Documents are authoritative; everything that refers to them is
/// rebuilt from them: both logs, the counts of collections, names of collections, the last etag. Tombstones are dropped: indexes,
/// which follow them, are rebuilt as well.
/// </summary>
/// <remarks>Works in steps of bounded size. The mark is removed by the last one, so an interrupted run starts again.</remarks>
internal sealed class SalvagedDocuments(StorageEnvironment environment)
{
    /// <summary>The tree whose presence requests the repair; created by the command <c>salvage</c>.</summary>
    public const string Mark = "salvaged";

    private const int DocumentsPerStep = 5000;

    private static readonly string[] _derived =
    [
        TreeNames.DocumentsByEtag, TreeNames.DocumentsByCollection, TreeNames.TombstonesByEtag, TreeNames.TombstonesByCollection,
        TreeNames.TombstonesById,
        TreeNames.CollectionsByName, TreeNames.KindsByEtag, TreeNames.KindsDeleted, TreeNames.KindCounts,
        TreeNames.ContentsByHash, TreeNames.ContentUploads, TreeNames.Due,
    ];

    private readonly SortedDictionary<int, (long Count, long Bytes, long LastEtag)> _collections = [];

    /// <summary>Repairs the database if it is marked.</summary>
    public void RunIfMarked()
    {
        using ReadTransaction read = environment.BeginRead();
        if (read.FindTree(Mark) is null)
            return;

        _ = environment.Write(static transaction =>
        {
            foreach (string name in _derived)
                transaction.DropTree(name);
            foreach (string name in TreeNames.All)
                transaction.GetOrCreateTree(name);
            return true;
        });
        if (read.FindTree(TreeNames.Documents) is { } documents)
        {
            using Cursor cursor = documents.OpenCursor();
            for (byte[]? next = cursor.MoveFirst() ? cursor.Key.ToArray() : null; next is { } from;)
            {
                Step step = environment.Write(transaction => WriteLogs(transaction, cursor, from, new KindItems(read.FindTree)));
                Add(step);
                next = step.Next;
                read.ReleasePages();
            }
        }

        long lastBeside = new SalvagedKinds(environment, read).Run();
        _ = environment.Write(transaction => Finish(transaction, lastBeside));
    }

    /// <summary>
    /// Adds the document of a key and the following ones, up to the size of a step, to both logs. Like any command it may be run
    /// again, so it changes nothing outside the transaction.
    /// </summary>
    private static Step WriteLogs(WriteTransaction transaction, Cursor cursor, byte[] from, KindItems beside)
    {
        Tree byEtag = transaction.GetOrCreateTree(TreeNames.DocumentsByEtag),
            byCollection = transaction.GetOrCreateTree(TreeNames.DocumentsByCollection);
        Span<byte> key = stackalloc byte[TreeNames.CollectionKeyBytes];
        var collections = new Dictionary<int, (long Count, long Bytes, long LastEtag)>();
        bool more = cursor.Seek(from);
        for (int i = 0; more && i < DocumentsPerStep; i++, more = cursor.MoveNext())
        {
            var record = new DocumentRecord(cursor.Value);
            if (beside.FlagsOf(cursor.Key) is var flags && flags != record.Flags)
            {
                DocumentRecord.Write(
                    transaction.GetOrCreateTree(TreeNames.Documents).Reserve(cursor.Key, cursor.Value.Length), record.Etag,
                    record.LastModifiedTicks, record.CollectionId, flags, record.Id, record.Metadata, record.StoredBody,
                    record.IsPacked);
            }

            TreeNames.WriteCollectionKey(key, record.CollectionId, record.Etag);
            byCollection.Put(key, cursor.Key);
            byEtag.Put(key[^TreeNames.EtagKeyBytes..], cursor.Key);
            (long count, long bytes, long lastEtag) = collections.GetValueOrDefault(record.CollectionId);
            collections[record.CollectionId] = (count + 1, bytes + record.ContentBytes, Math.Max(lastEtag, record.Etag));
        }

        return new Step(more ? cursor.Key.ToArray() : null, collections);
    }

    private void Add(Step step)
    {
        foreach ((int number, (long count, long bytes, long lastEtag)) in step.Collections)
        {
            (long allCount, long allBytes, long allLast) = _collections.GetValueOrDefault(number);
            _collections[number] = (allCount + count, allBytes + bytes, Math.Max(allLast, lastEtag));
        }
    }

    /// <summary>Writes collections, last etag and identity; removes the mark.</summary>
    private bool Finish(WriteTransaction transaction, long lastBeside)
    {
        Tree collections = transaction.GetOrCreateTree(TreeNames.Collections),
            byName = transaction.GetOrCreateTree(TreeNames.CollectionsByName);
        var names = new SortedDictionary<int, string>();
        using (Cursor cursor = collections.OpenCursor())
            for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
                names[BinaryPrimitives.ReadInt32BigEndian(cursor.Key)] = Encoding.UTF8.GetString(
                    new CollectionRecord(cursor.Value).Name);
        foreach (int lost in _collections.Keys.Where(number => !names.ContainsKey(number)))
            names[lost] = string.Create(CultureInfo.InvariantCulture, $"lost-collection-{lost}");

        long lastEtag = lastBeside;
        foreach ((int number, string name) in names)
        {
            (long count, long bytes, long last) = _collections.GetValueOrDefault(number);
            byte[] key = new byte[4], value = new byte[4], utf8 = Encoding.UTF8.GetBytes(name);
            BinaryPrimitives.WriteInt32BigEndian(key, number);
            BinaryPrimitives.WriteInt32LittleEndian(value, number);
            byte[] record = new byte[CollectionRecord.SizeOf(utf8.Length)];
            CollectionRecord.Write(record, count, bytes, last, utf8);
            collections.Put(key, record);
            byName.Put(CollectionName.Fold(utf8), value);
            lastEtag = Math.Max(lastEtag, last);
        }

        Tree meta = transaction.GetOrCreateTree(TreeNames.Meta);
        if (meta.TryGet(TreeNames.MetaEtag, out ReadOnlySpan<byte> known))
            lastEtag = Math.Max(lastEtag, BinaryPrimitives.ReadInt64LittleEndian(known));
        byte[] etag = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(etag, lastEtag);
        meta.Put(TreeNames.MetaEtag, etag);
        meta.Put(TreeNames.MetaPurged, etag); // earlier deletions are unknown, so no increment can continue an earlier backup
        byte[] forgotten = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(forgotten, DateTime.MaxValue.Ticks); // and so are their times
        meta.Put(TreeNames.MetaForgotten, forgotten);
        if (!meta.TryGet(TreeNames.MetaDatabase, out _))
            DatabaseFormat.WriteIdentity(meta, environment.StoreId);
        return transaction.DropTree(Mark);
    }

    /// <summary>
    /// The result of a step: the key with which the next one starts, and what its documents add to their collections.
    /// </summary>
    private sealed record Step(byte[]? Next, Dictionary<int, (long Count, long Bytes, long LastEtag)> Collections);
}
