using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Vectors;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Matches entries found while the query was compiled, and gives them the scores found then; for a vector search, the
/// similarities.
/// </summary>
internal sealed class NearestOperator : Operator
{
    private readonly long[] _ids;
    private readonly float[] _similarities;
    private readonly string? _field;
    private readonly string _way;
    private readonly string _operation;

    /// <param name="context">The query.</param>
    /// <param name="found">The entries found; ownership is transferred.</param>
    /// <param name="field">The field searched.</param>
    /// <param name="way">How they were found, for the plan.</param>
    /// <param name="operation">The kind of search, for the plan.</param>
    public NearestOperator(
        QueryContext context, List<NearEntry> found, string? field, string way, string operation = "nearest vectors")
        : base(context, MatchEstimate.Exactly(found.Count), new(CostModel.ShortWindow, CostModel.ShortProbe))
    {
        _operation = operation;
        _field = field;
        _way = way;
        found.Sort(static (x, y) => x.Id.CompareTo(y.Id));
        _ids = [.. found.Select(entry => entry.Id)];
        _similarities = [.. found.Select(entry => entry.Similarity)];
    }

    /// <summary>Plan nodes of the searches the result was made from.</summary>
    public IReadOnlyList<PlanNode> Sources { get; init; } = [];

    public override PlanNode Describe()
    {
        var node = new PlanNode(_operation, _field, _way) { Estimate = _ids.Length, IsExact = true };
        foreach (PlanNode source in Sources)
            node.Over(source);
        return node;
    }

    public override long Next(long from)
    {
        int place = LowerBound(from << PostingWindow.SizeBits);
        return place < _ids.Length ? _ids[place] >> PostingWindow.SizeBits : End;
    }

    public override void Fill(long window, WindowSet set)
    {
        set.SetEmpty();
        for (int i = LowerBound(window << PostingWindow.SizeBits);
             i < _ids.Length && _ids[i] >> PostingWindow.SizeBits == window;
             i++)
            set.Add((ushort)(_ids[i] & (PostingWindow.Size - 1)));
    }

    public override bool Contains(long id) => Array.BinarySearch(_ids, id) >= 0;

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        long start = window << PostingWindow.SizeBits;
        int place = LowerBound(start);
        for (int i = 0; i < hits.Length; i++)
        {
            while (place < _ids.Length && _ids[place] < start + hits[i])
                place++;
            if (place < _ids.Length && _ids[place] == start + hits[i])
                scores[i] += boost * _similarities[place];
        }
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
        long start = window << PostingWindow.SizeBits;
        Span<float> mine = stackalloc float[PostingWindow.Blocks];
        mine.Clear();
        for (int i = LowerBound(start); i < _ids.Length && _ids[i] - start < PostingWindow.Size; i++)
        {
            ref float bound = ref mine[(int)(_ids[i] - start) >> PostingWindow.BlockBits];
            bound = Math.Max(bound, boost * _similarities[i]);
        }

        for (int i = 0; i < bounds.Length; i++)
            bounds[i] += mine[i];
    }

    private int LowerBound(long id)
    {
        int place = Array.BinarySearch(_ids, id);
        return place < 0 ? ~place : place;
    }
}
