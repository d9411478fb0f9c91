using Treepie.Indexes;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Reducing;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>
/// The objects that an index stores with its entries: groups, or results of maps over data outside documents. Holds the index
/// until it is disposed.
/// </summary>
internal sealed class GroupSource(
    DocumentIndex index, IndexSearcher searcher, SearchResults hits, DatabaseSnapshot snapshot, bool isScored,
    IndexTail? tail) : ResultSource
{
    private readonly ObjectAsDocument _document = new();

    public override bool HasDocuments => false;

    public override long TotalCount => hits.TotalCount;

    public override bool IsTotalExact => hits.IsTotalExact;

    public override float? Score => isScored ? hits.Score : null;

    public override long EntryId => hits.EntryId;

    public override ReadOnlySpan<byte> Id => default;

    public override IReadOnlyList<IndexEntryField> Entry() =>
        (tail is null ? searcher.Entry(hits.Key) : searcher.Entry(hits.Key, tail)) ?? [];

    public override Document Current => hits.Stored.TryGet(Reducer.ObjectSlot, out ReadOnlySpan<byte> json)
        ? _document.Of(json, snapshot)
        : throw new InvalidOperationException($"Index '{index.Name}' has an entry without its object. Reset the index.");

    public override bool MoveNext() => hits.MoveNext();

    public override void ReleasePages() => searcher.ReleasePages();

    public override void Dispose()
    {
        hits.Dispose();
        tail?.Dispose();
        searcher.Dispose();
        index.Release();
    }
}
