using System.Diagnostics;

namespace Treepie.Indexing.Automata;

/// <summary>
/// Any number of endings that a term may have, found by one binary search. Immutable.
/// </summary>
/// <remarks>
/// Invariant: the endings are in ascending order when read from their last byte, and none ends with another. So the only one that
/// a term can end with is the greatest that is not above the term.
/// </remarks>
internal sealed class TermEndings
{
    private readonly byte[][] _endings;

    /// <param name="endings">At least one, in any order; none is empty.</param>
    public TermEndings(IEnumerable<byte[]> endings)
    {
        var kept = new List<byte[]>();
        foreach (byte[] ending in endings.Order(Comparer<byte[]>.Create(static (left, right) => CompareFromEnd(left, right))))
        {
            Debug.Assert(ending.Length > 0, "each term ends with nothing");
            if (kept.Count == 0 || !ending.AsSpan().EndsWith(kept[^1]))
                kept.Add(ending);
        }

        _endings = [.. kept];
    }

    /// <summary>Whether a term has one of the endings.</summary>
    public bool Matches(ReadOnlySpan<byte> term)
    {
        int low = 0, high = _endings.Length;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (CompareFromEnd(_endings[middle], term) <= 0)
                low = middle + 1;
            else
                high = middle;
        }

        return low > 0 && term.EndsWith(_endings[low - 1]);
    }

    private static int CompareFromEnd(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        for (int i = 1; i <= Math.Min(left.Length, right.Length); i++)
        {
            if (left[^i] != right[^i])
                return left[^i] - right[^i];
        }

        return left.Length - right.Length;
    }
}
