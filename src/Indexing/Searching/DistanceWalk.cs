using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Spatial;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the nearest hits without visiting the others. Cells of the Hilbert curve and places wait in a priority queue,
/// ordered by their minimum distance. The nearest cell is replaced by its quarters, or by its places if it has few; the
/// nearest place is the next candidate, for which the filter is probed. Places at the same distance (after rounding) form a
/// group, which is sorted by the other keys.
/// </summary>
internal sealed class DistanceWalk
{
    /// <summary>A cell with at most this many places is not divided.</summary>
    public const int FewPlaces = 48;

    /// <summary>Factor that lowers the minimum distance of a cell, to allow for rounding.</summary>
    private const double Slack = 1 - 1e-9;

    private readonly QueryContext _context;
    private readonly FilterProbe _filter;
    private readonly SortKey _sort;
    private readonly KeyPart[] _parts;
    private readonly PlaceReader _places;
    private readonly Tree _cells;
    private readonly long _limit;
    private readonly Circle _centre;
    private readonly CentreOnGrid _grid;
    private readonly HashSet<long>? _seen;
    private readonly PriorityQueue<Waiting, double> _queue = new();
    private readonly List<long> _found = [];
    private readonly List<long> _group = [];
    private SortRoom? _room;
    private int _steps;

    /// <param name="context">The query.</param>
    /// <param name="filter">What entries must match.</param>
    /// <param name="sort">The first key, for which <see cref="Obstacle"/> must return null.</param>
    /// <param name="parts">The parts of all keys.</param>
    /// <param name="limit">Number of hits wanted; at most the number of hits.</param>
    public DistanceWalk(QueryContext context, FilterProbe filter, SortKey sort, KeyPart[] parts, long limit)
    {
        _context = context;
        _filter = filter;
        _sort = sort;
        _parts = parts;
        _limit = limit;
        int field = SpatialCompiler.SpatialField(context.View, sort.Field);
        _cells = context.View.Tree(TreeNames.Cells(field))!; // not null without an obstacle
        _places = SpatialCompiler.Reader(context, field);
        _grid = DistanceKeyPart.CentreOf(sort);
        _centre = new Circle(sort.Centre ?? default, 0);
        _seen = context.View.Statistics(field).EverHadSeveralValues ? [] : null;
    }

    /// <summary>A cell, or a place of an entry if the id is not negative.</summary>
    private readonly record struct Waiting(CellSquare Square, long Id);

    private bool IsFull => _found.Count >= _limit;

    /// <summary>Returns why this order cannot be walked, or null if it can.</summary>
    public static string? Obstacle(QueryContext context, SortKey first) =>
        first is not { Kind: SortKind.Distance, Descending: false } ? "the walk goes from the nearest to the farthest"
        : first.NullsFirst == true ? "entries that are nowhere are wanted first"
        : context.View.Tree(TreeNames.Cells(SpatialCompiler.SpatialField(context.View, first.Field))) is null
        ? "no entry has a place"
            : null;

    /// <summary>Returns the ids of the first hits in order.</summary>
    public List<long> Run()
    {
        _queue.Enqueue(new Waiting(CellSquare.Root, -1), 0);
        double rank = 0;
        while (!IsFull && _queue.TryDequeue(out Waiting next, out double haversine))
        {
            _context.Meter.Count.EntriesScanned += next.Id < 0 ? 0 : 1;
            CountStep();
            double nextRank = DistanceKeyPart.Rank(haversine, _sort.RoundToKm);
            if (nextRank > rank)
            {
                EndGroup();
                rank = nextRank;
                if (IsFull)
                    break;
            }

            if (next.Id < 0)
                Open(next.Square);
            else if ((_seen is null || _seen.Add(next.Id)) && _filter.Contains(next.Id))
                _group.Add(next.Id);
        }

        EndGroup();
        if (!IsFull)
            TakeNowhere();
        return _found;
    }

    /// <summary>Adds the places of a cell to the queue, or its quarters if it has many places.</summary>
    private void Open(CellSquare square)
    {
        Debug.Assert(square.Level <= HilbertCurve.Levels, "a square has at least one cell");
        Span<byte> key = stackalloc byte[SpatialKey.CellBytes];
        using Cursor cursor = _cells.OpenCursor();
        var inside = new List<(long Id, GridPoint Place)>();
        bool more = cursor.Seek(SpatialKey.WriteCell(key, square.First, 0));
        for (; more && SpatialKey.Cell(cursor.Key) <= square.Last; more = cursor.MoveNext())
        {
            if (inside.Count == FewPlaces && square.Level < HilbertCurve.Levels)
            {
                for (int i = 0; i < 4; i++)
                {
                    CellSquare quarter = square.Quarter(i);
                    _queue.Enqueue(new Waiting(quarter, -1), Slack * _centre.Range(quarter.Box).Nearest);
                }

                return;
            }

            CountStep(); // a cell of the smallest size may have any number of places
            inside.Add((SpatialKey.EntryOfCell(cursor.Key), HilbertCurve.Decode(SpatialKey.Cell(cursor.Key))));
        }

        foreach ((long id, GridPoint place) in inside)
        {
            CountStep();
            _queue.Enqueue(new Waiting(default, id), _grid.Haversine(place.X, place.Y));
        }
    }

    /// <summary>Checks for cancellation and budgets from time to time.</summary>
    private void CountStep()
    {
        if ((++_steps & 255) == 0)
            _context.Check();
    }

    /// <summary>Adds the hits that have no place.</summary>
    private void TakeNowhere()
    {
        Debug.Assert(_group.Count == 0 && !IsFull, "entries that are nowhere come last");
        Operator all = new QueryCompiler(_context, isScored: false).Compile(new MatchAllQuery());
        ushort[] offsets = new ushort[PostingWindow.Size];
        WindowSet set = _context.Rent();
        for (long window = all.Next(0); window != Operator.End; window = all.Next(window + 1))
        {
            _context.Check();
            all.Fill(window, set);
            _filter.And(window, set);
            int count = set.CopyTo(offsets);
            for (int i = 0; i < count; i++)
            {
                long id = (window << PostingWindow.SizeBits) + offsets[i];
                PointChunk chunk = _places.Chunk(id >> PointChunk.EntryBits);
                if (((chunk.Points | chunk.Shapes) >> (int)(id & (PointChunk.Entries - 1)) & 1) == 0)
                    _group.Add(id);
            }
        }

        _context.Return(set);
        EndGroup();
    }

    private void EndGroup()
    {
        if (_group.Count > 1)
        {
            _room ??= _context.Rent<SortRoom>();
            _room.Clear();
            var sorter = new HitSorter(_parts[1..], _limit - _found.Count, _room);
            foreach (long id in _group)
                sorter.Add(id, 0);
            foreach (SortedHit hit in sorter.Finish())
                _found.Add(hit.Id);
        }
        else
        {
            _found.AddRange(_group);
        }

        Debug.Assert(_found.Count <= _limit, "no more entries are found than wanted");
        _group.Clear();
    }
}
