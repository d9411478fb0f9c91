using System.Diagnostics;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The unchanged first windows of a segment that is being edited. They are copied into the new segment as one block of
/// bytes. The default value has no windows.
/// </summary>
/// <param name="segment">The old segment.</param>
/// <param name="block">The positions of the old segment.</param>
/// <param name="count">Number of windows to keep.</param>
internal readonly ref struct SegmentStart(PostingSegment segment, PositionBlock block, int count)
{
    private readonly PostingSegment _segment = segment;

    /// <summary>Number of windows.</summary>
    public int Count { get; } = count;

    /// <summary>Whether they are all windows of the old segment.</summary>
    public bool IsWhole => Count > 0 && Count == _segment.Count;

    public long FirstWindow => _segment.FirstWindow;

    /// <summary>The postings of the first window.</summary>
    public PostingWindow FirstPostings => _segment.PostingsAt(0);

    /// <summary>Whether their directory has form 2; true if there are none.</summary>
    public bool IsNarrow => Count == 0 || _segment.IsOfNarrowForm;

    /// <summary>Their payloads.</summary>
    public ReadOnlySpan<byte> Payloads { get; } = count == 0 ? default : segment.PayloadsOf(count);

    /// <summary>Their positions.</summary>
    public ReadOnlySpan<byte> Positions { get; } = count == 0 ? default : block.PositionsOf(count);

    /// <summary>The encoded starts of the positions of each window.</summary>
    public ReadOnlySpan<byte> PositionStarts { get; } = count == 0 ? default : block.StartsOf(count);

    /// <summary>Writes their directory entries.</summary>
    /// <param name="output">The new segment.</param>
    /// <param name="isNarrow">Whether the new segment has form 2; only possible if <see cref="IsNarrow"/> is true.</param>
    public void WriteEntries(Span<byte> output, bool isNarrow)
    {
        Debug.Assert(!isNarrow || IsNarrow, "the new directory has form 2 only if the old one has");
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
