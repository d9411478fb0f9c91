namespace Treepie.Indexing.Postings;

/// <summary>
/// Ascending postings with the positions of each: the first position, then distances, as varints, one for each occurrence of
/// the term in the entry. Lists without positions have none.
/// </summary>
/// <param name="postings">The postings.</param>
/// <param name="positions">Positions of all postings, one after another.</param>
/// <param name="ends">End of the positions of each posting; empty if lists have none.</param>
/// <param name="start">Start of the positions of the first posting.</param>
internal readonly ref struct PostingRun(
    ReadOnlySpan<Posting> postings, ReadOnlySpan<byte> positions, ReadOnlySpan<int> ends, int start = 0)
{
    private readonly ReadOnlySpan<byte> _positions = positions;
    private readonly ReadOnlySpan<int> _ends = ends;
    private readonly int _start = start;

    public ReadOnlySpan<Posting> Postings { get; } = postings;

    public int Count => Postings.Length;

    public bool IsEmpty => Postings.IsEmpty;

    public Posting this[int index] => Postings[index];

    /// <summary>Positions of one posting.</summary>
    public ReadOnlySpan<byte> PositionsOf(int index) =>
        _ends.IsEmpty ? default : _positions[(index == 0 ? _start : _ends[index - 1]).._ends[index]];

    /// <summary>Positions of all postings.</summary>
    public ReadOnlySpan<byte> Positions => _ends.IsEmpty ? default : _positions[_start.._ends[^1]];

    /// <summary>The first <paramref name="count"/> postings.</summary>
    public PostingRun Take(int count) => new(Postings[..count], _positions, _ends.IsEmpty ? default : _ends[..count], _start);

    /// <summary>All but the first <paramref name="count"/> postings.</summary>
    public PostingRun Skip(int count) =>
        count == 0
            ? this
            : new PostingRun(
                Postings[count..], _positions, _ends.IsEmpty ? default : _ends[count..], _ends.IsEmpty ? 0 : _ends[count - 1]);
}
