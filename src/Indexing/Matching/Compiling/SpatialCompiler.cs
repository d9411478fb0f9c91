using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>
/// Finds entries by the location of their values. The shape is covered by at most 16 ranges of the Hilbert curve. Entries in
/// ranges entirely inside the shape match without being read; those on its border are verified. If the ranges contain too
/// many places, the columns of the requested windows are compared instead.
/// </summary>
internal sealed class SpatialCompiler(QueryContext context, bool isScored)
{
    private readonly IndexView _view = context.View;

    /// <exception cref="IndexQueryException">The field is not spatial.</exception>
    public Operator Compile(SpatialQuery query)
    {
        int field = SpatialField(_view, query.Field);
        if (query.Relation == SpatialRelation.Disjoint)
            return new SpatialScanOperator(context, All(), Reader(context, field), query, _view.State.EntryCount);

        List<CellRange> ranges = CellCover.Ranges(query.Shape, context.CancellationToken);
        UnionOperator? gathered = Gather(field, query, ranges);
        if (gathered is not null)
            gathered.Name = ("places in the squares of a shape", query.Field, query.Relation.ToString().ToLowerInvariant());
        Operator found = gathered is not null
            ? gathered
            : new SpatialScanOperator(context, All(), Reader(context, field), query, _view.State.EntryCount);
        return isScored && query.Shape is { Circles: [{ RadiusKm: > 0 } circle], Points: [], Lines: [], Polygons: [] }
            ? new DistanceScoreOperator(context, found, Reader(context, field), circle)
            : found;
    }

    /// <summary>Returns the index of a spatial field.</summary>
    public static int SpatialField(IndexView view, string name)
    {
        int field = view.Field(name);
        return view.Schema.Fields[field].Analysis == FieldAnalysis.Spatial
            ? field
            : throw new IndexQueryException($"The field '{name}' has no places: it is not spatial.");
    }

    /// <summary>Opens the places of a field until the query ends.</summary>
    public static PlaceReader Reader(QueryContext context, int field) =>
        new(context.OpenColumn(context.View.Tree(TreeNames.Points(field))), context.View.Tree(TreeNames.Shapes(field)));

    private Operator All() => new QueryCompiler(context, isScored: false).Compile(new MatchAllQuery());

    /// <summary>
    /// Maximum number of keys to read: reading a key costs about ten times as much as comparing a place of a column.
    /// </summary>
    private long MostKeys() => 256 + (_view.State.EntryCount / 10);

    /// <summary>Gathers the matches; null if the ranges contain more places than are worth gathering.</summary>
    private UnionOperator? Gather(int field, SpatialQuery query, List<CellRange> ranges)
    {
        var union = new UnionOperator(context);
        if (_view.Tree(TreeNames.Cells(field)) is { } cells && !GatherPoints(cells, query, ranges, union))
            return null;
        if (_view.Tree(TreeNames.Covers(field)) is { Count: > 0 } covers && !GatherShapes(covers, field, query, ranges, union))
            return null;
        union.Seal();
        return union;
    }

    private bool GatherPoints(Tree cells, SpatialQuery query, List<CellRange> ranges, UnionOperator union)
    {
        var border = new BorderPoints(query, union, context);
        bool takesInside = query.Relation is SpatialRelation.Within or SpatialRelation.Intersects;
        long left = MostKeys();
        Span<byte> key = stackalloc byte[SpatialKey.CellBytes];
        using Cursor cursor = cells.OpenCursor();
        foreach (CellRange range in ranges)
        {
            for (bool found = cursor.Seek(SpatialKey.WriteCell(key, range.First, 0)); found; found = cursor.MoveNext())
            {
                ulong cell = SpatialKey.Cell(cursor.Key);
                if (cell > range.Last)
                    break;
                if (--left < 0)
                    return false;
                context.Meter.Count.EntriesScanned++;
                if ((left & 1023) == 0)
                    context.Check();
                if (!cursor.Value.IsEmpty)
                    continue; // the centre of a shape, found by its cover
                if (range.IsInside && takesInside)
                    union.Add(SpatialKey.EntryOfCell(cursor.Key));
                else
                    border.Add(SpatialKey.EntryOfCell(cursor.Key), HilbertCurve.Decode(cell));
            }
        }

        border.Flush();
        return true;
    }

    /// <summary>Verifies each shape once whose squares lie in the ranges or contain them.</summary>
    private bool GatherShapes(Tree covers, int field, SpatialQuery query, List<CellRange> ranges, UnionOperator union)
    {
        PlaceReader reader = Reader(context, field);
        var seen = new HashSet<long>();
        var around = new HashSet<CellSquare>();
        long left = MostKeys();
        Span<byte> key = stackalloc byte[SpatialKey.CoverBytes];
        using Cursor cursor = covers.OpenCursor();
        foreach (CellRange range in ranges)
        {
            for (bool found = cursor.Seek(SpatialKey.WriteCover(key, new CellSquare(range.First, 0), 0));
                 found;
                 found = cursor.MoveNext())
            {
                if (SpatialKey.Square(cursor.Key).First > range.Last)
                    break;
                seen.Add(SpatialKey.EntryOfCover(cursor.Key));
                if (--left < 0)
                    return false;
            }

            // A square that begins before the range and reaches into it contains the range's first cell.
            for (int level = 0; level < HilbertCurve.Levels; level++)
            {
                CellSquare square = new CellSquare(range.First, HilbertCurve.Levels).Ancestor(level);
                if (square.First == range.First)
                    break;
                if (!around.Add(square))
                    continue;
                for (bool found = cursor.Seek(SpatialKey.WriteCover(key, square, 0));
                     found && SpatialKey.Square(cursor.Key) == square;
                     found = cursor.MoveNext())
                {
                    seen.Add(SpatialKey.EntryOfCover(cursor.Key));
                    if (--left < 0)
                        return false;
                }
            }
        }

        foreach (long id in seen.Order())
        {
            context.Check();
            if (reader.AnyHolds(id, query.Relation, query.Shape, context.CancellationToken))
                union.Add(id);
        }

        return true;
    }

    /// <summary>Buffers places on the border of the shape and verifies 64 at a time.</summary>
    private sealed class BorderPoints(SpatialQuery query, UnionOperator union, QueryContext context)
    {
        private readonly uint[] _xs = new uint[PointChunk.Entries];
        private readonly uint[] _ys = new uint[PointChunk.Entries];
        private readonly long[] _ids = new long[PointChunk.Entries];
        private readonly PlaceTest _test = new(query, context);
        private int _count;

        public void Add(long id, GridPoint point)
        {
            _ids[_count] = id;
            _xs[_count] = point.X;
            _ys[_count] = point.Y;
            if (++_count == _ids.Length)
                Flush();
        }

        public void Flush()
        {
            ulong asked = _count == PointChunk.Entries ? ulong.MaxValue : (1UL << _count) - 1;
            for (ulong found = _test.Holds(_xs.AsSpan(0, _count), _ys.AsSpan(0, _count), asked); found != 0; found &= found - 1)
                union.Add(_ids[System.Numerics.BitOperations.TrailingZeroCount(found)]);
            _count = 0;
        }
    }
}
