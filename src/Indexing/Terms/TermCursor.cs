using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Terms;

/// <summary>A position in a <see cref="TermTree"/> that moves in both directions, like a <see cref="Cursor"/>.</summary>
/// <param name="tree">The tree of the dictionary.</param>
internal sealed class TermCursor(Tree tree) : IDisposable
{
    private readonly Cursor _blocks = tree.OpenCursor();
    private byte[] _scratch = new byte[64];
    private byte[] _key = new byte[64];
    private int _keyLength = -1;
    private int _index;
    private int _count;
    private TermPlace _current;
    private int _next;

    /// <summary>The dictionary that reuses the cursor after it is disposed.</summary>
    internal TermTree? Owner { get; set; }

    /// <summary>The current term; valid until the cursor moves.</summary>
    public ReadOnlySpan<byte> Key
    {
        get
        {
            Debug.Assert((uint)_index < (uint)_count, "the cursor is on a term of its block");
            if (_keyLength < 0)
            {
                var block = new TermBlock(_blocks.Value);
                int length = block.Prefix.Length + _current.MiddleBytes + block.Suffix.Length;
                if (_key.Length < length)
                    _key = new byte[length * 2];
                _keyLength = block.CopyTerm(_current, _key);
            }

            return _key.AsSpan(0, _keyLength);
        }
    }

    /// <summary>The value of the current term.</summary>
    public ReadOnlySpan<byte> Value => _blocks.Value.Slice(_current.Start + _current.MiddleBytes, _current.ValueBytes);

    /// <summary>
    /// The current block, for callers that enumerate its terms themselves; <see cref="Key"/> and <see cref="Value"/> remain those
    /// of the current term.
    /// </summary>
    public TermBlock Block => new(_blocks.Value);

    /// <summary>Whether another cursor over the same dictionary is in the same block.</summary>
    public bool IsInBlockOf(TermCursor other) => _blocks.Key.SequenceEqual(other._blocks.Key);

    /// <summary>Index of the current term in its block.</summary>
    public int Index => _index;

    /// <summary>Moves to the first term of the next block; false if there is none.</summary>
    public bool MoveToNextBlock() => _blocks.MoveNext() && EnterFirst();

    /// <summary>Prefetches the next leaf of blocks, once per leaf, for callers that scan forward.</summary>
    public void PrefetchNextLeaf() => _blocks.PrefetchNextLeafOnce();

    /// <summary>
    /// Skips blocks up to the next leaf, the block of <paramref name="end"/> or the first block of unknown weight, whichever
    /// comes first, and returns the terms and weight of the skipped blocks. Reading the blocks of a leaf together overlaps
    /// their cache misses. Leaves cached in <paramref name="sums"/> are not read.
    /// </summary>
    public void SkipBlocks(TermCursor end, LeafSums sums, out long terms, out long weight)
    {
        (terms, weight) = (0, 0);
        if (_blocks.IndexInLeaf == 0 && TryPassLeaves(end, sums, ref terms, ref weight))
            return;

        if (_key.Length < Tree.MaxKeyBytes)
            _key = new byte[Tree.MaxKeyBytes];
        bool isLast = _blocks.IsInLeafOf(end._blocks);
        LeafEntries leaf = _blocks.Entries(_key);
        int first = _blocks.IndexInLeaf, place = first, last = isLast ? end._blocks.IndexInLeaf : leaf.Count;
        for (; place < last; place++)
        {
            long mine = TermBlock.WeightOf(leaf.Value(place), out int count);
            if (mine < 0)
                break;
            terms += count;
            weight += mine;
        }

        if (place < leaf.Count)
        {
            _blocks.MoveTo(place);
        }
        else
        {
            if (first == 0)
                sums.Note(_blocks.Branch, _blocks.LeavesOfBranch, _blocks.LeafInBranch, terms, weight);
            _blocks.MovePast(0); // the other cursor is further on, so there is a next leaf
        }

        EnterFirst();
    }

    /// <summary>
    /// Skips cached leaves from the current one on, up to the leaf of <paramref name="end"/> or the end of the branch; false
    /// if the current leaf is not cached.
    /// </summary>
    private bool TryPassLeaves(TermCursor end, LeafSums sums, ref long terms, ref long weight)
    {
        long branch = _blocks.Branch;
        int leaves = _blocks.LeavesOfBranch, first = _blocks.LeafInBranch;
        int leaf = sums.Pass(
            branch, first, end._blocks.Branch == branch ? end._blocks.LeafInBranch : leaves, ref terms, ref weight);
        if (leaf == first)
            return false;
        if (leaf < leaves)
        {
            _blocks.MoveToLeaf(leaf);
        }
        else
        {
            if (leaves - 1 > first)
                _blocks.MoveToLeaf(leaves - 1);
            _blocks.MovePast(0); // the other cursor is further on, so there is a next leaf
        }

        return EnterFirst();
    }

