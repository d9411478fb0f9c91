using Treepie.Computations;
using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Lets the documents that have looked at something which changed be mapped again, as many as go into a batch. Where that was is
/// kept with the index, so that it goes on there after a crash too. Not thread-safe.
/// </summary>
internal sealed class MappingAgain(IndexMap map, StorageEnvironment store)
{
    /// <summary>Most documents that one batch maps again: some hundred milliseconds of work.</summary>
    private const int MostOfBatch = 16 * 1024;

    private (long Etag, byte[] Document)? _position;
    private int _count;

    /// <summary>Whether documents look at anything else at all.</summary>
    private bool HasReferences => map.LoadedCollections.Count > 0 || map.LoadsCompareExchange;

    /// <summary>
    /// Calls for each document that has looked at the document or value that changed; false where there are more than go into the
    /// batch.
    /// </summary>
    public bool Run(MappedChanges feed, Action<MappedChanges, byte[]> mapAgain)
    {
        using ReadTransaction committed = store.BeginRead();
        var referrers = new Referrers(committed.FindTree);
        foreach (byte[] document in referrers.Of(feed, referrers.PositionIn(feed.Etag)))
        {
            mapAgain(feed, document);
            feed.Snapshot.ReleasePages();
            if (++_count < MostOfBatch)
                continue;
            _position = (feed.Etag, document);
            return false;
        }

        return true;
    }

    /// <summary>Notes what the documents of the batch have looked at, and where it has stopped.</summary>
    public void Write(WriteTransaction transaction, IReadOnlyDictionary<byte[], UInt128[]> references)
    {
        if (HasReferences)
            Referrers.Write(transaction, references, _position);
    }

    /// <summary>Begins a batch.</summary>
    public void Clear()
    {
        _position = null;
        _count = 0;
    }
}
