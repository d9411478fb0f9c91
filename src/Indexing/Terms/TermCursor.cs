using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Terms;

/// <summary>A position in a <see cref="TermTree"/> that moves in both directions, like <see cref="Cursor"/>.</summary>
/// <param name="tree">The tree of the dictionary.</param>
internal sealed class TermCursor(Tree tree) : IDisposable
{
    private readonly Cursor blocks = tree.OpenCursor();
    private byte[] scratch = new byte[64];
    private byte[] key = new byte[64];
    private int keyLength = -1;
    private int index;
    private int count;
    private TermPlace current;
    private int next;

    /// <summary>The dictionary that takes it back on dispose.</summary>
    internal TermTree? Owner { get; set; }

    /// <summary>The current term; valid until the cursor moves.</summary>
    public ReadOnlySpan<byte> Key
    {
        get
        {
            Debug.Assert((uint)index < (uint)count, "the cursor is on a term of its block");
            if (keyLength < 0)
            {
                var block = new TermBlock(blocks.Value);
                int length = block.Prefix.Length + current.MiddleBytes + block.Suffix.Length;
                if (key.Length < length)
                    key = new byte[length * 2];
                keyLength = block.CopyTerm(current, key);
            }

            return key.AsSpan(0, keyLength);
        }
    }

    /// <summary>The value of the current term.</summary>
    public ReadOnlySpan<byte> Value => blocks.Value.Slice(current.Start + current.MiddleBytes, current.ValueBytes);

    /// <summary>
    /// The current block, for callers that enumerate its terms themselves; <see cref="Key"/> and <see cref="Value"/> remain those
    /// of the current term.
    /// </summary>
    public TermBlock Block => new(blocks.Value);

    /// <summary>Whether another cursor over the same dictionary is in the same block.</summary>
    public bool IsInBlockOf(TermCursor other) => blocks.Key.SequenceEqual(other.blocks.Key);

    /// <summary>Index of the current term in its block.</summary>
    public int Index => index;

    /// <summary>Moves to the first term of the next block; false if there is none.</summary>
    public bool MoveToNextBlock() => blocks.MoveNext() && EnterFirst();

    /// <summary>Prefetches the next leaf of blocks, once per leaf, for callers that scan forward.</summary>
    public void PrefetchNextLeaf() => blocks.PrefetchNextLeafOnce();

    /// <summary>
    /// Skips blocks up to the next leaf, the block of <paramref name="end"/> or the first block of unknown weight, whichever
    /// comes first, and returns the terms and weight of the blocks skipped. Reading the blocks of a leaf together overlaps their
    /// cache misses. Leaves that are in <paramref name="sums"/> are not read.
    /// </summary>
    public void SkipBlocks(TermCursor end, LeafSums sums, out long terms, out long weight)
    {
        (terms, weight) = (0, 0);
        if (blocks.IndexInLeaf == 0 && TryPassLeaves(end, sums, ref terms, ref weight))
            return;

        if (key.Length < Tree.MaxKeyBytes)
            key = new byte[Tree.MaxKeyBytes];
        bool isLast = blocks.IsInLeafOf(end.blocks);
        LeafEntries leaf = blocks.Entries(key);
        int first = blocks.IndexInLeaf, place = first, last = isLast ? end.blocks.IndexInLeaf : leaf.Count;
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
            blocks.MoveTo(place);
        }
        else
        {
            if (first == 0)
                sums.Note(blocks.Branch, blocks.LeavesOfBranch, blocks.LeafInBranch, terms, weight);
            blocks.MovePast(0); // the other cursor is further on, so there is a next leaf
        }

