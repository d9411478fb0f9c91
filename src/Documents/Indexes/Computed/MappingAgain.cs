using Treepie.Computations;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Maps again what has loaded a changed document or value, and the counters or time series of a document that was created,
/// deleted or moved, as many as fit into a batch. The position is stored with the index, so that mapping resumes there even
/// after a crash. Not thread-safe.
/// </summary>
internal sealed class MappingAgain(IndexMap map, StorageEnvironment store)
{
    /// <summary>The maximum number of documents mapped again in one batch: a few hundred milliseconds of work.</summary>
    private const int MostOfBatch = 16 * 1024;

    private readonly BesideOwners _owners = new(map);
    private (long Etag, byte[] Document)? _position;
    private int _count;

    /// <summary>Whether it stopped within a change.</summary>
    public bool IsWithinChange => _position is not null;

    /// <summary>Whether documents can refer to anything else.</summary>
    private bool HasReferences =>
        map.LoadedCollections.Count > 0 || map.LoadsCompareExchange || map.Source != IndexSourceType.Documents;

    /// <summary>
    /// Calls back for each item to map again because of a change; returns false if there are more than fit into the batch.
    /// </summary>
    public bool Run(MappedChanges feed, Action<MappedChanges, byte[]> mapAgain)
    {
        if (!feed.IsOwner && !feed.IsReferenced)
            return true;
        using ReadTransaction committed = store.BeginRead();
        var referrers = new Referrers(committed.FindTree);
        long own = -feed.Etag; // distinguishes it from a position among the referrers
        if (!Run(feed, own, _owners.Moved(feed, referrers.PositionIn(own), committed.FindTree), mapAgain))
            return false;
        _owners.Note(feed);
        return !feed.IsReferenced
            || Run(feed, feed.Etag, referrers.Of(feed, referrers.PositionIn(feed.Etag)), mapAgain);
    }

    /// <summary>Returns the keys of everything that must be mapped again because of a change, for a reader.</summary>
    public static IEnumerable<byte[]> Of(MappedChanges feed, BesideOwners owners, Func<string, Tree?> find) =>
        owners.Moved(feed, [], find).Concat(feed.IsReferenced ? new Referrers(find).Of(feed, []) : []);

    /// <summary>Returns whether the index must map the change or remove its entries.</summary>
    public bool Concerns(MappedChanges feed)
    {
        if (!feed.IsBeside)
            return true;
        using ReadTransaction committed = store.BeginRead();
        return _owners.Concerns(feed, committed.FindTree);
    }

    /// <summary>Writes the references of the documents of the batch, and the position where it stopped.</summary>
    public void Write(WriteTransaction transaction, IReadOnlyDictionary<byte[], UInt128[]> references)
    {
        if (HasReferences)
            Referrers.Write(transaction, references, _position);
        _owners.Write(transaction);
    }

    /// <summary>Clears the state for a new batch.</summary>
    public void Clear()
    {
        _position = null;
        _count = 0;
        _owners.Clear();
    }

    private bool Run(
        MappedChanges feed, long position, IEnumerable<byte[]> documents, Action<MappedChanges, byte[]> mapAgain)
    {
        foreach (byte[] document in documents)
        {
            mapAgain(feed, document);
            feed.Snapshot.ReleasePages();
            if (++_count < MostOfBatch)
                continue;
            _position = (position, document);
            return false;
        }

        return true;
    }
}
