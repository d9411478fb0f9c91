using Treepie.Indexes.Fields;
using Treepie.Indexes.Reducing;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>
/// The objects that an index stores with its entries: groups, or results of maps over data outside documents. Holds the index
/// until it is disposed.
/// </summary>
/// <param name="index">The name of the index.</param>
/// <param name="searcher">Its view, which is disposed with the source.</param>
/// <param name="hits">What was found.</param>
/// <param name="snapshot">The documents.</param>
/// <param name="isScored">Whether hits have a score.</param>
/// <param name="tail">The changes that the view does not contain, or null.</param>
/// <param name="release">Releases the index.</param>
internal sealed class GroupSource(
    string index, IndexSearcher searcher, SearchResults hits, DatabaseSnapshot snapshot, bool isScored, IndexTail? tail,
    Action release) : ResultSource
{
    private readonly ObjectAsDocument _document = new();

    /// <summary>Whether only the hits are its own, and not the index, its searcher and its tail.</summary>
    public bool IsBorrowing { get; init; }

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
        : throw new InvalidOperationException($"Index '{index}' has an entry without its object. Reset the index.");

    public override bool MoveNext() => hits.MoveNext();

    public override void ReleasePages() => searcher.ReleasePages();

    public override void Dispose()
    {
        hits.Dispose();
        if (IsBorrowing)
            return;
        tail?.Dispose();
        searcher.Dispose();
        release();
    }
}
