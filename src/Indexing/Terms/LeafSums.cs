using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Caches the number of terms and the weight of each dictionary leaf once it has been read, so that later range counts skip
/// such leaves without reading them. Valid for one state of the dictionary; one thread at a time.
/// </summary>
/// <remarks>Memory: 12 bytes for each leaf under at most <see cref="Branches"/> branches, about 100 KiB.</remarks>
internal sealed class LeafSums
{
    /// <summary>Number of cached branches directly above leaves: a power of 2.</summary>
    private const int Branches = 64;

    private readonly BranchSums?[] _known = new BranchSums?[Branches];

    /// <summary>
    /// Adds up the leaves of a branch from <paramref name="from"/> up to but not including <paramref name="to"/>, stopping
    /// at the first leaf that is not cached; returns the leaf at which it stopped.
    /// </summary>
    public int Pass(long branch, int from, int to, ref long terms, ref long weight)
    {
        if (_known[(int)(branch & (Branches - 1))] is not { } sums || sums.Branch != branch)
            return from;

        Debug.Assert(from >= 0 && to <= sums.Terms.Length, "a branch has as many leaves as when it was noted");
        int leaf = from;
        for (; leaf < to && sums.Terms[leaf] > 0; leaf++)
        {
            terms += sums.Terms[leaf];
            weight += sums.Weights[leaf];
        }

        return leaf;
    }

    /// <summary>Caches the sums of a leaf that was read from its first block to its last.</summary>
    /// <param name="branch">Page number of the branch above the leaf.</param>
    /// <param name="leaves">Leaves of that branch.</param>
    /// <param name="leaf">Index of the leaf among them.</param>
    /// <param name="terms">Its terms: one or more.</param>
    /// <param name="weight">Weight of these terms.</param>
    public void Note(long branch, int leaves, int leaf, long terms, long weight)
    {
        ref BranchSums? sums = ref _known[(int)(branch & (Branches - 1))];
        if (sums is null || sums.Branch != branch)
            sums = new BranchSums(branch, leaves);
        Debug.Assert(sums.Terms.Length == leaves && leaf < leaves, "a branch of one state keeps its leaves");
        Debug.Assert(sums.Terms[leaf] == 0 || sums.Terms[leaf] == terms, "a leaf of one state is constant");
        sums.Terms[leaf] = (int)terms;
        sums.Weights[leaf] = weight;
    }

    private sealed class BranchSums(long branch, int leaves)
    {
        public long Branch { get; } = branch;

        /// <summary>Terms of each leaf; 0 where not cached.</summary>
        public int[] Terms { get; } = new int[leaves];

        public long[] Weights { get; } = new long[leaves];
    }
}
