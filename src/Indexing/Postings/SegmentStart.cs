namespace Treepie.Indexing.Postings;

/// <summary>
/// The first windows of a segment, which a changed one begins with: they are taken over as they lie, all in one piece. By
/// default, none.
/// </summary>
/// <param name="segment">The segment.</param>
/// <param name="block">Its positions.</param>
/// <param name="count">How many windows of it.</param>
internal readonly ref struct SegmentStart(PostingSegment segment, PositionBlock block, int count)
{
    private readonly PostingSegment _segment = segment;

    /// <summary>Windows.</summary>
    public int Count { get; } = count;

    /// <summary>Whether they are all of the segment.</summary>
    public bool IsWhole => Count > 0 && Count == _segment.Count;

    public long FirstWindow => _segment.FirstWindow;

    /// <summary>The postings of the first window.</summary>
    public PostingWindow FirstPostings => _segment.PostingsAt(0);

    /// <summary>Whether their directory is of form 2, as that of none is.</summary>
    public bool IsNarrow => Count == 0 || _segment.IsOfNarrowForm;

    /// <summary>Their payloads.</summary>
    public ReadOnlySpan<byte> Payloads { get; } = count == 0 ? default : segment.PayloadsOf(count);

    /// <summary>Their positions.</summary>
    public ReadOnlySpan<byte> Positions { get; } = count == 0 ? default : block.PositionsOf(count);

    /// <summary>Where the positions of each begin.</summary>
    public ReadOnlySpan<byte> PositionStarts { get; } = count == 0 ? default : block.StartsOf(count);

    /// <summary>Writes their entries of a directory.</summary>
    /// <param name="output">The segment.</param>
    /// <param name="isNarrow">Its form, which is that of these windows or the wide one.</param>
    public void WriteEntries(Span<byte> output, bool isNarrow)
    {
        if (Count > 0 && isNarrow == IsNarrow)
        {
            _segment.EntriesOf(Count).CopyTo(output[PostingSegment.HeaderBytes..]);
            return;
        }

        for (int i = 0; i < Count; i++)
            PostingSegment.WriteEntry(
                output, isNarrow, i, _segment.WindowAt(i) - FirstWindow, _segment.CountAt(i), _segment.StartAt(i));
    }
}
