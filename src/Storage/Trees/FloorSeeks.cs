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
/// <param name="leaves">Buffer for the leaf reference of each key.</param>
internal ref struct FloorSeeks(Tree tree, Span<PageReference> leaves)
{
    /// <summary>Leaves with at most this many entries have long values: prefetch the first bytes of each.</summary>
    private const int MaxPrefetchedEntries = 16, PrefetchedBytes = 64;

    private readonly PageStore _store = tree.Store;
    private readonly int _levels = tree.Record.Levels;
    private readonly Span<PageReference> _leaves = leaves;
    private SlottedPage _branch;
    private bool _isInBranch;
    private int _count;

    /// <summary>Finds the leaf of a key and prefetches its head. Keys ascend; the tree is not empty.</summary>
    public void Add(scoped ReadOnlySpan<byte> key)
    {
        Debug.Assert(_levels > 0 && _count < _leaves.Length, "the tree is not empty, and each key has room for its leaf");
        tree.Visit(_levels);
        PageReference leaf = tree.Record.Root;
        if (_levels > 1)
        {
            // A key after the last child of this branch may belong to the next branch.
            int child = _isInBranch ? _branch.FindChild(key) : -1;
            if (child < 0 || child == _branch.Count - 1)
            {
                for (int level = _levels - 1; level > 0; level--)
                {
                    _branch = new SlottedPage(_store.Enter(leaf, level));
                    child = _branch.FindChild(key);
                    leaf = _branch.Child(child);
                }

                _isInBranch = true;
            }

            leaf = _branch.Child(child);
        }

        if (_count == 0 || _leaves[_count - 1] != leaf)
            _store.PrefetchHead(leaf.Number);
        _leaves[_count++] = leaf;
    }

    /// <summary>Prefetches the entries of all leaves that have few.</summary>
    public readonly void PrefetchEntries()
    {
        for (int i = 0; i < _count; i++)
        {
            if (i > 0 && _leaves[i] == _leaves[i - 1])
                continue;
            var leaf = new SlottedPage(_store.Read(_leaves[i], level: 0));
            if (leaf.Count is > 0 and <= MaxPrefetchedEntries)
                leaf.Prefetch(0, leaf.Count - 1, PrefetchedBytes);
        }
    }

    /// <summary>Gets the value of an added key, or of the greatest key before it.</summary>
    /// <param name="index">Index of the key, in the order of <see cref="Add"/>.</param>
    /// <param name="key">The key.</param>
    /// <param name="beginning">Number of leading bytes that the found key must share with the key; otherwise the value is
    /// empty.</param>
    /// <param name="value">The value.</param>
    /// <returns>False if the leaf begins after the key, so that the answer is in the previous leaf.</returns>
    public readonly bool TryGet(int index, scoped ReadOnlySpan<byte> key, int beginning, out ReadOnlySpan<byte> value)
    {
        Debug.Assert((uint)index < (uint)_count, "one of the keys that were added");
        Debug.Assert(beginning >= 0 && beginning <= key.Length, "a key shares no more bytes than it has");
        value = default;
        var leaf = new SlottedPage(_store.Read(_leaves[index], level: 0));
        int place = leaf.LowerBound(key, 0, out bool isExact) - 1;
        place += isExact ? 1 : 0;
        if (place < 0)
            return false;
        if (leaf.StartsWith(place, key[..beginning]))
            value = Tree.ReadValue(_store, leaf, place);
        return true;
    }
}
