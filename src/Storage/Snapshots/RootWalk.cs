using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Snapshots;

/// <summary>
/// Visits every page that a root leads to. Where the visitor has seen a page before it says so, and what lies below is not
/// visited again: so many snapshots together cost as much as the distinct pages they have.
/// </summary>
/// <param name="store">Where pages are read.</param>
/// <param name="visit">Told each page or run once it is reached; false: do not go below. May let go of all pages that were
/// read.</param>
/// <param name="cancellationToken">Looked at for each page.</param>
/// <param name="bornAfter">Pages born up to this transaction are passed over, with all below them, which is no younger. -1: none
/// are.</param>
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
            page = new SlottedPage(store.Read(reference)); // again: the visitor may have let it go
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
