using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// The positions of one term in one entry, those of several terms being looked at together: a part of a
/// <see cref="PositionTable"/>, or a copy. Scratch.
/// </summary>
internal sealed class PositionList
{
    private int[] copy = [];
    private int[] source = [];
    private int start;

    public int Count { get; private set; }

    public ReadOnlySpan<int> Span => source.AsSpan(start, Count);

    /// <summary>Copies positions.</summary>
    public void Set(ReadOnlySpan<int> ascending)
    {
        if (copy.Length < ascending.Length)
            copy = new int[Math.Max(ascending.Length, Math.Max(16, copy.Length * 2))];
        ascending.CopyTo(copy);
        (source, start, Count) = (copy, 0, ascending.Length);
    }

    /// <summary>Stands for the positions of one of the entries of a table, as long as that is not filled anew.</summary>
    public void Set(PositionTable table, int entry)
    {
        source = table.Values;
        start = table.Starts[entry];
        Count = table.Starts[entry + 1] - start;
    }
}
