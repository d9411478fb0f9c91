using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// Visits a tree in key order and lets a subclass rewrite pages, a bounded number per step; branches are pointed to the new
/// places of their children. Returns the key to continue from, so that other writers can run between steps.
/// </summary>
/// <param name="tree">The tree.</param>
/// <param name="pages">The batch.</param>
/// <param name="lowest">The lowest level to visit.</param>
internal abstract class TreeRewrite(Tree tree, PageWriter pages, int lowest)
{
    private byte[]? _resume;
    private bool _isStopped;

    protected Tree Tree => tree;

    protected PageWriter Pages => pages;

    protected PageStore Store => pages.Store;

    /// <summary>Whether this step has done enough.</summary>
    protected abstract bool IsEnough { get; }

    /// <summary>Continues from a key (empty: the start); returns the key to continue from later, or null at the end.</summary>
    public byte[]? Run(ReadOnlySpan<byte> from)
    {
        Debug.Assert(_resume is null && !_isStopped, "a step runs once");
        TreeRecord record = tree.Record;
        if (record.Levels <= lowest)
            return null;

        PageReference root = Visit(record.Root, record.Levels - 1, from, isFirst: from.Length > 0);
        Debug.Assert(_isStopped == _resume is not null, "a step that stops early knows where to continue");
        if (root != record.Root)
            tree.Record = tree.Record with { Root = root };
        return _resume;
    }

    /// <summary>Whether to skip a page and everything below it.</summary>
    protected virtual bool IsPassedOver(PageReference reference) => false;

    /// <summary>Rewrites a page or leaves it unchanged; returns its reference. Its children are visited afterwards.</summary>
    protected abstract PageReference Rewrite(PageReference reference, int level);

    /// <summary>Returns the page itself if it is the batch's own; otherwise copies it and frees the original.</summary>
    protected virtual PageReference MakeWritable(PageReference reference, int level) => pages.MakeWritable(reference, level);

    private PageReference Visit(PageReference reference, int level, ReadOnlySpan<byte> from, bool isFirst)
    {
        Debug.Assert(level >= lowest, "no page below the lowest level is visited");
        if (IsPassedOver(reference))
            return reference;

        PageReference own = Rewrite(reference, level);
        if (level == lowest)
            return own;

        var page = new SlottedPage(Store.Read(own, level));
        int start = isFirst ? page.FindChild(from) : 0;
        for (int i = start; i < page.Count; i++)
        {
            // The first key of a branch has no meaning, so no later step could continue from it.
            if (_isStopped || (IsEnough && i > 0))
            {
                Stop(page, i);
                break;
            }

            PageReference child = page.Child(i);
            PageReference made = Visit(child, level - 1, from, isFirst && i == start);
            if (made == child)
                continue;

            Debug.Assert(made.Birth == pages.Birth, "only a page of this batch takes the place of another");
            own = MakeWritable(own, level);
            new SlottedPage(pages.Bytes(own.Number)).SetChild(i, made);
            page = new SlottedPage(Store.Read(own, level));
        }

        return own;
    }

    /// <summary>Records the key to continue from: that of the deepest branch with a next child.</summary>
    private void Stop(SlottedPage branch, int next)
    {
        _isStopped = true;
        if (_resume is not null)
            return;

        Debug.Assert(next > 0, "the key to continue from has a meaning");
        var key = new byte[Tree.MaxKeyBytes];
        _resume = key[..branch.CopyKey(next, key)];
    }
}
