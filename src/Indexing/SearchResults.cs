using System.Buffers;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Searching;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing;

/// <summary>
/// The hits of a query, in order, read one at a time. Holds the entry ids of its page, and the keys that the search met
/// beside them; other keys are read when accessed.
/// </summary>
public sealed class SearchResults : IDisposable
{
    private readonly IndexView _view;
    private readonly IndexView? _tailView;
    private readonly SortKey? _distance;
    private readonly long _firstTailId = long.MaxValue;
    private readonly long[] _ids;
    private readonly float[] _scores;
    private byte[]? _keys;
    private int _keyAt;
    private int _position = -1;

    internal SearchResults(IndexView view, SearchRun run, IReadOnlyList<SortKey> sort, QueryCounters counters, byte[]? position)
    {
        _view = view;
        _distance = DistanceOf(sort);
        Plan = run.Plan;
        Counters = counters;
        Position = position;
        TotalCount = run.Total;
        IsTotalExact = run.IsTotalExact;
        _ids = run.Ids;
        _keys = run.Keys;
        _scores = run.Scores;
        MissingCompound = run.MissingCompound;
    }

    internal SearchResults(IndexView view, TailView tail, TailedSearch search, IReadOnlyList<SortKey> sort, byte[]? position)
    {
        Position = position;
        Plan = search.Plan;
        Counters = search.Counters;
        _view = view;
        _tailView = tail.Index;
        _distance = DistanceOf(sort);
        _firstTailId = view.State.NextEntryId;
        TotalCount = search.Total;
        _ids = search.Ids;
        _scores = search.Scores;
    }

    /// <summary>
    /// The number of hits of the query, before skip and take. Exact, unless the request does not count them: then a lower bound.
    /// </summary>
    public long TotalCount { get; }

    /// <summary>
    /// Whether <see cref="TotalCount"/> is the exact number of hits; always true if the request counts them.
    /// </summary>
    public bool IsTotalExact { get; } = true;

    /// <summary>
    /// The work done to find the hits, without reading them. Deterministic for the same view.
    /// </summary>
    public QueryCounters Counters { get; }

    /// <summary>The query plan; null unless requested.</summary>
    public PlanNode? Plan { get; }

    /// <summary>
    /// The position after this page, for <see cref="Queries.SearchRequest.After"/>; null if not requested, or if this page was
    /// not full and therefore is the last. Valid for the same query on the same index, even after it has changed: hits that were
    /// already returned are not returned again.
    /// </summary>
    public byte[]? Position { get; }

    /// <summary>
    /// The compound key that would make requests of this kind much cheaper, and which the index lacks; null if there is none. See
    /// <see cref="IndexWriter.TryAddCompound"/>.
    /// </summary>
    public CompoundKey? MissingCompound { get; }

    /// <summary>The number of hits of this page.</summary>
    public int Count => _ids.Length;

    /// <summary>The key of the current entry; valid until the next move.</summary>
    public ReadOnlySpan<byte> Key => _keys is { } keys && keys[_keyAt] > 0
        ? keys.AsSpan(_keyAt + 1, keys[_keyAt])
        : Source.Entries.Get(EntryId).Key;

    /// <summary>The data stored with the current entry; valid until the next move.</summary>
    public StoredRecord Stored =>
        Source.TryGetStored(EntryId, out ReadOnlySpan<byte> record) ? new StoredRecord(record) : default;

    /// <summary>The id of the current entry in the index: increases with every put and is never reused.</summary>
    public long EntryId => _ids[_position];

    /// <summary>The score of the current entry; 0 if nothing is scored, because no sort key requires it.</summary>
    public float Score => _scores.Length > 0 ? _scores[_position] : 0;

    /// <summary>
    /// The place of the current entry, for the first key of an order by distance; null without such a key, and for an entry
    /// without a place.
    /// </summary>
    public PlaceOfHit? Place
    {
        get
        {
            if (_distance is null)
                return null;

            IndexView source = Source;
            int number = SpatialCompiler.SpatialField(source, _distance.Field);
            using var column = new ChunkCursor(source.Tree(TreeNames.Points(number)));
            var places = new PlaceReader(column, source.Tree(TreeNames.Shapes(number)));
            return places.TryNearest(EntryId, DistanceKeyPart.CentreOf(_distance), out GridPoint place, out double haversine)
                ? new PlaceOfHit(
                    Earth.ToKm(haversine), new GeoPoint(Math.Round(place.Latitude, 7), Math.Round(place.Longitude, 7)))
                : null;
        }
    }

    /// <summary>The view that has the current entry.</summary>
    private IndexView Source => EntryId < _firstTailId ? _view : _tailView ?? _view;

    /// <summary>Advances to the next hit; returns false after the last one.</summary>
    public bool MoveNext()
    {
        if (_position + 1 >= _ids.Length)
            return false;

        if (_keys is { } keys && _position >= 0)
            _keyAt += 1 + keys[_keyAt];
        _position++;
        return true;
    }

    private static SortKey? DistanceOf(IReadOnlyList<SortKey> sort)
    {
        for (int i = 0; i < sort.Count; i++)
        {
            if (sort[i].Kind == SortKind.Distance)
                return sort[i];
        }

        return null;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _keys, null) is { } keys)
            ArrayPool<byte>.Shared.Return(keys);
    }
}
