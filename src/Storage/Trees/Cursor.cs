using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>
/// A bidirectional cursor over a tree. Its spans are valid as long as those of the tree, except <see cref="Key"/>, which is valid
/// until the cursor moves.
/// </summary>
/// <remarks>
/// Keeps the path from the root: a page and an entry per level. Moving inside a leaf touches only that leaf. Invariants of a
/// valid cursor: 1. The path has a page for each level of the tree. 2. <c>_leafCount</c> is the number of entries of the leaf,
/// and the current entry is one of them. 3. Entry <c>_indexes[i]</c> of page i leads to page i + 1. 4. <c>_keyLength</c> is the
/// length of the current key, or -1 while that key is not copied.
/// </remarks>
public sealed class Cursor : IDisposable
{
    private const int LeastKeyBytes = 64;

    /// <summary>Number of entries of a leaf that are prefetched at once, and number of bytes of each.</summary>
    private const int MaxPrefetchedEntries = 16, PrefetchedBytes = 64;

    private readonly Tree _tree;
    private PageReference[] _pages = new PageReference[4];
    private int[] _indexes = new int[4];
    private PageReference _prefetched;
    private byte[] _key = [];
    private int _keyLength = -1;
    private int _depth;
    private int _leafCount;
    private int _changes;
    private bool _isValid;
    private bool _seeksNear = true;

    internal Cursor(Tree tree) => _tree = tree;

    /// <summary>Whether the cursor is positioned on a key.</summary>
    public bool IsValid => _isValid && _changes == _tree.Changes;

    /// <summary>The current key.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public ReadOnlySpan<byte> Key
    {
        get
        {
            SlottedPage leaf = Leaf();
            if (leaf.Header.PrefixLength == 0)
                return leaf.Suffix(_indexes[_depth]);

            if (_keyLength < 0)
            {
                int length = leaf.KeyLength(_indexes[_depth]);
                if (_key.Length < length)
                    _key = new byte[Math.Min(
                        Tree.MaxKeyBytes, (int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(length, LeastKeyBytes)))];
                _keyLength = leaf.CopyKey(_indexes[_depth], _key);
            }

            Debug.Assert(_keyLength == leaf.KeyLength(_indexes[_depth]), "4: the copied key is the one it stands on");

            return _key.AsSpan(0, _keyLength);
        }
    }

    /// <summary>The current value.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public ReadOnlySpan<byte> Value => Tree.ReadValue(_tree.Store, Leaf(), _indexes[_depth]);

    /// <summary>Moves to the smallest key; returns false if the tree is empty.</summary>
    public bool MoveFirst() => Start() && DescendFirst(0, _tree.Record.Root);

    /// <summary>Moves to the greatest key; returns false if the tree is empty.</summary>
    public bool MoveLast() => Start() && DescendLast(0, _tree.Record.Root);

    /// <summary>
    /// Moves to the smallest key that is equal to or greater than <paramref name="key"/>; returns false if there is none.
    /// </summary>
    public bool Seek(scoped ReadOnlySpan<byte> key)
    {
        if (IsInLeaf(key, out int index, out bool isExact) && (isExact || index > 0))
        {
            _keyLength = -1;
            _indexes[_depth] = index;
            return true;
        }

        if (!Start())
            return false;

        SeekLeaf(key);
        SlottedPage leaf = Page(_depth);
        _indexes[_depth] = leaf.LowerBound(key, 0, out _);
        return _indexes[_depth] < _leafCount ? Stand() : NextLeaf(_depth - 1);
    }

    /// <summary>
    /// Moves to a key and gets its value; if the key does not exist, returns false and the cursor is no longer valid. For keys
    /// that are ordered or close to each other: most are found in the current leaf.
    /// </summary>
    public bool TryMoveTo(scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        value = default;
        if (!IsInLeaf(key, out int index, out bool isExact) || (!isExact && index == 0))
        {
            if (!Start())
                return false;

            SeekLeaf(key);
            index = Page(_depth).LowerBound(key, 0, out isExact);
        }

        _keyLength = -1;
        _indexes[_depth] = index;
        _isValid = isExact;
        if (!isExact)
            return false;

        value = Tree.ReadValue(_tree.Store, Page(_depth), index);
        return true;
    }

