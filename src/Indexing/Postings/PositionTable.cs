namespace Treepie.Indexing.Postings;

/// <summary>
/// The positions of one term in several entries of a window, one entry after the other. Scratch, filled anew for each window.
/// </summary>
internal sealed class PositionTable
{
    private int length;

    /// <summary>Where the positions of each entry begin, and the end.</summary>
    public int[] Starts { get; } = new int[PostingWindow.Size + 1];

    /// <summary>The positions, ascending within an entry.</summary>
    public int[] Values { get; private set; } = new int[256];

    /// <summary>Entries filled in.</summary>
    public int Count { get; private set; }

    /// <summary>Forgets everything.</summary>
    public void Clear()
    {
        Count = 0;
        length = 0;
    }

    /// <summary>Room for the positions of the next entry.</summary>
    public Span<int> Next(int count)
    {
        if (Values.Length - length < count)
        {
            int[] larger = new int[Math.Max(length + count, Values.Length * 2)];
            Values.AsSpan(0, length).CopyTo(larger);
            Values = larger;
        }

        Span<int> room = Values.AsSpan(length, count);
        length += count;
        Starts[++Count] = length;
        return room;
    }
}
