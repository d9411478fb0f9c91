using Treepie.Indexes.Definitions;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// The changes that concern one index, in order of their etag: of its collection, of its several collections together, or of all
/// documents; of what lies beside these, if that is mapped; and of what its map looks at beside them. A document that left the
/// collections of the index stands as deleted. Ends with its snapshot.
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

    /// <summary>Where the changes are looked at.</summary>
    public DatabaseSnapshot Snapshot { get; }

    public long Etag => EtagOf(_current);

    /// <summary>
    /// Whether the document is gone, or out of the index as it is archived or not; or what lies beside it is gone; or it is
    /// neither.
    /// </summary>
    public bool IsTombstone => IsBeside
        ? Beside.IsDeletion
        : IsValue || Current.IsTombstone || (IsOwn && LeavesOut(Current.Document));

    /// <summary>Id of the document, or key of the compare-exchange value.</summary>
    public ReadOnlySpan<byte> Id => IsValue ? _values!.Name : Current.Id; // a value is of these

    /// <summary>The key of what lies beside a document, see <see cref="KindKey"/>.</summary>
    public ReadOnlySpan<byte> Key => Beside.Key;

    public Document Document => Current.Document;

    /// <summary>When the change was made (UTC ticks).</summary>
    public long ChangedAtTicks =>
        IsBeside ? Beside.Ticks : IsValue ? _values!.Ticks : Current.ChangedAtTicks; // a value is of these

    /// <summary>Whether the index maps documents like this one, or it is what the index maps beside documents.</summary>
    public bool IsOwn => IsBeside || (_beside is null && IsOfCollection);

    /// <summary>Whether it is a document of the index, which maps what lies beside it.</summary>
    public bool IsOwner => _beside is not null && IsOfCollection;

    /// <summary>Whether maps of other documents may have looked at it.</summary>
    public bool IsReferenced => IsValue || (!IsBeside && _feeds[_current].IsReferenced);

    /// <summary>Whether it is a compare-exchange value.</summary>
    public bool IsValue => _current == _feeds.Count;

    /// <summary>Whether it is something that lies beside a document.</summary>
    public bool IsBeside => _current == _feeds.Count + 1;

    private bool IsOfCollection => _current < _feeds.Count && _feeds[_current].IsOwn;

    private KindChanges Beside => _beside!; // only where it stands on one

    private ChangeFeed Current => _feeds[_current].Feed;

    /// <summary>Whether documents of a collection belong into the index.</summary>
    public bool Covers(string collection) => _mapping.CoversCollection(collection);

    /// <summary>Whether a document of a collection of the index is not in it.</summary>
    public bool LeavesOut(Document document) => !_mapping.Wants(document);

    /// <summary>Goes to the next; false after the last.</summary>
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

        // Few collections: looking at each is cheaper than a heap.
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
        feed < _feeds.Count ? _feeds[feed].Feed.Etag : ValuesOf(feed)!.Etag; // only asked where it is valid

    private KindChanges? ValuesOf(int feed) => feed == _feeds.Count ? _values : _beside;

    private static bool Has(IReadOnlyList<string> collections, string collection) =>
        collections.Contains(collection, StringComparer.OrdinalIgnoreCase);
}
