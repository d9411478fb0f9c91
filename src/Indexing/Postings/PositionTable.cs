using System.Diagnostics;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The positions of one term in several entries of a window, one entry after another. Refilled for each window.
/// </summary>
internal sealed class PositionTable
{
    private int _length;

    /// <summary>Start of the positions of each entry, and the end.</summary>
    public int[] Starts { get; } = new int[PostingWindow.Size + 1];

    /// <summary>The positions, ascending within an entry.</summary>
    public int[] Values { get; private set; } = new int[256];

    /// <summary>Number of entries added.</summary>
    public int Count { get; private set; }

    /// <summary>Removes all entries.</summary>
    public void Clear()
    {
        Count = 0;
        _length = 0;
    }

    /// <summary>Adds an entry and returns the span for its positions.</summary>
    public Span<int> Next(int count)
    {
        Debug.Assert(Starts[Count] == _length, "the positions of entries are contiguous");
        Debug.Assert(Count < PostingWindow.Size, "a window has at most 4,096 entries");
        if (Values.Length - _length < count)
        {
            int[] larger = new int[Math.Max(_length + count, Values.Length * 2)];
            Values.AsSpan(0, _length).CopyTo(larger);
            Values = larger;
        }

        Span<int> room = Values.AsSpan(_length, count);
        _length += count;
        Starts[++Count] = _length;
        return room;
    }
}
