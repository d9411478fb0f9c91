using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Maps;

/// <summary>Visits every page of a map, independent of the types of keys and values.</summary>
/// <param name="store">The store to read pages from.</param>
/// <param name="visit">Called for each page or run. If it returns false, the pages below are skipped. It may release all
/// pages read before.</param>
/// <param name="cancellationToken">Checked at each page.</param>
/// <param name="bornAfter">Pages born up to this transaction are skipped with all pages below, which are not younger. -1:
/// none.</param>
internal sealed class MapWalk(
    PageStore store, Func<PageRun, bool> visit, CancellationToken cancellationToken, long bornAfter = -1)
{
    private BucketLayout _layout;

    /// <summary>Visits the pages of a map.</summary>
    public void Run(TreeRecord map)
    {
        MapHeader header = MapLayout.Read(MapReader.ReadDirectory(store, map.Root, map.Levels - 1));
        _layout = new BucketLayout(header.KeyBytes, header.ValueBytes);
        WalkDirectory(map.Root, map.Levels - 1);
    }

    private void WalkDirectory(PageReference reference, int level)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (reference.Birth <= bornAfter || !visit(new PageRun(reference.Number, 1)))
            return;

        for (int i = 0; i < MapLayout.Fanout; i++)
        {
            // Read the page again: the visitor may have released it.
            PageReference child = MapLayout.Entry(MapReader.ReadDirectory(store, reference, level), i);
            if (child.IsNone)
                continue;
            if (level > 0)
                WalkDirectory(child, level - 1);
            else
                WalkBucket(child);
        }
    }

    private void WalkBucket(PageReference first)
    {
        var chain = new BucketChain(store, first);
        while (!chain.IsEnd && chain.Reference.Birth > bornAfter)
        {
            cancellationToken.ThrowIfCancellationRequested();
            bool isNew = visit(new PageRun(chain.Reference.Number, 1));
            BucketPage page = chain.Read(_layout);
            int slots = isNew && !_layout.IsFixed ? page.Slots : 0; // fixed-size records have no runs
            for (int slot = 0; slot < slots; slot++)
            {
                if (!page.IsUsed(slot) || (page.Value(slot, out bool isOverflow) is var value && !isOverflow))
                    continue;

                VisitRun(value);
                page = chain.Read(_layout);
            }

            chain.MoveTo(page.Next);
        }
    }

    private void VisitRun(ReadOnlySpan<byte> overflow)
    {
        OverflowReference value = OverflowReference.ReadPacked(overflow);
        if (value.First.Birth > bornAfter)
            visit(store.RunOf(value));
    }
}
