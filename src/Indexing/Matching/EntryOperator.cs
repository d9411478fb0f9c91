using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>Matches one entry.</summary>
internal sealed class EntryOperator(QueryContext context, long id)
    : Operator(context, MatchEstimate.Exactly(1), CostModel.Unknown)
{
    public override long Next(long from) => from <= id >> PostingWindow.SizeBits ? id >> PostingWindow.SizeBits : End;

    public override void Fill(long window, WindowSet set)
    {
        if (window == id >> PostingWindow.SizeBits)
            set.SetOffsets([(ushort)(id & (PostingWindow.Size - 1))]);
        else
            set.SetEmpty();
    }

    public override bool Contains(long other) => other == id;
}
