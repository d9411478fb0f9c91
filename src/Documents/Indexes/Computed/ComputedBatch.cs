using Treepie.Computations;
using Treepie.Indexing;
using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Results of a map as entries. A change of something that documents have looked at lets these be mapped again, as many as go into a batch; where that was is kept with the index, so that it goes on
/// there after a crash too.
/// </summary>
internal sealed class ComputedBatch(IndexMap map, ComputedEntries entries, IndexWriter writer, StorageEnvironment store) : MapBatch
{
    /// <summary>Most documents that one batch maps again: some hundred milliseconds of work.</summary>
    private const int MaxMappedAgain = 16 * 1024;

    private readonly bool _hasReferences = map.LoadedCollections.Count > 0 || map.LoadsCompareExchange;
    private (long Etag, byte[] Document)? _position;
    private int _mappedAgain;

    public override int Count => entries.Batch.Count;

    public override long SizeBytes => entries.Batch.SizeBytes;

    public override bool Add(MappedChanges feed)
    {
        if (feed.IsOwn)
            entries.Add(feed);
        return !feed.IsReferenced || MapAgain(feed);
    }

    public override void Append(MapBatch other) => entries.Append(((ComputedBatch)other).Entries); // of the same index, so of the same kind

    public override void Clear()
    {
        entries.Clear();
        _position = null;
        _mappedAgain = 0;
    }

    public override void Commit(long etag, CancellationToken cancellationToken)
    {
        writer.Commit(entries.Batch, etag, Prepare, cancellationToken);
        Clear();
    }

    private ComputedEntries Entries => entries;

    private void Prepare(WriteTransaction transaction, IndexBatch batch)
    {
        entries.RemoveLeftOver(OutputCounts.In(transaction));
        if (_hasReferences)
            Referrers.Write(transaction, entries.References, _position);
    }

    /// <summary>Maps again what has looked at the document or value that changed; false where there is more than goes into the batch.</summary>
    private bool MapAgain(MappedChanges feed)
    {
        using ReadTransaction committed = store.BeginRead();
        var referrers = new Referrers(committed.FindTree);
        foreach (byte[] document in referrers.Of(feed, referrers.PositionIn(feed.Etag)))
        {
            entries.AddAgain(feed, document);
            feed.Snapshot.ReleasePages();
            if (++_mappedAgain < MaxMappedAgain)
                continue;
            _position = (feed.Etag, document);
            return false;
        }

        return true;
    }
}
