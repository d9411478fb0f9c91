namespace Treepie.Indexing.Postings;

/// <summary>
/// Ascending postings with the positions of each: first position, then distances, in 7-bit groups, one for each time the
/// term stands in the entry. Lists without positions have none.
/// </summary>
/// <param name="postings">The postings.</param>
/// <param name="positions">Positions of all of them, one after the other.</param>
/// <param name="ends">Where the positions of each end; empty if none are kept.</param>
/// <param name="start">Where the positions of the first begin.</param>
internal readonly ref struct PostingRun(
    ReadOnlySpan<Posting> postings, ReadOnlySpan<byte> positions, ReadOnlySpan<int> ends, int start = 0)
{
    private readonly ReadOnlySpan<byte> positions = positions;
    private readonly ReadOnlySpan<int> ends = ends;
    private readonly int start = start;

    public ReadOnlySpan<Posting> Postings { get; } = postings;

    public int Count => Postings.Length;

    public bool IsEmpty => Postings.IsEmpty;

    public Posting this[int index] => Postings[index];

    /// <summary>Positions of one of them.</summary>
    public ReadOnlySpan<byte> PositionsOf(int index) =>
        ends.IsEmpty ? default : positions[(index == 0 ? start : ends[index - 1])..ends[index]];

    /// <summary>Positions of all of them.</summary>
    public ReadOnlySpan<byte> Positions => ends.IsEmpty ? default : positions[start..ends[^1]];

    /// <summary>The first so many.</summary>
    public PostingRun Take(int count) => new(Postings[..count], positions, ends.IsEmpty ? default : ends[..count], start);

    /// <summary>All but the first so many.</summary>
    public PostingRun Skip(int count) =>
        count == 0
            ? this
            : new PostingRun(
                Postings[count..], positions, ends.IsEmpty ? default : ends[count..], ends.IsEmpty ? 0 : ends[count - 1]);
}