        EnterFirst();
    }

    /// <summary>
    /// Skips cached leaves from the current one on, up to the leaf of <paramref name="end"/> or the end of the branch; false if
    /// the current leaf is not cached.
    /// </summary>
    private bool TryPassLeaves(TermCursor end, LeafSums sums, ref long terms, ref long weight)
    {
        long branch = blocks.Branch;
        int leaves = blocks.LeavesOfBranch, first = blocks.LeafInBranch;
        int leaf = sums.Pass(
            branch, first, end.blocks.Branch == branch ? end.blocks.LeafInBranch : leaves, ref terms, ref weight);
        if (leaf == first)
            return false;
        if (leaf < leaves)
        {
            blocks.MoveToLeaf(leaf);
        }
        else
        {
            if (leaves - 1 > first)
                blocks.MoveToLeaf(leaves - 1);
            blocks.MovePast(0); // the other cursor is further on, so there is a next leaf
        }

        return EnterFirst();
    }

    /// <summary>Moves to the last term of the previous block; false if there is none.</summary>
    public bool MoveToPreviousBlock() => blocks.MovePrevious() && EnterLast();

    /// <summary>Moves to the first term; false if there is none.</summary>
    public bool MoveFirst() => blocks.Seek([TermTree.BlockMark]) && EnterFirst();

    /// <summary>Moves to the last term; false if there is none.</summary>
    public bool MoveLast() => blocks.MoveLast() && EnterLast();

    /// <summary>Moves to the first term that is not before <paramref name="term"/>; false if there is none.</summary>
    public bool Seek(scoped ReadOnlySpan<byte> term)
    {
        if (!SeekBlock(term))
            return MoveFirst();

        var block = new TermBlock(blocks.Value);
        keyLength = -1;
        count = block.Count;
        index = block.LowerBound(term, out current, out next, out _);
        return index < count || (blocks.MoveNext() && EnterFirst());
    }

    /// <summary>Moves to the next term; false after the last.</summary>
    public bool MoveNext()
    {
        if (index + 1 >= count)
            return blocks.MoveNext() && EnterFirst();

        index++;
        keyLength = -1;
        next = new TermBlock(blocks.Value).Read(next, out current);
        return true;
    }

    /// <summary>Moves to the previous term; false before the first.</summary>
    public bool MovePrevious()
    {
        if (index == 0)
            return blocks.MovePrevious() && EnterLast();

        index--;
        keyLength = -1;
        next = new TermBlock(blocks.Value).At(index, out current);
        return true;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        blocks.Reset();
        keyLength = -1;
        TermTree? owner = Owner;
        Owner = null;
        owner?.Leave(this);
    }

    /// <summary>Finds a term and its value; the cursor is then on the term, or nowhere if it does not exist.</summary>
    internal bool TryFind(scoped ReadOnlySpan<byte> term, out ReadOnlySpan<byte> value)
    {
        value = default;
        blocks.Dispose(); // start at the root each time, so that counters do not depend on earlier lookups
        if (!blocks.SeekBefore(BlockKeyBehind(term)) || !blocks.IsAt([TermTree.BlockMark], out ReadOnlySpan<byte> bytes))
            return false;

        var block = new TermBlock(bytes);
        keyLength = -1;
        count = block.Count;
        index = block.LowerBound(term, out current, out next, out bool isExact);
        if (isExact)
            value = block.Value(current);
        return isExact;
    }

    /// <summary>Moves to the block that covers a term; false if all blocks are after it.</summary>
    private bool SeekBlock(scoped ReadOnlySpan<byte> term) =>
        blocks.SeekBefore(BlockKeyBehind(term)) && blocks.Key[0] == TermTree.BlockMark;

    /// <summary>The least possible block key greater than the term's own.</summary>
    private ReadOnlySpan<byte> BlockKeyBehind(scoped ReadOnlySpan<byte> term)
    {
        if (scratch.Length < term.Length + 2)
            scratch = new byte[term.Length * 2];
        scratch[0] = TermTree.BlockMark;
        term.CopyTo(scratch.AsSpan(1));
        scratch[term.Length + 1] = 0;
        return scratch.AsSpan(0, term.Length + 2);
    }

    private bool EnterFirst()
    {
        var block = new TermBlock(blocks.Value);
        keyLength = -1;
        index = 0;
        count = block.Count;
        next = block.Read(block.First, out current);
        return true;
    }

    private bool EnterLast()
    {
        if (blocks.Key[0] != TermTree.BlockMark)
            return false;

        var block = new TermBlock(blocks.Value);
        keyLength = -1;
        count = block.Count;
        index = count - 1;
        next = block.At(index, out current);
        return true;
    }
}
