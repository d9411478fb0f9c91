using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>Matches given entries. Scores nothing.</summary>
/// <param name="context">The query.</param>
/// <param name="ids">Ids of the entries, ascending.</param>
internal sealed class EntriesOperator(QueryContext context, long[] ids)
    : Operator(context, MatchEstimate.Exactly(ids.Length), CostModel.Unknown)
{
    private readonly ushort[] _offsets = new ushort[PostingWindow.Size];

    public override long Next(long from)
    {
        int place = PlaceOf(from << PostingWindow.SizeBits);
        return place < ids.Length ? ids[place] >> PostingWindow.SizeBits : End;
    }

    public override void Fill(long window, WindowSet set)
    {
        long start = window << PostingWindow.SizeBits;
        int count = 0;
        for (int i = PlaceOf(start); i < ids.Length && ids[i] < start + PostingWindow.Size; i++)
            _offsets[count++] = (ushort)(ids[i] - start);
        if (count == 0)
            set.SetEmpty();
        else
            set.SetOffsets(_offsets.AsSpan(0, count));
    }

    public override PlanNode Describe() => new("given entries", label: $"{ids.Length:N0}");

    public override bool Contains(long id) => Array.BinarySearch(ids, id) >= 0;

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
    }

    private int PlaceOf(long id)
    {
        int place = Array.BinarySearch(ids, id);
        return place >= 0 ? place : ~place;
    }
}
