using Treepie.Indexes;
using Treepie.Indexes.Computed;
using Treepie.Indexes.Extraction;
using Treepie.Indexing;
using Treepie.Indexing.Spatial;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>
/// Documents that an index finds. The index may be behind the document snapshot: hits that were deleted or have moved to another
/// collection are skipped. Holds the index until it is disposed.
/// </summary>
internal sealed class IndexSource : ResultSource
{
    private readonly DocumentIndex _index;
    private readonly IndexSearcher _searcher;
    private readonly FurtherHits? _further;
    private readonly DatabaseSnapshot _snapshot;
    private readonly bool _isScored;
    private readonly bool _isStale;
    private readonly bool _isInOrder;
    private readonly IndexTail? _tail;
    private SearchResults _hits;
    private long _total;
    private bool _isTotalExact;
    private Cursor? _documents;

    public IndexSource(
        DocumentIndex index, IndexSearcher searcher, SearchResults hits, DatabaseSnapshot snapshot, bool isScored, bool isStale,
        bool isInOrder, IndexTail? tail = null, FurtherHits? further = null)
    {
        _isInOrder = isInOrder && hits.Count > 1;
        _further = further;
        _index = index;
        _searcher = searcher;
        _hits = hits;
        (_total, _isTotalExact) = (hits.TotalCount, hits.IsTotalExact);
        _snapshot = snapshot;
        _isScored = isScored;
        _isStale = isStale;
        _tail = tail;
    }

    /// <summary>Whether only the hits are its own, and not the index, its searcher and its tail.</summary>
    public bool IsBorrowing { get; init; }

    /// <summary>The number of documents that the hits stand for; null if each stands for its own.</summary>
    public long? Represented { get; init; }

    public override long TotalCount => Represented ?? _total;

    public override bool IsTotalExact => _isTotalExact;

    public override float? Score => _isScored ? _hits.Score : null;

    public override PlaceOfHit? Place => _hits.Place;

    public override long EntryId => _hits.EntryId;

    public override ReadOnlySpan<byte> Id =>
        _hits.Stored.TryGet(StoredExtractor.IdSlot, out ReadOnlySpan<byte> id) ? id : Current.Id;

    public override ReadOnlySpan<byte> FoldedId => OutputKey.DocumentOf(_hits.Key);

    public override IReadOnlyList<IndexEntryField> Entry() =>
        (_tail is null ? _searcher.Entry(_hits.Key) : _searcher.Entry(_hits.Key, _tail)) ?? [];

    public override StoredRecord Stored => _hits.Stored;

    public override Document Current => TryGet(out Document document)
        ? document
        : throw new InvalidOperationException(
            $"Index '{_index.Name}' names the document '{System.Text.Encoding.UTF8.GetString(_hits.Key)}', which does not exist. "
                + $"Reset the index.");

    public override bool MoveNext()
    {
        while (MoveToHit())
        {
            if (!_isStale
                || (TryGet(out Document document) && _index.Covers(document)))
                return true;
            _snapshot.ReleasePages();
            _searcher.ReleasePages();
        }

        return false;
    }

    private bool MoveToHit()
    {
        if (_hits.MoveNext())
            return true;
        if (_further?.After(_hits) is not { } more)
            return false;
        _hits.Dispose();
        _hits = more;
        if (!_isTotalExact) // else more need not have counted them
            (_total, _isTotalExact) = (more.TotalCount, more.IsTotalExact);
        return _hits.MoveNext();
    }

    /// <summary>
    /// Uses a cursor if hits are in entry order, because consecutive hits then tend to have neighbouring ids.
    /// </summary>
    private bool TryGet(out Document document) =>
        !_isInOrder
            ? _snapshot.TryGetByFoldedId(OutputKey.DocumentOf(_hits.Key), out document)
            : _snapshot.TryGetByFoldedId(_documents ??= _snapshot.OpenDocuments(), OutputKey.DocumentOf(_hits.Key), out document);

    public override void ReleasePages() => _searcher.ReleasePages();

    public override void Dispose()
    {
        _documents?.Dispose();
        _hits.Dispose();
        if (IsBorrowing)
            return;
        _tail?.Dispose();
        _searcher.Dispose();
        _index.Release();
    }
}