    /// <summary>
    /// Moves to the greatest key that is smaller than <paramref name="key"/>; returns false if there is none.
    /// </summary>
    public bool SeekBefore(scoped ReadOnlySpan<byte> key)
    {
        if (IsInLeaf(key, out int index, out _) && index > 0)
        {
            _keyLength = -1;
            _indexes[_depth] = index - 1;
            return true;
        }

        if (!Start())
            return false;

        SeekLeaf(key);
        SlottedPage leaf = Page(_depth);
        _indexes[_depth] = leaf.LowerBound(key, 0, out _) - 1;
        return _indexes[_depth] >= 0 ? Stand() : PreviousLeaf();
    }

    /// <summary>Moves to the next key; after the last one, returns false and the cursor is no longer valid.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public bool MoveNext()
    {
        ThrowIfInvalid();
        _keyLength = -1;
        return ++_indexes[_depth] < _leafCount || NextLeaf(_depth - 1);
    }

    /// <summary>Moves to the previous key; before the first one, returns false and the cursor is no longer valid.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public bool MovePrevious()
    {
        ThrowIfInvalid();
        _keyLength = -1;
        return --_indexes[_depth] >= 0 || PreviousLeaf();
    }

    /// <summary>
    /// Skips up to <paramref name="most"/> keys with the prefix <paramref name="beginning"/> and returns their number. The cursor
    /// is then on the key after them, or no longer valid. Reads only the last key of each leaf that it skips.
    /// </summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public long Skip(long most, scoped ReadOnlySpan<byte> beginning)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(most);
        ThrowIfInvalid();
        _keyLength = -1;
        long skipped = 0;
        while (true)
        {
            SlottedPage leaf = Page(_depth);
            int first = _indexes[_depth];
            int end = leaf.StartsWith(_leafCount - 1, beginning) ? _leafCount : EndOf(leaf, first, beginning);
            if (most - skipped < end - first || end < _leafCount)
            {
                int step = (int)Math.Min(end - first, most - skipped);
                _indexes[_depth] += step;
                return skipped + step;
            }

            skipped += end - first;
            if (!NextLeaf(_depth - 1))
                return skipped;
        }
    }

    /// <summary>
    /// Returns the index of the first entry from <paramref name="first"/> on whose key does not begin with
    /// <paramref name="beginning"/>.
    /// </summary>
    private int EndOf(SlottedPage leaf, int first, scoped ReadOnlySpan<byte> beginning)
    {
        int low = first - 1, high = _leafCount;
        while (high - low > 1)
        {
            int middle = (low + high) >>> 1;
            if (leaf.StartsWith(middle, beginning))
                low = middle;
            else
                high = middle;
        }

        Debug.Assert(high >= first && high <= _leafCount, "2: the entries that begin so are of the leaf");
        return high;
    }

    /// <summary>
    /// Moves to the next key; returns true and its value if the key begins with <paramref name="beginning"/>. Otherwise
    /// returns false, and the cursor may be on another key. Reads the leaf once.
    /// </summary>
    internal bool MoveNext(scoped ReadOnlySpan<byte> beginning, out ReadOnlySpan<byte> value)
    {
        value = default;
        return MoveNext() && IsAt(beginning, out value);
    }

    /// <summary>Whether the current key begins with <paramref name="beginning"/>; if so, gets its value.</summary>
    internal bool IsAt(scoped ReadOnlySpan<byte> beginning, out ReadOnlySpan<byte> value)
    {
        SlottedPage leaf = Leaf();
        if (!leaf.StartsWith(_indexes[_depth], beginning))
        {
            value = default;
            return false;
        }

        value = Tree.ReadValue(_tree.Store, leaf, _indexes[_depth]);
        return true;
    }

    /// <summary>
    /// If the keys of the current leaf are consecutive numbers (eight bytes, big-endian), returns the first of them and their
    /// count; otherwise returns -1. For callers that then read values by <see cref="MoveTo"/>.
    /// </summary>
    internal long NumbersOfLeaf(out int count)
    {
        SlottedPage leaf = Leaf();
        count = _leafCount;
        Span<byte> first = stackalloc byte[sizeof(long)], last = stackalloc byte[sizeof(long)];
        if (leaf.KeyLength(0) != sizeof(long) || leaf.KeyLength(count - 1) != sizeof(long))
            return -1;
        leaf.CopyKey(0, first);
        leaf.CopyKey(count - 1, last);
        long number = BinaryPrimitives.ReadInt64BigEndian(first);
        return BinaryPrimitives.ReadInt64BigEndian(last) - number == count - 1 ? number : -1;
    }

    /// <summary>Moves to an entry of the current leaf and returns its value.</summary>
    internal ReadOnlySpan<byte> MoveTo(int index)
    {
        Debug.Assert((uint)index < (uint)_leafCount, "2: it stands on an entry of its leaf");
        _keyLength = -1;
        _indexes[_depth] = index;
        return Tree.ReadValue(_tree.Store, Leaf(), index);
    }

    /// <summary>The entries of the current leaf, for scans: the leaf is read once.</summary>
    /// <param name="keyRoom">Buffer for the longest key.</param>
    internal LeafEntries Entries(Span<byte> keyRoom) => new(_tree.Store, Leaf(), 0, keyRoom);

    /// <summary>
    /// Returns the entries of the current leaf from the current one to the last whose key begins with
    /// <paramref name="beginning"/>, for callers that read values. Moves to that last entry; if it is the last of the leaf,
    /// prefetches the next leaf.
    /// </summary>
    internal LeafEntries TakeEntries(scoped ReadOnlySpan<byte> beginning)
    {
        SlottedPage leaf = Leaf();
        int first = _indexes[_depth], last = _leafCount - 1;
        leaf.Prefetch(first, Math.Min(last, first + MaxPrefetchedEntries), PrefetchedBytes);
        Debug.Assert(leaf.StartsWith(first, beginning), "it stands on a key that begins so");
        if (!leaf.StartsWith(last, beginning))
        {
            last = EndOf(leaf, first, beginning) - 1;
        }
        else if (NextLeafNumber() is { } next)
        {
            _tree.Store.PrefetchHead(next);
        }

        Debug.Assert(last >= first, "2: at least the current entry is taken");
        _keyLength = -1;
        _indexes[_depth] = last;
        return new LeafEntries(_tree.Store, leaf, first, last + 1 - first);
    }

    /// <summary>Index of the current entry in its leaf.</summary>
    internal int IndexInLeaf => _indexes[_depth];

    /// <summary>Whether another cursor over the same state of the tree is in the same leaf.</summary>
    internal bool IsInLeafOf(Cursor other) => _pages[_depth] == other._pages[other._depth];

    /// <summary>Page number of the branch above its leaf; 0 if the tree is a single leaf.</summary>
    internal long Branch => _depth == 0 ? 0 : _pages[_depth - 1].Number;

    /// <summary>Number of leaves under that branch.</summary>
    internal int LeavesOfBranch => _depth == 0 ? 1 : Page(_depth - 1).Count;

    /// <summary>Index of the current leaf among them.</summary>
    internal int LeafInBranch => _depth == 0 ? 0 : _indexes[_depth - 1];

    /// <summary>
    /// Moves to the first entry of a later leaf under the same branch. The leaves in between count as entered, as in a scan,
    /// but are not read.
    /// </summary>
    internal void MoveToLeaf(int leafInBranch)
    {
        Debug.Assert(leafInBranch > LeafInBranch && leafInBranch < LeavesOfBranch, "3: a later leaf of the same branch");
        _tree.Visit(leafInBranch - _indexes[_depth - 1] - 1);
        _keyLength = -1;
        _indexes[_depth - 1] = leafInBranch;
        DescendFirst(_depth, Page(_depth - 1).Child(leafInBranch));
    }

    /// <summary>Prefetches the next leaf if it is under the same branch: for scans.</summary>
    internal void PrefetchNextLeaf()
    {
        if (NextLeafNumber() is { } next)
            _tree.Store.Prefetch(next);
    }

    /// <summary>
    /// Prefetches the first bytes of the next entry of the current leaf, or, after the last entry, the head of the next leaf:
    /// for scans of long values.
    /// </summary>
    internal void PrefetchNext(int bytes)
    {
        int next = _indexes[_depth] + 1;
        if (next < _leafCount)
            Page(_depth).Prefetch(next, next, bytes);
        else if (NextLeafNumber() is { } number)
            _tree.Store.PrefetchHead(number);
    }

    /// <summary>
    /// Prefetches the first bytes of an entry of the current leaf, some entries ahead, and at the first entry those up to it:
    /// for scans that read each value. Does nothing at the end of the leaf.
    /// </summary>
    /// <param name="entries">The number of entries ahead.</param>
    /// <param name="bytes">The number of bytes.</param>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public void PrefetchAhead(int entries, int bytes)
    {
        ThrowIfInvalid();
        int current = _indexes[_depth], ahead = Math.Min(current + entries, _leafCount - 1);
        int first = current == 0 ? 1 : current + entries;
        if (first <= ahead)
            Page(_depth).Prefetch(first, ahead, bytes);
    }

    private long? NextLeafNumber()
    {
        if (_depth == 0)
            return null;

        int next = _indexes[_depth - 1] + 1;
        return next < LeavesOfBranch ? Page(_depth - 1).Child(next).Number : null;
    }

    /// <summary>Like <see cref="PrefetchNextLeaf"/>, but only once per leaf: for callers that call it at every key.</summary>
    internal void PrefetchNextLeafOnce()
    {
        if (_prefetched == _pages[_depth])
            return;

        _prefetched = _pages[_depth];
        PrefetchNextLeaf();
    }

    /// <summary>Invalidates the position; the cursor can be reused by seeking.</summary>
    public void Dispose() => _isValid = false;

    /// <summary>
    /// Resets it to a newly opened cursor, so that the pages it enters do not depend on its earlier position.
    /// </summary>
    internal void Reset()
    {
        _isValid = false;
        _keyLength = -1;
        _seeksNear = true;
        Array.Clear(_pages);
    }

    /// <summary>
    /// Returns the highest level (0 is the leaf) at which two cursors on the same key are in the same page, or -1 if there is
    /// none. Up to the end of that page, the two trees are equal.
    /// </summary>
    internal int SharedLevel(Cursor other)
    {
        Debug.Assert(IsValid && other.IsValid, "1: both cursors stand on a key");
        for (int level = Math.Min(_depth, other._depth); level >= 0; level--)
            if (_pages[_depth - level] == other._pages[other._depth - level])
                return level;
        return -1;
    }

    /// <summary>
    /// Moves to the first key after the current page of a level; returns false, and is no longer valid, if there is none.
    /// </summary>
    internal bool MovePast(int level)
    {
        ThrowIfInvalid();
        Debug.Assert((uint)level <= (uint)_depth, "1: the path has a page at every level");
        _keyLength = -1;
        return NextLeaf(_depth - level - 1);
    }

    /// <summary>
    /// Whether the current values of two cursors are equal; long values in the same run are not compared by bytes.
    /// </summary>
    internal bool HasSameValue(Cursor other)
    {
        ReadOnlySpan<byte> own = Leaf().Value(_indexes[_depth], out bool isRun);
        ReadOnlySpan<byte> others = other.Leaf().Value(other._indexes[other._depth], out bool isOthersRun);
        return isRun == isOthersRun && (own.SequenceEqual(others) || (isRun && Value.SequenceEqual(other.Value)));
    }

    private bool Start()
    {
        _isValid = false;
        _keyLength = -1;
        _changes = _tree.Changes;
        int levels = _tree.Record.Levels;
        if (levels > _pages.Length)
        {
            _pages = new PageReference[levels];
            _indexes = new int[levels];
        }

        _depth = levels - 1;
        return levels > 0;
    }

    /// <summary>
    /// Whether a key is within the current leaf, and where: then no descent is needed. This is the case for most seeks in key
    /// order or close to each other. After a seek for which it is not, the leaf is not searched again until two seeks have
    /// led to the same leaf.
    /// </summary>
    private bool IsInLeaf(scoped ReadOnlySpan<byte> key, out int index, out bool isExact)
    {
        index = 0;
        isExact = false;
        if (!_seeksNear || !IsValid)
            return false;

        index = Page(_depth).LowerBound(key, 0, out isExact);
        _seeksNear = index < _leafCount;
        return _seeksNear;
    }

    private void SeekLeaf(scoped ReadOnlySpan<byte> key)
    {
        Debug.Assert(
            _depth == _tree.Record.Levels - 1 && _depth < _pages.Length, "1: the path has room for a page of each level");
        PageReference reference = _tree.Record.Root;
        for (int depth = 0; depth < _depth; depth++)
        {
            _pages[depth] = reference;
            var branch = new SlottedPage(_tree.Store.Enter(reference, _depth - depth));
            _indexes[depth] = branch.FindChild(key);
            reference = branch.Child(_indexes[depth]);
        }

        _tree.Visit(_depth + 1);
        _seeksNear = _pages[_depth] == reference;
        _pages[_depth] = reference;
        _leafCount = new SlottedPage(_tree.Store.Enter(reference, level: 0)).Count;
    }

    private bool DescendFirst(int depth, PageReference reference)
    {
        Debug.Assert((uint)depth <= (uint)_depth, "1: the descent begins at a level of the tree");
        _tree.Visit(_depth - depth + 1);
        for (; depth < _depth; depth++)
        {
            _pages[depth] = reference;
            _indexes[depth] = 0;
            reference = Page(depth).Child(0);
        }

        _pages[_depth] = reference;
        _indexes[_depth] = 0;
        _leafCount = Page(_depth).Count;
        return _leafCount > 0 && Stand();
    }

    private bool DescendLast(int depth, PageReference reference)
    {
        Debug.Assert((uint)depth <= (uint)_depth, "1: the descent begins at a level of the tree");
        _tree.Visit(_depth - depth + 1);
        for (; depth < _depth; depth++)
        {
            _pages[depth] = reference;
            SlottedPage branch = Page(depth);
            _indexes[depth] = branch.Count - 1;
            reference = branch.Child(_indexes[depth]);
        }

        _pages[_depth] = reference;
        _leafCount = Page(_depth).Count;
        _indexes[_depth] = _leafCount - 1;
        return _leafCount > 0 && Stand();
    }

    private bool NextLeaf(int from)
    {
        Debug.Assert(from < _depth, "3: only the entry of a branch leads to a next leaf");
        for (int depth = from; depth >= 0; depth--)
        {
            SlottedPage branch = Page(depth);
            if (_indexes[depth] + 1 < branch.Count)
                return DescendFirst(depth + 1, branch.Child(++_indexes[depth]));
        }

        _isValid = false;
        return false;
    }

    private bool PreviousLeaf()
    {
        for (int depth = _depth - 1; depth >= 0; depth--)
        {
            if (_indexes[depth] > 0)
                return DescendLast(depth + 1, Page(depth).Child(--_indexes[depth]));
        }

        _isValid = false;
        return false;
    }

    private bool Stand()
    {
        Debug.Assert(_depth == _tree.Record.Levels - 1, "1: the path ends at a leaf");
        Debug.Assert((uint)_indexes[_depth] < (uint)_leafCount, "2: it stands on an entry of its leaf");
        _isValid = true;
        return true;
    }

    private SlottedPage Page(int depth) => new(_tree.Store.Read(_pages[depth], _depth - depth));

    private SlottedPage Leaf()
    {
        ThrowIfInvalid();
        SlottedPage leaf = Page(_depth);
        Debug.Assert(leaf.Count == _leafCount, "2: the leaf is as it was entered");
        Debug.Assert((uint)_indexes[_depth] < (uint)_leafCount, "2: it stands on an entry of its leaf");
        return leaf;
    }

    private void ThrowIfInvalid()
    {
        if (!IsValid)
            throw new InvalidOperationException(
                "The cursor is not on a key: move it to one first, and again after each change of the tree.");
    }
}
