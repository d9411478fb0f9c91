namespace Treepie.Indexing.Terms;

/// <summary>
/// What the leaves of a dictionary have, terms and their weight, as far as somebody has gone through them: who counts a range
/// after him passes the leaves under a page without a look at them. Good for one state of the dictionary; one thread at a time.
/// </summary>
/// <remarks>Memory: 12 bytes for each leaf under <see cref="Branches"/> pages at the most, some 100 KiB.</remarks>
internal sealed class LeafSums
{
    /// <summary>Pages above leaves that are remembered: a power of 2.</summary>
    private const int Branches = 64;

    private readonly BranchSums?[] known = new BranchSums?[Branches];

    /// <summary>
    /// Adds up the leaves under a page from one on, up to before another, or to the first that nobody has gone through; returns
    /// which that is.
    /// </summary>
    public int Pass(long branch, int from, int to, ref long terms, ref long weight)
    {
        if (known[(int)(branch & (Branches - 1))] is not { } sums || sums.Branch != branch)
            return from;

        int leaf = from;
        for (; leaf < to && sums.Terms[leaf] > 0; leaf++)
        {
            terms += sums.Terms[leaf];
            weight += sums.Weights[leaf];
        }

        return leaf;
    }

    /// <summary>Notes what a leaf has that somebody has gone through from its first block to its last.</summary>
    /// <param name="branch">Number of the page above it.</param>
    /// <param name="leaves">Leaves under that page.</param>
    /// <param name="leaf">Which of them it is.</param>
    /// <param name="terms">Its terms: one or more.</param>
    /// <param name="weight">What they weigh.</param>
    public void Note(long branch, int leaves, int leaf, long terms, long weight)
    {
        ref BranchSums? sums = ref known[(int)(branch & (Branches - 1))];
        if (sums is null || sums.Branch != branch)
            sums = new BranchSums(branch, leaves);
        sums.Terms[leaf] = (int)terms;
        sums.Weights[leaf] = weight;
    }

    private sealed class BranchSums(long branch, int leaves)
    {
        public long Branch { get; } = branch;

        /// <summary>Of each leaf; 0 where it is not known.</summary>
        public int[] Terms { get; } = new int[leaves];

        public long[] Weights { get; } = new long[leaves];
    }
}
