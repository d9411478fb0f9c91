using Treepie.Computations;
using Treepie.Indexes.States;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// The documents covered by an index that maps their counters or time series. Only a change of a document shows whether it
/// belongs to the index. So its counters or time series are mapped only after that, and mapped again when the document is
/// created, deleted or moved to another collection. Stored with the index in the tree <c>computed.owners</c>: folded id →
/// folded collection. Not thread-safe.
/// </summary>
internal sealed class BesideOwners(IndexMap map)
{
    private const string TreeName = "computed.owners";

    private readonly Dictionary<byte[], byte[]> _now = new(KeyEquality.Instance);

    /// <summary>Returns whether the index must map the change or remove its entries.</summary>
    public bool Concerns(MappedChanges feed, Func<string, Tree?> find) =>
        !feed.IsBeside || feed.IsTombstone || CollectionOf(KindKey.OwnerOf(feed.Key), find).Length > 0;

    /// <summary>
    /// Returns the keys of the counters or time series of a document that has entered or left the index or changed its
    /// collection, in order, after a given key. Those with a later change of their own are skipped.
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

    /// <summary>Records the state of a changed document whose counters or time series have all been mapped.</summary>
    public void Note(MappedChanges feed)
    {
        if (!feed.IsOwner)
            return;
        byte[] owner = CollectionName.Fold(feed.Id);
        _now[owner] = CollectionOf(feed, owner);
    }

    /// <summary>Writes the recorded states.</summary>
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

    /// <summary>Clears the recorded states for a new batch.</summary>
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

    /// <summary>Returns the recorded collection; empty if the document is not in the index.</summary>
    private byte[] CollectionOf(ReadOnlySpan<byte> owner, Func<string, Tree?> find)
    {
        if (_now.TryGetValue(owner.ToArray(), out byte[]? now))
            return now;
        return find(TreeName) is { } tree && tree.TryGet(owner, out ReadOnlySpan<byte> known) ? known.ToArray() : [];
    }

    /// <summary>Returns the current collection; empty if the document is not in the index.</summary>
    private static byte[] CollectionOf(MappedChanges feed, byte[] owner) =>
        feed.Snapshot.TryGetByFoldedId(owner, out Document document)
            && feed.Covers(document.CollectionName)
            && !feed.LeavesOut(document)
            ? CollectionName.Fold(document.Collection)
            : [];
}
