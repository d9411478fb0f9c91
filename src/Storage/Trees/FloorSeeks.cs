using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// Finds the values of several keys of one tree, which ascend, each that of the key itself or of the greatest before it: the ways
/// to all are gone together, a level at a time, so that the waits for the memory of their leaves overlap. First <see cref="Add"/>
/// is called for each, then <see cref="ExpectEntries"/>, then <see cref="TryGet"/> for each.
/// </summary>
/// <param name="tree">The tree, in a read transaction.</param>
/// <param name="leaves">Room for the leaf of each.</param>
internal ref struct FloorSeeks(Tree tree, Span<PageReference> leaves)
{
    /// <summary>A leaf of no more entries has long values: where each begins is asked for. So much of it is.</summary>
    private const int MostAsked = 16, CellBeginning = 64;

    private readonly PageStore store = tree.Store;
    private readonly int levels = tree.Record.Levels;
    private readonly Span<PageReference> leaves = leaves;
    private SlottedPage branch;
    private bool isInBranch;
    private int count;

    /// <summary>Finds the leaf of a key, which ascends, and asks for its head. There is one: the tree is not empty.</summary>
    public void Add(scoped ReadOnlySpan<byte> key)
    {
        Debug.Assert(levels > 0 && count < leaves.Length, "the tree is not empty, and each key has room for its leaf");
        tree.Visit(levels);
        PageReference leaf = tree.Record.Root;
        if (levels > 1)
        {
            // Behind the last child of a branch there may be another branch.
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

    /// <summary>Asks for the entries of all leaves that have few.</summary>
    public readonly void ExpectEntries()
    {
        for (int i = 0; i < count; i++)
        {
            if (i > 0 && leaves[i] == leaves[i - 1])
                continue;
            var leaf = new SlottedPage(store.Read(leaves[i], level: 0));
            if (leaf.Count is > 0 and <= MostAsked)
                leaf.Prefetch(0, leaf.Count - 1, CellBeginning);
        }
    }

    /// <summary>The value of a key added, or of the greatest before it.</summary>
    /// <param name="index">Which of them it is.</param>
    /// <param name="key">It.</param>
    /// <param name="beginning">So many bytes of it the key found has to begin with; otherwise the value is empty.</param>
    /// <param name="value">The value.</param>
    /// <returns>False where the leaf begins behind it, so that the one before would have to be looked at.</returns>
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
