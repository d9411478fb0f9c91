using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Compares the places of a window with a shape: 64 entries of a column are one word of the window's bitmap. Entries with
/// shapes or several values are tested one by one.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="all">Matches every entry: tells which windows exist.</param>
/// <param name="places">The places of the field.</param>
/// <param name="query">The shape and the relation to it.</param>
/// <param name="estimate">Upper bound on the number of matches.</param>
internal sealed class SpatialScanOperator(
    QueryContext context, Operator all, PlaceReader places, SpatialQuery query, long estimate)
    : Operator(context, MatchEstimate.AtMost(estimate), new(CostModel.ColumnWindow, CostModel.ColumnProbe))
{
    private const int ChunksPerWindow = PostingWindow.Size / PointChunk.Entries;

    private readonly PlaceTest _test = new(query, context);
    private readonly ulong[] _words = new ulong[BitmapKernels.Words];

    public override PlanNode Describe() =>
        new("places compared with a shape", query.Field, query.Relation.ToString().ToLowerInvariant()) { Estimate = Estimate };

    public override long Next(long from) => all.Next(from);

    public override void Fill(long window, WindowSet set)
    {
        for (int i = 0; i < ChunksPerWindow; i++)
            _words[i] = Matches((window * ChunksPerWindow) + i, ulong.MaxValue);
        set.SetBits(MemoryMarshal.AsBytes<ulong>(_words));
    }

    /// <summary>If the set is narrowed, reads only chunks that contain survivors.</summary>
    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (operation != SetOperation.And)
        {
            base.Combine(window, set, operation);
            return;
        }

        set.CopyWords(_words);
        for (int i = 0; i < ChunksPerWindow; i++)
        {
            if (_words[i] != 0)
                _words[i] = Matches((window * ChunksPerWindow) + i, _words[i]);
        }

        set.SetBits(MemoryMarshal.AsBytes<ulong>(_words));
    }

    public override bool Contains(long id) =>
        Matches(id >> PointChunk.EntryBits, 1UL << (int)(id & (PointChunk.Entries - 1))) != 0;

    private ulong Matches(long number, ulong asked)
    {
        Context.Meter.Count.EntriesScanned += BitOperations.PopCount(asked);
        PointChunk chunk = places.Chunk(number);
        ulong found = _test.Holds(
            chunk.Count == 0 ? default : chunk.Xs, chunk.Count == 0 ? default : chunk.Ys, asked & chunk.Points);
        for (ulong others = asked & chunk.Shapes; others != 0; others &= others - 1)
        {
            Context.Check(); // testing one shape may take as long as a window
            int slot = BitOperations.TrailingZeroCount(others);
            if (Holds((number << PointChunk.EntryBits) + slot))
                found |= 1UL << slot;
        }

        return found;
    }

    /// <summary>
    /// An entry matches if any of its values satisfies the relation. It is disjoint if none of its values intersects the
    /// shape.
    /// </summary>
    private bool Holds(long id) => query.Relation == SpatialRelation.Disjoint
        ? !places.AnyHolds(id, SpatialRelation.Intersects, query.Shape, Context.CancellationToken)
        : places.AnyHolds(id, query.Relation, query.Shape, Context.CancellationToken);
}
