using Treepie.Computations;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Indexes.Computed;

/// <summary>A batch with the results of a map as entries.</summary>
internal sealed class ComputedBatch(
    IndexMap map, ComputedEntries entries, IndexWriter writer, StorageEnvironment store, MapCounters maps) : MapBatch
{
    private readonly MappingAgain _again = new(map, store);

    public override int Count => entries.Batch.Count;

    public override long SizeBytes => entries.Batch.SizeBytes;

    public override bool IsWithinChange => _again.IsWithinChange;

    public override IReadOnlyCollection<DynamicField> NewFields => entries.NewFields;

    public override bool Add(MappedChanges feed)
    {
        if (feed.IsOwn && _again.Concerns(feed))
            entries.Add(feed);
        return _again.Run(feed, entries.AddAgain);
    }

    // A batch of the same index, so of the same type.
    public override void Append(MapBatch other) => entries.Append(((ComputedBatch)other).Entries);

    public override void Clear()
    {
        entries.Clear();
        _again.Clear();
    }

    public override bool TryCommit(long etag, CancellationToken cancellationToken)
    {
        writer.Commit(entries.Batch, etag, Prepare, cancellationToken);
        maps.Add(entries.Tally);
        Clear();
        return true;
    }

    private ComputedEntries Entries => entries;

    private void Prepare(WriteTransaction transaction, IndexBatch batch)
    {
        entries.RemoveLeftOver(OutputCounts.In(transaction));
        _again.Write(transaction, entries.References);
        maps.Write(transaction, entries.Tally);
    }
}
