namespace Treepie.Indexing.Matching;

/// <summary>The positions of one term in one entry, copied: those of several terms are looked at together. Scratch.</summary>
internal sealed class PositionList
{
    private int[] positions = new int[16];

    public int Count { get; private set; }

    public ReadOnlySpan<int> Span => positions.AsSpan(0, Count);

    public void Set(ReadOnlySpan<int> ascending)
    {
        if (positions.Length < ascending.Length)
            positions = new int[Math.Max(ascending.Length, positions.Length * 2)];
        ascending.CopyTo(positions);
        Count = ascending.Length;
    }
}
