using Treepie.Computations;
using Treepie.Indexes.States;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Documents that an index covers which maps what lies beside them. Only a change of a document says whether it belongs to the
/// index, so what lies beside it is mapped from its own change on, and mapped again when it comes, goes or is of another
/// collection. Kept with the index in the tree <c>computed.owners</c>: folded id → folded collection. Not thread-safe.
/// </summary>
internal sealed class BesideOwners(IndexMap map)
{
    private const string TreeName = "computed.owners";

    private readonly Dictionary<byte[], byte[]> _now = new(KeyEquality.Instance);

    /// <summary>Whether the change is of something that the index is to map, or to forget.</summary>
    public bool Concerns(MappedChanges feed, Func<string, Tree?> find) =>
        !feed.IsBeside || feed.IsTombstone || CollectionOf(KindKey.OwnerOf(feed.Key), find).Length > 0;

    /// <summary>
    /// Keys of what lies beside a document that has come into the index, left it or changed its collection, in their order and
    /// behind one of them. What has a later change of its own is left to that.
    /// </summary>
    public IEnumerable<byte[]> Moved(MappedChanges feed, byte[] after, Func<string, Tree?> find)
    {
        if (!feed.IsOwner || map.KindBeside is not { } kind)
            return [];
        byte[] owner = CollectionName.Fold(feed.Id);
        return CollectionOf(owner, find).AsSpan().SequenceEqual(CollectionOf(feed, owner))
            ? []
            : Beside(feed.Snapshot, kind, owner, feed.Etag, after);
    }

    /// <summary>Notes the state of the document of a change, all beside which has been mapped.</summary>
    public void Note(MappedChanges feed)
    {
        if (!feed.IsOwner)
            return;
        byte[] owner = CollectionName.Fold(feed.Id);
        _now[owner] = CollectionOf(feed, owner);
    }

    /// <summary>Writes what was noted.</summary>
    public void Write(WriteTransaction transaction)
    {
        if (_now.Count == 0)
            return;
        var owners = new StoredStateTree(transaction.GetOrCreateTree(TreeName));
        foreach ((byte[] owner, byte[] collection) in _now)
        {
            if (collection.Length > 0)
                owners.Put(owner, collection);
            else
                owners.Delete(owner);
        }
    }

    /// <summary>Begins a batch.</summary>
    public void Clear() => _now.Clear();

    private static IEnumerable<byte[]> Beside(DatabaseSnapshot snapshot, Kind kind, byte[] owner, long before, byte[] after)
    {
        byte[] key = new byte[BesideKey.MaxBytes];
        using KindCursor cursor = snapshot.Kinds.Under(KindKey.Prefix(kind, owner));
        while (cursor.MoveNext())
        {
            if (cursor.Record.Etag > before)
                continue;
            byte[] found = key[..BesideKey.Write(cursor.Key, key)];
            if (found.AsSpan().SequenceCompareTo(after) > 0)
                yield return found;
        }
    }

    /// <summary>The collection as it was noted; empty where it is not in the index.</summary>
    private byte[] CollectionOf(ReadOnlySpan<byte> owner, Func<string, Tree?> find)
    {
        if (_now.TryGetValue(owner.ToArray(), out byte[]? now))
            return now;
        return find(TreeName) is { } tree && tree.TryGet(owner, out ReadOnlySpan<byte> known) ? known.ToArray() : [];
    }

    /// <summary>The collection as it is; empty where it is not in the index.</summary>
    private static byte[] CollectionOf(MappedChanges feed, byte[] owner) =>
        feed.Snapshot.TryGetByFoldedId(owner, out Document document)
            && feed.Covers(document.CollectionName)
            && !feed.LeavesOut(document)
            ? CollectionName.Fold(document.Collection)
            : [];
}
