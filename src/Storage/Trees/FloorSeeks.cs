using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// Finds the values of several ascending keys of one tree: for each key its own value, or that of the greatest key before it. The
/// descents are interleaved, so that the memory latencies of their leaves overlap. Call <see cref="Add"/> for each key, then
/// <see cref="PrefetchEntries"/>, then <see cref="TryGet"/> for each key.
/// </summary>
/// <param name="tree">The tree, in a read transaction.</param>
/// <param name="leaves">Room for the leaf of each.</param>
internal ref struct FloorSeeks(Tree tree, Span<PageReference> leaves)
{
    /// <summary>Leaves with at most this many entries have long values: prefetch the first bytes of each.</summary>
    private const int MaxPrefetchedEntries = 16, PrefetchedBytes = 64;

    private readonly PageStore store = tree.Store;
    private readonly int levels = tree.Record.Levels;
    private readonly Span<PageReference> leaves = leaves;
    private SlottedPage branch;
    private bool isInBranch;
    private int count;

    /// <summary>Finds the leaf of a key and prefetches its head. Keys ascend; the tree is not empty.</summary>
    public void Add(scoped ReadOnlySpan<byte> key)
    {
        Debug.Assert(levels > 0 && count < leaves.Length, "the tree is not empty, and each key has room for its leaf");
        tree.Visit(levels);
        PageReference leaf = tree.Record.Root;
        if (levels > 1)
        {
            // A key behind the last child of this branch may belong to the next branch.
            int child = isInBranch ? branch.FindChild(key) : -1;
            if (child < 0 || child == branch.Count - 1)
            {
                for (int level = levels - 1; level > 0; level--)
                {
                    branch = new SlottedPage(store.Enter(leaf, level));
                    child = branch.FindChild(key);
                    leaf = branch.Child(child);
                }

                isInBranch = true;
            }

            leaf = branch.Child(child);
        }

        if (count == 0 || leaves[count - 1] != leaf)
            store.PrefetchHead(leaf.Number);
        leaves[count++] = leaf;
    }

    /// <summary>Prefetches the entries of all leaves that have few.</summary>
    public readonly void PrefetchEntries()
    {
        for (int i = 0; i < count; i++)
        {
            if (i > 0 && leaves[i] == leaves[i - 1])
                continue;
            var leaf = new SlottedPage(store.Read(leaves[i], level: 0));
            if (leaf.Count is > 0 and <= MaxPrefetchedEntries)
                leaf.Prefetch(0, leaf.Count - 1, PrefetchedBytes);
        }
    }

    /// <summary>The value of an added key, or of the greatest key before it.</summary>
    /// <param name="index">Index of the key, in the order of <see cref="Add"/>.</param>
    /// <param name="key">The key.</param>
    /// <param name="beginning">Bytes of the key that the found key has to begin with; otherwise the value is empty.</param>
    /// <param name="value">The value.</param>
    /// <returns>False if the leaf begins behind the key, so that the answer is in the leaf before.</returns>
    public readonly bool TryGet(int index, scoped ReadOnlySpan<byte> key, int beginning, out ReadOnlySpan<byte> value)
    {
        Debug.Assert((uint)index < (uint)count, "one of the keys that were added");
        value = default;
        var leaf = new SlottedPage(store.Read(leaves[index], level: 0));
        int place = leaf.LowerBound(key, 0, out bool isExact) - 1;
        place += isExact ? 1 : 0;
        if (place < 0)
            return false;
        if (leaf.StartsWith(place, key[..beginning]))
            value = Tree.ReadValue(store, leaf, place);
        return true;
    }
}
