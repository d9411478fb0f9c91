using System.Diagnostics;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>A term with few entries, decoded when the query is prepared: at most <see cref="PostingWriter.MaxInlineEntries"/>.</summary>
internal sealed class ShortListOperator : Operator
{
    private readonly Posting[] postings;
    private readonly TermScorer? scorer;
    private int position;

    public ShortListOperator(QueryContext context, TermPayload payload, TermScorer? scorer)
        : base(context)
    {
        postings = Decode(payload);
        this.scorer = scorer;
    }

    public override long Estimate => postings.Length;

    public override bool IsExact => true;

    public override long Next(long from)
    {
        Seek(from);
        return position < postings.Length ? postings[position].Window : End;
    }

    public override void Fill(long window, WindowSet set)
    {
        Span<ushort> offsets = stackalloc ushort[PostingWriter.MaxInlineEntries];
        int count = 0;
        foreach (Posting posting in In(window))
            offsets[count++] = posting.Offset;
        set.SetOffsets(offsets[..count]);
    }

    public override bool Contains(long id)
    {
        foreach (Posting posting in In(id >> PostingWindow.SizeBits))
        {
            if (posting.EntryId == id)
                return true;
        }

        return false;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        ReadOnlySpan<Posting> mine = In(window);
        int j = 0;
        for (int i = 0; i < hits.Length && j < mine.Length; i++)
        {
            while (j < mine.Length && mine[j].Offset < hits[i])
                j++;
            if (j < mine.Length && mine[j].Offset == hits[i])
                scores[i] += scorer is null ? boost : scorer.Score(mine[j].EntryId, mine[j].Frequency, boost);
        }
    }

    /// <summary>Stands on the first posting that is not before the window.</summary>
    private void Seek(long window)
    {
        if (position > 0 && postings[position - 1].Window >= window)
            position = 0;
        while (position < postings.Length && postings[position].Window < window)
            position++;
    }

    private ReadOnlySpan<Posting> In(long window)
    {
        Seek(window);
        int end = position;
        while (end < postings.Length && postings[end].Window == window)
            end++;
        return postings.AsSpan(position, end - position);
    }

    private static Posting[] Decode(TermPayload payload)
    {
        if (payload.Kind == PostingKind.Single)
            return [new Posting(payload.SingleId, payload.SingleFrequency)];

        var decoded = new Posting[payload.EntryCount];
        var offsets = new ushort[PostingWindow.Size];
        int count = 0;
        PostingSegment segment = payload.Segment;
        for (int i = 0; i < segment.Count; i++)
        {
            PostingWindow window = segment.PostingsAt(i);
            int inWindow = window.CopyOffsets(offsets);
            for (int rank = 0; rank < inWindow; rank++)
                decoded[count++] = new Posting((segment.WindowAt(i) << PostingWindow.SizeBits) + offsets[rank], window.Frequency(rank));
        }

        Debug.Assert(count == decoded.Length);
        return decoded;
    }
}
