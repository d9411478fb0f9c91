using Treepie.Storage.Trees;

namespace Treepie.Indexing.Terms;

/// <summary>A position in a <see cref="TermTree"/> that moves both ways, as <see cref="Cursor"/> does.</summary>
/// <param name="tree">Where the dictionary lies.</param>
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

    /// <summary>Whom it goes back to when it is disposed.</summary>
    internal TermTree? Owner { get; set; }

    /// <summary>The term it stands on; it lives until the cursor moves.</summary>
    public ReadOnlySpan<byte> Key
    {
        get
        {
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

    /// <summary>What stands beside it.</summary>
    public ReadOnlySpan<byte> Value => blocks.Value.Slice(current.Start + current.MiddleBytes, current.ValueBytes);

    /// <summary>
    /// The block it stands in, for those who go through the terms of it by themselves; <see cref="Key"/> and <see cref="Value"/>
    /// stay those of the term it stands on.
    /// </summary>
    public TermBlock Block => new(blocks.Value);

    /// <summary>Whether another cursor over the same dictionary stands in the same block.</summary>
    public bool IsInBlockOf(TermCursor other) => blocks.Key.SequenceEqual(other.blocks.Key);

    /// <summary>Number of the term in its block.</summary>
    public int Index => index;

    /// <summary>Goes to the first term of the next block; false if there is none.</summary>
    public bool MoveToNextBlock() => blocks.MoveNext() && EnterFirst();

    /// <summary>Begins to bring the next leaf of blocks into the caches, once for each: for who goes along them.</summary>
    public void PrefetchNextLeaf() => blocks.PrefetchNextLeafOnce();

    /// <summary>
    /// Goes on to a leaf of blocks behind this one, or to the block of another cursor behind this one, where that is before it,
    /// or to the first block whose weight is not known; says what the blocks passed have. The blocks of a leaf wait for memory
    /// together: each alone would take as long. Leaves that were gone through before are not looked at again.
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
            blocks.MovePast(0); // the other cursor stands behind it
        }

        EnterFirst();
    }

    /// <summary>
    /// Passes the leaves from its own on that somebody has gone through, up to that of another cursor or to the end of the page
    /// above them; false where there is none.
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
            blocks.MovePast(0); // as above
        }

        return EnterFirst();
    }

    /// <summary>Goes to the last term of the block before; false if there is none.</summary>
    public bool MoveToPreviousBlock() => blocks.MovePrevious() && EnterLast();

    /// <summary>Goes to the first term; false if there is none.</summary>
    public bool MoveFirst() => blocks.Seek([TermTree.BlockMark]) && EnterFirst();

    /// <summary>Goes to the last term; false if there is none.</summary>
    public bool MoveLast() => blocks.MoveLast() && EnterLast();

    /// <summary>Goes to the first term that is not before <paramref name="term"/>; false if there is none.</summary>
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

    /// <summary>Goes to the next term; false after the last.</summary>
    public bool MoveNext()
    {
        if (index + 1 >= count)
            return blocks.MoveNext() && EnterFirst();

        index++;
        keyLength = -1;
        next = new TermBlock(blocks.Value).Read(next, out current);
        return true;
    }

    /// <summary>Goes to the term before; false before the first.</summary>
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

    /// <summary>What stands beside a term; the cursor stands on it then, otherwise nowhere.</summary>
    internal bool TryFind(scoped ReadOnlySpan<byte> term, out ReadOnlySpan<byte> value)
    {
        value = default;
        blocks.Dispose(); // each look-up goes the same way, so that what is counted does not depend on those before
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

    /// <summary>Goes to the block that a term belongs to; false if all are behind it.</summary>
    private bool SeekBlock(scoped ReadOnlySpan<byte> term) =>
        blocks.SeekBefore(BlockKeyBehind(term)) && blocks.Key[0] == TermTree.BlockMark;

    /// <summary>The least key of a block that is greater than that of the term.</summary>
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
