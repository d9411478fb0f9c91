using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// Goes through a tree in key order and lets pages be written again, a bounded number at a time; a branch gets to know where its
/// children lie afterwards. Says where it stopped, so that other writers get their turn in between.
/// </summary>
/// <param name="tree">The tree.</param>
/// <param name="pages">The batch.</param>
/// <param name="lowest">The lowest level that is visited.</param>
internal abstract class TreeRewrite(Tree tree, PageWriter pages, int lowest)
{
    private byte[]? _resume;
    private bool _isStopped;

    protected Tree Tree => tree;

    protected PageWriter Pages => pages;

    protected PageStore Store => pages.Store;

    /// <summary>Whether others are to get their turn.</summary>
    protected abstract bool IsEnough { get; }

    /// <summary>Goes on from a key (empty: from the start); returns the key to go on from later, or null at the end.</summary>
    public byte[]? Run(ReadOnlySpan<byte> from)
    {
        TreeRecord record = tree.Record;
        if (record.Levels <= lowest)
            return null;

        PageReference root = Visit(record.Root, record.Levels - 1, from, isFirst: from.Length > 0);
        if (root != record.Root)
            tree.Record = tree.Record with { Root = root };
        return _resume;
    }

    /// <summary>Whether a page, and all below it, is passed over.</summary>
    protected virtual bool IsPassedOver(PageReference reference) => false;

    /// <summary>Writes a page again, or leaves it; returns where it lies afterwards. Its children come later.</summary>
    protected abstract PageReference Rewrite(PageReference reference, int level);

    /// <summary>A page of this batch in place of this one, if it is none.</summary>
    protected virtual PageReference MakeWritable(PageReference reference, int level) => pages.MakeWritable(reference, level);

    private PageReference Visit(PageReference reference, int level, ReadOnlySpan<byte> from, bool isFirst)
    {
        if (IsPassedOver(reference))
            return reference;

        PageReference own = Rewrite(reference, level);
        if (level == lowest)
            return own;

        var page = new SlottedPage(Store.Read(own, level));
        int start = isFirst ? page.FindChild(from) : 0;
        for (int i = start; i < page.Count; i++)
        {
            // The first key of a branch has no meaning: nobody could go on from it.
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

    /// <summary>The deepest branch that has a next child knows where to go on.</summary>
    private void Stop(SlottedPage branch, int next)
    {
        _isStopped = true;
        if (_resume is not null)
            return;

        Debug.Assert(next > 0, "the key to go on from has a meaning");
        var key = new byte[Tree.MaxKeyBytes];
        _resume = key[..branch.CopyKey(next, key)];
    }
}
