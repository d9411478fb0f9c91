using Treepie.Storage.Memory;

namespace Treepie.Indexing.Postings;

/// <summary>Where the postings of one window of a long list lie, and in which segment.</summary>
/// <param name="Window">The window.</param>
/// <param name="Count">Its postings.</param>
/// <param name="Payload">Their bytes; good as long as the transaction keeps its pages.</param>
/// <param name="Segment">First window of the segment.</param>
/// <param name="SegmentWindows">Windows of the segment.</param>
/// <param name="WindowIndex">The place of the window in it.</param>
internal readonly record struct HeldWindow(long Window, int Count, HeldBytes Payload, long Segment, int SegmentWindows, int WindowIndex)
{
    public PostingWindow Postings => new(Count, Payload.Span);
}
