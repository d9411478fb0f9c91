using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>
/// Relocates chosen pages of a tree: copies are allocated from the front of the file while it has free pages.
/// </summary>
/// <param name="tree">The tree.</param>
/// <param name="pages">The batch.</param>
/// <param name="choice">Which pages to relocate.</param>
/// <param name="seenUpTo">Pages born up to this transaction stay, with all below them: a named snapshot keeps them in place
/// anyway.</param>
internal sealed class TreeMover(Tree tree, PageWriter pages, MoveChoice choice, long seenUpTo)
    : TreeRewrite(tree, pages, lowest: 0)
{
    /// <summary>Limits for the pages moved and visited by one step: some milliseconds, in which other writers wait.</summary>
    public const int MaxMovedPages = 256;
    public const int MaxVisitedPages = 2048;

    private int _visited;

    /// <summary>Number of pages moved so far.</summary>
    public int Moved { get; private set; }

    protected override bool IsEnough => Moved >= MaxMovedPages || _visited >= MaxVisitedPages;

    protected override bool IsPassedOver(PageReference reference) => reference.Birth <= seenUpTo;

    protected override PageReference Rewrite(PageReference reference, int level)
    {
        Debug.Assert(level >= 0, "leaves are the lowest pages that are moved");
        _visited++;
        _ = Store.Read(reference, level); // throws for a damaged page
        PageReference own = choice.Includes(reference) ? MakeWritable(reference, level) : reference;
        int values = level == 0 ? new SlottedPage(Store.Read(own)).Count : 0;
        for (int i = 0; i < values; i++)
            MoveValue(ref own, i);
        return own;
    }

    protected override PageReference MakeWritable(PageReference reference, int level)
    {
        Moved += reference.Birth == Pages.Birth ? 0 : 1;
        return base.MakeWritable(reference, level);
    }

    private void MoveValue(ref PageReference leaf, int index)
    {
        Span<byte> value = new SlottedPage(Store.Read(leaf)).Value(index, out bool isOverflow);
        if (!isOverflow)
            return;

        OverflowReference run = OverflowReference.ReadPacked(value);
        if (!choice.Includes(run.First))
            return;

        PageReference moved = Pages.MoveRun(run, Tree.Record.Id);
        Debug.Assert(moved.Birth == Pages.Birth && moved.Number != run.First.Number, "a run is copied to free pages");
        Moved += run.Run.Pages;
        leaf = MakeWritable(leaf, 0);
        moved.WritePacked(new SlottedPage(Pages.Bytes(leaf.Number)).Value(index, out _));
    }
}