    /// <summary>Moves to the last term of the previous block; false if there is none.</summary>
    public bool MoveToPreviousBlock() => _blocks.MovePrevious() && EnterLast();

    /// <summary>Moves to the first term; false if there is none.</summary>
    public bool MoveFirst() => _blocks.Seek([TermTree.BlockMark]) && EnterFirst();

    /// <summary>Moves to the last term; false if there is none.</summary>
    public bool MoveLast() => _blocks.MoveLast() && EnterLast();

    /// <summary>Moves to the first term that is not before <paramref name="term"/>; false if there is none.</summary>
    public bool Seek(scoped ReadOnlySpan<byte> term)
    {
        if (!SeekBlock(term))
            return MoveFirst();

        var block = new TermBlock(_blocks.Value);
        _keyLength = -1;
        _count = block.Count;
        _index = block.LowerBound(term, out _current, out _next, out _);
        return _index < _count || (_blocks.MoveNext() && EnterFirst());
    }

    /// <summary>Moves to a term of the current block.</summary>
    public void MoveTo(int index)
    {
        Debug.Assert((uint)index < (uint)_count, "the block has the term");
        _index = index;
        _keyLength = -1;
        _next = new TermBlock(_blocks.Value).At(index, out _current);
    }

    /// <summary>Moves to the next term; false after the last.</summary>
    public bool MoveNext()
    {
        if (_index + 1 >= _count)
            return _blocks.MoveNext() && EnterFirst();

        _index++;
        _keyLength = -1;
        _next = new TermBlock(_blocks.Value).Read(_next, out _current);
        return true;
    }

    /// <summary>Moves to the previous term; false before the first.</summary>
    public bool MovePrevious()
    {
        if (_index == 0)
            return _blocks.MovePrevious() && EnterLast();

        MoveTo(_index - 1);
        return true;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _blocks.Reset();
        _keyLength = -1;
        TermTree? owner = Owner;
        Owner = null;
        owner?.Leave(this);
    }

    /// <summary>
    /// Finds a term and its value. The cursor is then on the term; if the term does not exist, the cursor must not be read.
    /// </summary>
    internal bool TryFind(scoped ReadOnlySpan<byte> term, out ReadOnlySpan<byte> value)
    {
        _blocks.Dispose(); // start at the root each time, so that counters do not depend on earlier lookups
        return TryFindNext(term, out value);
    }

    /// <summary>As <see cref="TryFind"/>, for terms in order: the leaf of the one before is searched first.</summary>
    internal bool TryFindNext(scoped ReadOnlySpan<byte> term, out ReadOnlySpan<byte> value)
    {
        value = default;
        if (!_blocks.SeekBefore(BlockKeyBehind(term)) || !_blocks.IsAt([TermTree.BlockMark], out ReadOnlySpan<byte> bytes))
            return false;

        var block = new TermBlock(bytes);
        _keyLength = -1;
        _count = block.Count;
        _index = block.LowerBound(term, out _current, out _next, out bool isExact);
        if (isExact)
            value = block.Value(_current);
        return isExact;
    }

    /// <summary>Moves to the block that covers a term; false if all blocks are after it.</summary>
    private bool SeekBlock(scoped ReadOnlySpan<byte> term) =>
        _blocks.SeekBefore(BlockKeyBehind(term)) && _blocks.Key[0] == TermTree.BlockMark;

    /// <summary>The least possible block key that is greater than that of a block starting with the term.</summary>
    private ReadOnlySpan<byte> BlockKeyBehind(scoped ReadOnlySpan<byte> term)
    {
        if (_scratch.Length < term.Length + 2)
            _scratch = new byte[term.Length * 2];
        _scratch[0] = TermTree.BlockMark;
        term.CopyTo(_scratch.AsSpan(1));
        _scratch[term.Length + 1] = 0;
        return _scratch.AsSpan(0, term.Length + 2);
    }

    private bool EnterFirst()
    {
        var block = new TermBlock(_blocks.Value);
        _keyLength = -1;
        _index = 0;
        _count = block.Count;
        _next = block.Read(block.First, out _current);
        return true;
    }

    private bool EnterLast()
    {
        if (_blocks.Key[0] != TermTree.BlockMark)
            return false;

        var block = new TermBlock(_blocks.Value);
        _keyLength = -1;
        _count = block.Count;
        _index = _count - 1;
        _next = block.At(_index, out _current);
        return true;
    }
}
