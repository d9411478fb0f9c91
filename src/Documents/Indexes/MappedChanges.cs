using Treepie.Indexes.Definitions;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// The changes that concern one index, in etag order: of documents in its collections or of all documents; of their counters
/// or time series, if these are mapped; and of documents and values that its map loads. A document that has left the
/// collections of the index appears as deleted. Disposed with its snapshot.
/// </summary>
internal sealed class MappedChanges : IDisposable
{
    private readonly List<(ChangeFeed Feed, bool IsOwn, bool IsReferenced)> _feeds = [];
    private readonly KindChanges? _values;
    private readonly KindChanges? _beside;
    private readonly IndexMapping _mapping;
    private readonly bool[] _isValid;
    private int _current = -1;

    public MappedChanges(DatabaseSnapshot snapshot, IndexMapping mapping, long afterEtag)
    {
        Snapshot = snapshot;
        _mapping = mapping;
        IReadOnlyList<string> loaded = mapping.AnyMap?.LoadedCollections ?? [];
        if (mapping.Collections.Count == 0)
            _feeds.Add((snapshot.Changes(null, afterEtag), true, loaded.Count > 0));
        else
            foreach (string collection in mapping.Collections.Concat(loaded).Distinct(StringComparer.OrdinalIgnoreCase))
                _feeds.Add(
                    (snapshot.Changes(collection, afterEtag), Has(mapping.Collections, collection), Has(loaded, collection)));
        _values = mapping.AnyMap?.LoadsCompareExchange == true
            ? new KindChanges(snapshot, Kind.CompareExchange, afterEtag)
            : null;
        _beside = mapping.AnyMap?.KindBeside is { } kind ? new KindChanges(snapshot, kind, afterEtag) : null;
        _isValid = new bool[_feeds.Count + 2];
    }

    /// <summary>The snapshot in which the changes are read.</summary>
    public DatabaseSnapshot Snapshot { get; }

    public long Etag => EtagOf(_current);

    /// <summary>
    /// Whether the change removes entries: the document or its counter or time series is deleted, or the document is
    /// excluded because of its archived state. Also true for a compare-exchange value.
    /// </summary>
    public bool IsTombstone => IsBeside
        ? Beside.IsDeletion
        : IsValue || Current.IsTombstone || (IsOwn && LeavesOut(Current.Document));

    /// <summary>The id of the document, or the key of the compare-exchange value.</summary>
    public ReadOnlySpan<byte> Id => IsValue ? _values!.Name : Current.Id; // not null at a value

    /// <summary>The key of the counter or time series, see <see cref="KindKey"/>.</summary>
    public ReadOnlySpan<byte> Key => Beside.Key;

    public Document Document => Current.Document;

    /// <summary>When the change was made (UTC ticks).</summary>
    public long ChangedAtTicks =>
        IsBeside ? Beside.Ticks : IsValue ? _values!.Ticks : Current.ChangedAtTicks; // not null at a value

    /// <summary>Whether the change is of a document, counter or time series that the index maps.</summary>
    public bool IsOwn => IsBeside || (_beside is null && IsOfCollection);

    /// <summary>Whether it is a document of the index, which maps the counters or time series of its documents.</summary>
    public bool IsOwner => _beside is not null && IsOfCollection;

    /// <summary>Whether maps of other documents may have loaded it.</summary>
    public bool IsReferenced => IsValue || (!IsBeside && _feeds[_current].IsReferenced);

    /// <summary>Whether it is a compare-exchange value.</summary>
    public bool IsValue => _current == _feeds.Count;

    /// <summary>Whether it is a counter or a segment of a time series.</summary>
    public bool IsBeside => _current == _feeds.Count + 1;

    private bool IsOfCollection => _current < _feeds.Count && _feeds[_current].IsOwn;

    private KindChanges Beside => _beside!; // only called at such a change

    private ChangeFeed Current => _feeds[_current].Feed;

    /// <summary>Returns whether the index covers a collection.</summary>
    public bool Covers(string collection) => _mapping.CoversCollection(collection);

    /// <summary>Returns whether a document of a covered collection is excluded from the index.</summary>
    public bool LeavesOut(Document document) => !_mapping.Wants(document);

    /// <summary>Moves to the next change; returns false after the last.</summary>
    public bool MoveNext()
    {
        if (_current >= 0)
        {
            Move(_current);
        }
        else
        {
            for (int i = 0; i < _isValid.Length; i++)
                Move(i);
        }

        // With few collections, checking each is cheaper than a heap.
        _current = -1;
        for (int i = 0; i < _isValid.Length; i++)
            if (_isValid[i] && (_current < 0 || EtagOf(i) < EtagOf(_current)))
                _current = i;
        return _current >= 0;
    }

    public void Dispose()
    {
        foreach ((ChangeFeed feed, _, _) in _feeds)
            feed.Dispose();
        _values?.Dispose();
        _beside?.Dispose();
    }

    private void Move(int feed) =>
        _isValid[feed] = feed < _feeds.Count ? _feeds[feed].Feed.MoveNext() : ValuesOf(feed)?.MoveNext() == true;

    private long EtagOf(int feed) =>
        feed < _feeds.Count ? _feeds[feed].Feed.Etag : ValuesOf(feed)!.Etag; // only called if it is valid

    private KindChanges? ValuesOf(int feed) => feed == _feeds.Count ? _values : _beside;

    private static bool Has(IReadOnlyList<string> collections, string collection) =>
        collections.Contains(collection, StringComparer.OrdinalIgnoreCase);
}
