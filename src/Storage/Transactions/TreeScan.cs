using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Scans a tree in key order, one leaf at a time: the caller enumerates the entries of <see cref="Current"/> in place, so that an
/// entry costs no call into the tree. Allocates nothing.
/// </summary>
/// <remarks>
/// Keeps the path from the root, so that the next leaf is one step in its parent; the leaf after it is prefetched.
/// </remarks>
public ref struct TreeScan
{
    private readonly PageStore _store;
    private readonly TreeRecord _record;
    private readonly ReaderTable.Slot _slot;
    private readonly ReadOnlySpan<byte> _from;
    private readonly Span<byte> _keyRoom;
    private Path _path;
    private bool _hasBegun;
    private LeafEntries _current;

    internal TreeScan(
        PageStore store, scoped in TreeRecord record, ReaderTable.Slot slot, ReadOnlySpan<byte> from, Span<byte> keyRoom)
    {
        _store = store;
        _record = record;
        _slot = slot;
        _from = from;
        _keyRoom = keyRoom;
    }

    /// <summary>The entries of the current leaf; valid until the next move.</summary>
    public readonly LeafEntries Current => _current;

    /// <summary>Supports <c>foreach</c>.</summary>
    public readonly TreeScan GetEnumerator() => this;

    /// <summary>Moves to the next leaf that has entries; returns false after the last one.</summary>
    /// <exception cref="ObjectDisposedException">The read was disposed.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public bool MoveNext()
    {
        _slot.ThrowIfFreed();
        if (!_hasBegun)
        {
            _hasBegun = true;
            if (_record.Levels == 0)
                return false;

            var leaf = new SlottedPage(_store.Enter(Descend(_record.Levels - 1, _record.Root, _from), 0));
            int start = leaf.LowerBound(_from, 0, out _);
            if (start < leaf.Count)
                return Stand(leaf, start);
        }

        for (int level = 1; level < _record.Levels; level++)
        {
            ref Step step = ref _path[level];
            var branch = new SlottedPage(_store.Read(step.Page, level));
            if (step.Index + 1 >= branch.Count)
                continue;

            PageReference child = branch.Child(++step.Index);
            if (level == 1 && step.Index + 1 < branch.Count)
                _store.Prefetch(branch.Child(step.Index + 1).Number);
            return Stand(new SlottedPage(_store.Enter(Descend(level - 1, child, default), 0)), 0);
        }

        return false;
    }

    private bool Stand(SlottedPage leaf, int start)
    {
        _current = new LeafEntries(_store, leaf, start, _keyRoom);
        return true;
    }

    /// <summary>Descends to the leaf of a key, recording the path.</summary>
    private PageReference Descend(int level, PageReference page, scoped ReadOnlySpan<byte> key)
    {
        for (; level > 0; level--)
        {
            var branch = new SlottedPage(_store.Enter(page, level));
            int index = branch.FindChild(key);
            _path[level] = new Step(page, index);
            page = branch.Child(index);
        }

        return page;
    }

    private record struct Step(PageReference Page, int Index);

    /// <summary>One step per level.</summary>
    [InlineArray(TreeRecord.MaxLevels)]
    private struct Path
    {
        private Step _first;
    }
}
