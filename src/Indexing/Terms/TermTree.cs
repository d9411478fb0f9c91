using System.Buffers.Binary;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Terms;

/// <summary>
/// A dictionary to be read: terms in order, each with its bytes, in blocks. One thread at a time; spans live as those of trees
/// do, terms until the cursor moves. In its tree:
/// <code>
/// KEY                 VALUE
/// 0                   number of terms (8, little-endian), where there are any
/// 1, then bytes       TermBlock: terms from these bytes on, before those of the next block
/// </code>
/// </summary>
/// <param name="tree">Where it lies.</param>
/// <remarks>
/// Costs: a look-up is a descent of the tree and some dozens of steps in a block; a step of a walk is one in a block.
/// </remarks>
internal sealed class TermTree(Tree tree)
{
    /// <summary>First byte of the keys of blocks.</summary>
    public const byte BlockMark = 1;

    private readonly TermCursor?[] spare = new TermCursor?[2]; // as many as one who counts a range has
    private TermCursor? finder;
    private LeafSums? sums;

    /// <summary>Key of the number of terms.</summary>
    public static ReadOnlySpan<byte> CountKey => [0];

    /// <summary>What its leaves have, as far as ranges of it were counted.</summary>
    public LeafSums Sums => sums ??= new LeafSums();

    /// <summary>Terms. A look-up each time.</summary>
    public long Count => ReadCount(tree);

    /// <summary>What stands beside a term.</summary>
    public bool TryGet(scoped ReadOnlySpan<byte> term, out ReadOnlySpan<byte> value) =>
        (finder ??= new TermCursor(tree)).TryFind(term, out value);

    /// <summary>A cursor before the first term. One that was disposed is used again.</summary>
    public TermCursor OpenCursor()
    {
        TermCursor cursor = spare[0] ?? spare[1] ?? new TermCursor(tree);
        if (spare[0] is null)
            spare[1] = null;
        spare[0] = null;
        cursor.Owner = this;
        return cursor;
    }

    /// <summary>Takes a cursor back.</summary>
    internal void Leave(TermCursor cursor)
    {
        if (spare[0] is null)
            spare[0] = cursor;
        else
            spare[1] = cursor;
    }

    /// <summary>Number of terms of a dictionary.</summary>
    public static long ReadCount(Tree tree) =>
        tree.TryGet(CountKey, out ReadOnlySpan<byte> value) ? BinaryPrimitives.ReadInt64LittleEndian(value) : 0;
}
