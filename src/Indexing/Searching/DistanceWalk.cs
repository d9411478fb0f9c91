using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Spatial;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the nearest hits without looking at the others: squares of the curve and places wait in a queue by their least distance; the nearest square is replaced by its quarters,
/// or by its places where it has few, and the nearest place is the next one. The filter is asked about places as they come. Places that are equally far (after rounding) are a group,
/// ordered by the other keys.
/// </summary>
internal sealed class DistanceWalk
{
    /// <summary>A square with so many places is not quartered.</summary>
    private const int FewPlaces = 48;

    /// <summary>The least distance of a square is taken a little shorter, for what rounding does to it.</summary>
    private const double Slack = 1 - 1e-9;

    private readonly QueryContext context;
    private readonly FilterProbe filter;
    private readonly SortKey sort;
    private readonly KeyPart[] parts;
    private readonly PlaceReader places;
    private readonly Tree cells;
    private readonly long limit;
    private readonly Circle centre;
    private readonly CentreOnGrid grid;
    private readonly HashSet<long>? seen;
    private readonly PriorityQueue<Waiting, double> queue = new();
    private readonly List<long> found = [];
    private readonly List<long> group = [];

    private DistanceWalk(QueryContext context, FilterProbe filter, SortKey sort, KeyPart[] parts, int field, Tree cells, long limit)
    {
        this.context = context;
        this.filter = filter;
        this.sort = sort;
        this.parts = parts;
        this.cells = cells;
        this.limit = limit;
        places = SpatialCompiler.Reader(context, field);
        grid = DistanceKeyPart.CentreOf(sort);
        centre = new Circle(sort.Centre ?? default, 0);
        seen = context.View.Statistics(field).EverHadSeveralValues ? [] : null;
    }

    /// <summary>A square, or a place of an entry (level −1).</summary>
    private readonly record struct Waiting(CellSquare Square, long Id);

    private bool IsFull => found.Count >= limit;

    /// <summary>
    /// Opens the walk for an order that begins with the nearest, if it is cheaper than measuring all <paramref name="total"/> hits: a walk meets a hit every N / total places, at about
    /// five times the cost of measuring one.
    /// </summary>
    public static DistanceWalk? TryOpen(QueryContext context, FilterProbe filter, SearchRequest request, KeyPart[] parts, long total, long limit)
    {
        SortKey first = request.Sort[0];
        if (request.OrderHint == OrderHint.Sort || first is not { Kind: SortKind.Distance, Descending: false } || first.NullsFirst == true)
            return null;

        int field = SpatialCompiler.SpatialField(context.View, first.Field);
        if (total == 0 || context.View.Tree(TreeNames.Cells(field)) is not { } cells)
            return null;

        long wanted = Math.Min(limit, total);
        double visited = 2 * FewPlaces + ((double)wanted * context.View.State.EntryCount / total);
        return request.OrderHint == OrderHint.Walk || 5 * visited < total
            ? new DistanceWalk(context, filter, first, parts, field, cells, wanted)
            : null;
    }

    /// <summary>Ids of the first hits in order.</summary>
    public List<long> Run()
    {
        queue.Enqueue(new Waiting(CellSquare.Root, -1), 0);
        double rank = 0;
        int steps = 0;
        while (!IsFull && queue.TryDequeue(out Waiting next, out double haversine))
        {
            if ((++steps & 255) == 0)
                context.CancellationToken.ThrowIfCancellationRequested();
            double nextRank = DistanceKeyPart.Rank(haversine, sort.RoundToKm);
            if (nextRank > rank)
            {
                EndGroup();
                rank = nextRank;
                if (IsFull)
                    break;
            }

            if (next.Id < 0)
                Open(next.Square);
            else if ((seen is null || seen.Add(next.Id)) && filter.Contains(next.Id))
                group.Add(next.Id);
        }

        EndGroup();
        if (!IsFull)
            TakeNowhere();
        return found;
    }

    /// <summary>Puts the places of a square into the queue, or its quarters if there are many.</summary>
    private void Open(CellSquare square)
    {
        Span<byte> key = stackalloc byte[SpatialKey.CellBytes];
        using Cursor cursor = cells.OpenCursor();
        var inside = new List<(long Id, GridPoint Place)>();
        bool more = cursor.Seek(SpatialKey.WriteCell(key, square.First, 0));
        for (; more && SpatialKey.Cell(cursor.Key) <= square.Last; more = cursor.MoveNext())
        {
            if (inside.Count == FewPlaces && square.Level < HilbertCurve.Levels)
            {
                for (int i = 0; i < 4; i++)
                {
                    CellSquare quarter = square.Quarter(i);
                    queue.Enqueue(new Waiting(quarter, -1), Slack * centre.Range(quarter.Box).Nearest);
                }

                return;
            }

            inside.Add((SpatialKey.EntryOfCell(cursor.Key), HilbertCurve.Decode(SpatialKey.Cell(cursor.Key))));
        }

        foreach ((long id, GridPoint place) in inside)
            queue.Enqueue(new Waiting(default, id), grid.Haversine(place.X, place.Y));
    }

    /// <summary>Hits without a place.</summary>
    private void TakeNowhere()
    {
        Operator all = new QueryCompiler(context, isScored: false).Compile(new MatchAllQuery());
        ushort[] offsets = new ushort[PostingWindow.Size];
        WindowSet set = context.Rent();
        for (long window = all.Next(0); window != Operator.End; window = all.Next(window + 1))
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            all.Fill(window, set);
            filter.And(window, set);
            int count = set.CopyTo(offsets);
            for (int i = 0; i < count; i++)
            {
                long id = (window << PostingWindow.SizeBits) + offsets[i];
                PointChunk chunk = places.Chunk(id >> PointChunk.EntryBits);
                if (((chunk.Points | chunk.Shapes) >> (int)(id & (PointChunk.Entries - 1)) & 1) == 0)
                    group.Add(id);
            }
        }

        context.Return(set);
        EndGroup();
    }

    private void EndGroup()
    {
        if (group.Count > 1)
        {
            var sorter = new HitSorter(parts[1..], limit - found.Count);
            foreach (long id in group)
                sorter.Add(id, 0);
            foreach (SortedHit hit in sorter.Finish())
                found.Add(hit.Id);
        }
        else
        {
            found.AddRange(group);
        }

        group.Clear();
    }
}
