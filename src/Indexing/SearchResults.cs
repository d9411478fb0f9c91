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
using Treepie.Storage.Trees;

namespace Treepie.Indexing;

/// <summary>
/// The hits of one query, in order, one at a time. Holds the entry ids of its page; keys are read as they are asked for.
/// </summary>
public sealed class SearchResults : IDisposable
{
    private readonly IndexView _view;
    private readonly IndexView? _tailView;
    private readonly SortKey? _distance;
    private readonly long _firstTailId = long.MaxValue;
    private readonly long[] _ids;
    private readonly float[] _scores;
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
    /// All hits of the query, before skip and take. Exact, unless the request does not count them: then at least so many.
    /// </summary>
    public long TotalCount { get; }

    /// <summary>Whether <see cref="TotalCount"/> is the number of hits; true wherever the request counts them.</summary>
    public bool IsTotalExact { get; } = true;

    /// <summary>What finding them took. The same on every run against the same view; reading the results is not in it.</summary>
    public QueryCounters Counters { get; }

    /// <summary>How they were found; null unless it was asked for.</summary>
    public PlanNode? Plan { get; }

    /// <summary>
    /// The position behind this page, for <see cref="Queries.SearchRequest.After"/>; null where it was not asked for, or where
    /// this page was not full and so is the last. It is good for the same query on the same index, also when that has changed:
    /// what was given already does not come again.
    /// </summary>
    public byte[]? Position { get; }

    /// <summary>
    /// The compound key with which requests of this kind would be much cheaper, and which the index lacks; null where there is
    /// none. See <see cref="IndexWriter.TryAddCompound"/>.
    /// </summary>
    public CompoundKey? MissingCompound { get; }

    /// <summary>Hits of this page.</summary>
    public int Count => _ids.Length;

    /// <summary>Key of the current entry; lives until the next move.</summary>
    public ReadOnlySpan<byte> Key => (EntryId < _firstTailId ? _view : _tailView ?? _view).Entries.Get(EntryId).Key;

    /// <summary>What the current entry keeps to be given back; lives until the next move.</summary>
    public StoredRecord Stored
    {
        get
        {
            Span<byte> entryKey = stackalloc byte[EntryKey.Bytes];
            EntryKey.Write(entryKey, EntryId);
            Tree? source = (EntryId < _firstTailId ? _view : _tailView ?? _view).Tree(TreeNames.Stored);
            return source is not null && source.TryGet(entryKey, out ReadOnlySpan<byte> record)
                ? new StoredRecord(record)
                : default;
        }
    }

    /// <summary>Number of the current entry in the index: grows with every put and is never used again.</summary>
    public long EntryId => _ids[_position];

    /// <summary>Score of the current entry; 0 where nothing is scored, which is when no sort key asks for it.</summary>
    public float Score => _scores.Length > 0 ? _scores[_position] : 0;

    /// <summary>
    /// Where the current entry is, for the first key of an order by distance; null without such a key, and for an entry that is
    /// nowhere.
    /// </summary>
    public PlaceOfHit? Place
    {
        get
        {
            if (_distance is null)
                return null;

            IndexView source = EntryId < _firstTailId ? _view : _tailView ?? _view;
            int number = SpatialCompiler.SpatialField(source, _distance.Field);
            using var column = new ChunkCursor(source.Tree(TreeNames.Points(number)));
            var places = new PlaceReader(column, source.Tree(TreeNames.Shapes(number)));
            return places.TryNearest(EntryId, DistanceKeyPart.CentreOf(_distance), out GridPoint place, out double haversine)
                ? new PlaceOfHit(
                    Earth.ToKm(haversine), new GeoPoint(Math.Round(place.Latitude, 7), Math.Round(place.Longitude, 7)))
                : null;
        }
    }

    /// <summary>Goes to the next hit; false after the last.</summary>
    public bool MoveNext()
    {
        if (_position + 1 >= _ids.Length)
            return false;

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
    }
}
