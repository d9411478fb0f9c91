using System.Buffers.Binary;
using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>
/// Writes the pages of a tree that are chosen again, elsewhere: pages are given out from the front of the file, so they go there
/// as long as there is room. Goes in key order, a bounded number of pages at a time, and says where it stopped.
/// </summary>
/// <param name="tree">The tree.</param>
/// <param name="pages">The batch.</param>
/// <param name="choice">Which pages.</param>
/// <param name="seenUpTo">Pages born up to this transaction stay, with all below them: a named snapshot keeps them where they are in any case.</param>
internal sealed class TreeMover(Tree tree, PageWriter pages, MoveChoice choice, long seenUpTo)
{
    /// <summary>Pages moved, or looked at, at a time: some milliseconds in which other writers wait.</summary>
    public const int MaxMovedPages = 256;
    public const int MaxVisitedPages = 2048;

    private byte[]? _resume;
    private bool _isStopped;
    private int _visited;

    /// <summary>Pages written again.</summary>
    public int Moved { get; private set; }

    /// <summary>Goes on from a key (empty: from the start); returns the key to go on from later, or null at the end.</summary>
    public byte[]? Run(ReadOnlySpan<byte> from)
    {
        TreeRecord record = tree.Record;
        if (record.Levels == 0)
            return null;

        PageReference root = Visit(record.Root, record.Levels - 1, from, isFirst: from.Length > 0);
        if (root != record.Root)
            tree.Record = tree.Record with { Root = root };
        return _resume;
    }

    private PageReference Visit(PageReference reference, int level, ReadOnlySpan<byte> from, bool isFirst)
    {
        if (reference.Birth <= seenUpTo)
            return reference;

        _visited++;
        _ = pages.Store.Read(reference, level); // it is what it should be, or corruption is told
        PageReference own = choice.Includes(reference) ? Make(reference) : reference;
        var page = new SlottedPage(pages.Store.Read(own));
        int start = isFirst && level > 0 ? page.FindChild(from) : 0;
        int count = page.Count;
        for (int i = start; i < count; i++)
        {
            if (level == 0)
            {
                MoveValue(ref own, i);
                continue;
            }

            if (_isStopped || Moved >= MaxMovedPages || _visited >= MaxVisitedPages)
            {
                Stop(page, i);
                break;
            }

            PageReference child = page.Child(i);
            PageReference moved = Visit(child, level - 1, from, isFirst && i == start);
            if (moved == child)
                continue;

            own = Make(own);
            new SlottedPage(pages.Bytes(own.Number)).SetChild(i, moved);
            page = new SlottedPage(pages.Store.Read(own));
        }

        return own;
    }

    private void MoveValue(ref PageReference leaf, int index)
    {
        Span<byte> value = new SlottedPage(pages.Store.Read(leaf)).Value(index, out bool isOverflow);
        if (!isOverflow)
            return;

        PageReference run = PageReference.ReadPacked(value);
        if (!choice.Includes(run))
            return;

        int valueBytes = BinaryPrimitives.ReadInt32LittleEndian(value[PageReference.PackedBytes..]);
        PageReference moved = pages.MoveRun(run, valueBytes, tree.Record.Id);
        Moved += PageLayout.RunPages(valueBytes);
        leaf = Make(leaf);
        moved.WritePacked(new SlottedPage(pages.Bytes(leaf.Number)).Value(index, out _));
    }

    private PageReference Make(PageReference reference)
    {
        if (reference.Birth == pages.Birth)
            return reference;

        Moved++;
        return pages.Copy(reference, pages.Store.Read(reference));
    }

    /// <summary>The deepest branch that has a next child knows where to go on.</summary>
    private void Stop(SlottedPage branch, int next)
    {
        _isStopped = true;
        if (_resume is not null)
            return;

        var key = new byte[Tree.MaxKeyBytes];
        _resume = key[..branch.CopyKey(next, key)];
    }
}
