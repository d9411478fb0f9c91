using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Snapshots;

/// <summary>
/// Visits every page reachable from a root. If the visitor reports a page as already visited, everything below it is skipped:
/// so walking many snapshots costs as much as their distinct pages.
/// </summary>
/// <param name="store">The store of the pages.</param>
/// <param name="visit">Called for each page or run reached; returns false to skip what is below. It may release all pages
/// read so far.</param>
/// <param name="cancellationToken">Checked for each page.</param>
/// <param name="bornAfter">Pages born up to this transaction are skipped, with everything below them, which is no younger; -1
/// to skip none.</param>
internal sealed class RootWalk(
    PageStore store, Func<PageRun, bool> visit, CancellationToken cancellationToken, long bornAfter = -1)
{
    /// <summary>Visits a catalogue and all trees that it names.</summary>
    public void Catalogue(TreeRecord catalogue) => Tree(catalogue, isCatalogue: true);

    /// <summary>Visits one tree.</summary>
    public void Tree(TreeRecord tree) => Tree(tree, isCatalogue: false);

    private void Tree(TreeRecord tree, bool isCatalogue)
    {
        if (tree.Kind == TreeKind.Map)
            new MapWalk(store, visit, cancellationToken, bornAfter).Run(tree);
        else if (tree.Levels > 0)
            Walk(tree.Root, tree.Levels - 1, isCatalogue);
    }

    private void VisitRun(ReadOnlySpan<byte> overflow)
    {
        OverflowReference value = OverflowReference.ReadPacked(overflow);
        if (value.First.Birth > bornAfter)
            visit(store.RunOf(value));
    }

    private void Walk(PageReference reference, int level, bool isCatalogue)
    {
        Debug.Assert(level >= 0, "leaves are the lowest pages of a tree");
        cancellationToken.ThrowIfCancellationRequested();
        if (reference.Birth <= bornAfter || !visit(new PageRun(reference.Number, 1)))
            return;

        var page = new SlottedPage(store.Read(reference));
        PageType expected = level == 0 ? PageType.Leaf : PageType.Branch;
        if (page.Header.Type != expected || page.Header.Level != level)
            throw store.Corrupt(
                reference.Number,
                $"{expected} of level {level} expected, {page.Header.Type} of level {page.Header.Level} found (tree "
                    + $"{page.Header.TreeId})");

        for (int i = 0, count = page.Count; i < count; i++)
        {
            page = new SlottedPage(store.Read(reference)); // again, because the visitor may have released it
            if (level > 0)
            {
                Walk(page.Child(i), level - 1, isCatalogue);
                continue;
            }

            Span<byte> value = page.Value(i, out bool isOverflow);
            if (isOverflow)
                VisitRun(value);
            else if (isCatalogue && TreeRecord.FindFault(value) is { } fault)
                throw store.Corrupt(reference.Number, $"the record of a tree has {fault}");
            else if (isCatalogue)
                Tree(TreeRecord.Read(value));
        }
    }
}
