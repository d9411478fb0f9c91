using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Reads a dictionary: terms in order, each with a value, in blocks. One thread at a time. Spans of values live as long as those
/// of trees; spans of terms until the cursor moves. Its tree contains:
/// <code>
/// KEY                 VALUE
/// 0                   number of terms (8, little-endian), if there are any
/// 1, then bytes       TermBlock: terms from these bytes on, up to those of the next block
/// </code>
/// </summary>
/// <param name="tree">The tree of the dictionary.</param>
/// <remarks>
/// Costs: a lookup is a descent of the tree and a few dozen steps in a block; a move of a cursor is one step in a block.
/// </remarks>
internal sealed class TermTree(Tree tree)
{
    /// <summary>First byte of the keys of blocks.</summary>
    public const byte BlockMark = 1;

    private readonly TermCursor?[] _spare = new TermCursor?[2]; // counting a range takes two cursors
    private TermCursor? _finder;
    private LeafSums? _sums;

    /// <summary>The key of the number of terms.</summary>
    public static ReadOnlySpan<byte> CountKey => [0];

    /// <summary>Cached sums of its leaves.</summary>
    public LeafSums Sums => _sums ??= new LeafSums();

    /// <summary>Number of terms. Each read of this property is a lookup.</summary>
    public long Count => ReadCount(tree);

    /// <summary>Finds the value of a term.</summary>
    public bool TryGet(scoped ReadOnlySpan<byte> term, out ReadOnlySpan<byte> value) =>
        (_finder ??= new TermCursor(tree)).TryFind(term, out value);

    /// <summary>Returns a cursor before the first term. Disposed cursors are reused.</summary>
    public TermCursor OpenCursor()
    {
        TermCursor cursor = _spare[0] ?? _spare[1] ?? new TermCursor(tree);
        if (_spare[0] is null)
            _spare[1] = null;
        _spare[0] = null;
        cursor.Owner = this;
        return cursor;
    }

    /// <summary>Takes a disposed cursor back for reuse.</summary>
    internal void Leave(TermCursor cursor)
    {
        Debug.Assert(_spare[0] != cursor && _spare[1] != cursor, "a cursor comes back once");
        if (_spare[0] is null)
            _spare[0] = cursor;
        else
            _spare[1] = cursor;
    }

    /// <summary>Number of terms of a dictionary.</summary>
    public static long ReadCount(Tree tree) =>
        tree.TryGet(CountKey, out ReadOnlySpan<byte> value) ? BinaryPrimitives.ReadInt64LittleEndian(value) : 0;
}
