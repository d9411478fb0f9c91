using Treepie.Indexes.Definitions;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// The changes that concern one index, in order of their etag: of its collection, of its several collections together, or of all documents. A document that left the
/// collections of the index stands as deleted. Ends with its snapshot.
/// </summary>
internal sealed class MappedChanges : IDisposable
{
    private readonly ChangeFeed[] _feeds;
    private readonly bool[] _isValid;
    private int _current = -1;

    public MappedChanges(DatabaseSnapshot snapshot, IndexMapping mapping, long afterEtag)
    {
        _feeds = mapping.Collections.Count == 0
            ? [snapshot.Changes(null, afterEtag)]
            : [.. mapping.Collections.Select(collection => snapshot.Changes(collection, afterEtag))];
        _isValid = new bool[_feeds.Length];
    }

    public long Etag => Current.Etag;

    public bool IsTombstone => Current.IsTombstone;

    public ReadOnlySpan<byte> Id => Current.Id;

    public Document Document => Current.Document;

    /// <summary>When the change was made (UTC ticks).</summary>
    public long ChangedAtTicks => Current.ChangedAtTicks;

    private ChangeFeed Current => _feeds[_current];

    /// <summary>Goes to the next; false after the last.</summary>
    public bool MoveNext()
    {
        if (_current >= 0)
        {
            _isValid[_current] = _feeds[_current].MoveNext();
        }
        else
        {
            for (int i = 0; i < _feeds.Length; i++)
                _isValid[i] = _feeds[i].MoveNext();
        }

        // Few collections: looking at each is cheaper than a heap.
        _current = -1;
        for (int i = 0; i < _feeds.Length; i++)
            if (_isValid[i] && (_current < 0 || _feeds[i].Etag < _feeds[_current].Etag))
                _current = i;
        return _current >= 0;
    }

    public void Dispose()
    {
        foreach (ChangeFeed feed in _feeds)
            feed.Dispose();
    }
}
