using Treepie.Computations;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Lets what has looked at something that changed be mapped again, and what lies beside a document that came, went or moved, as
/// many as go into a batch. Where that was is
/// kept with the index, so that it goes on there after a crash too. Not thread-safe.
/// </summary>
internal sealed class MappingAgain(IndexMap map, StorageEnvironment store)
{
    /// <summary>Most documents that one batch maps again: some hundred milliseconds of work.</summary>
    private const int MostOfBatch = 16 * 1024;

    private readonly BesideOwners _owners = new(map);
    private (long Etag, byte[] Document)? _position;
    private int _count;

    /// <summary>Whether documents look at anything else at all.</summary>
    private bool HasReferences =>
        map.LoadedCollections.Count > 0 || map.LoadsCompareExchange || map.Source != IndexSourceType.Documents;

    /// <summary>
    /// Calls for each document that has looked at the document or value that changed; false where there are more than go into the
    /// batch.
    /// </summary>
    public bool Run(MappedChanges feed, Action<MappedChanges, byte[]> mapAgain)
    {
        if (!feed.IsOwner && !feed.IsReferenced)
            return true;
        using ReadTransaction committed = store.BeginRead();
        var referrers = new Referrers(committed.FindTree);
        long own = -feed.Etag; // which tells it from a place among the referrers
        if (!Run(feed, own, _owners.Moved(feed, referrers.PositionIn(own), committed.FindTree), mapAgain))
            return false;
        _owners.Note(feed);
        return !feed.IsReferenced
            || Run(feed, feed.Etag, referrers.Of(feed, referrers.PositionIn(feed.Etag)), mapAgain);
    }

    /// <summary>Keys of all that a change lets be mapped again, for a reader.</summary>
    public static IEnumerable<byte[]> Of(MappedChanges feed, BesideOwners owners, Func<string, Tree?> find) =>
        owners.Moved(feed, [], find).Concat(feed.IsReferenced ? new Referrers(find).Of(feed, []) : []);

    /// <summary>Whether the change is of something that the index is to map, or to forget.</summary>
    public bool Concerns(MappedChanges feed)
    {
        if (!feed.IsBeside)
            return true;
        using ReadTransaction committed = store.BeginRead();
        return _owners.Concerns(feed, committed.FindTree);
    }

    /// <summary>Notes what the documents of the batch have looked at, and where it has stopped.</summary>
    public void Write(WriteTransaction transaction, IReadOnlyDictionary<byte[], UInt128[]> references)
    {
        if (HasReferences)
            Referrers.Write(transaction, references, _position);
        _owners.Write(transaction);
    }

    /// <summary>Begins a batch.</summary>
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
