using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Checks;

/// <summary>
/// Finds the newest root of the catalogue when no meta page refers to one. Every commit that changes a tree copies the
/// catalogue path up to its root, so the newest root is the catalogue page with the latest birth and, within one batch, the
/// highest level.
/// </summary>
internal sealed class RootSearch(PageStore store, long pageCount)
{
    private const int MaxCandidates = 256;

    /// <summary>
    /// Returns the newest root whose catalogue pages are all readable, or else the newest root, or null if there is none.
    /// </summary>
    public Snapshot? Run()
    {
        var newest = new PriorityQueue<(PageReference Page, int Level), (long, int)>();
        for (long number = FormatLimits.FirstDataPage; number < pageCount; number++)
        {
            if (!store.TryRead(number, out Span<byte> bytes)
                || new Page(bytes) is var page
                    && (page.TreeId != TreeRecord.CatalogueId || page.Type is not (PageType.Leaf or PageType.Branch)))
                continue;

            newest.Enqueue((new PageReference(number, page.Birth), page.Level), (page.Birth, page.Level));
            if (newest.Count > MaxCandidates)
                newest.Dequeue();
        }

        var candidates = new List<(PageReference Page, int Level)>();
        while (newest.TryDequeue(out (PageReference Page, int Level) candidate, out _))
            candidates.Add(candidate);
        candidates.Reverse();
        foreach ((PageReference root, int level) in candidates)
            if (TryCount(root, level) is { } keys)
                return StateOf(root, level, keys);
        return candidates.Count == 0 ? null : StateOf(candidates[0].Page, candidates[0].Level, 0);
    }

    private Snapshot StateOf(PageReference root, int level, long keys) =>
        new(root.Birth, new TreeRecord(TreeRecord.CatalogueId, root, level + 1, keys), TreeRecord.FirstId, pageCount);

    /// <summary>Counts the keys below a root. Returns null if a page is missing.</summary>
    private long? TryCount(PageReference root, int level)
    {
        long keys = 0;
        bool isWhole = true;
        var walk = new LenientWalk(store, new PageSet(pageCount), CancellationToken.None);
        walk.Run(
            new TreeRecord(TreeRecord.CatalogueId, root, level + 1, 0), (leaf, _) => keys += leaf.Count, _ => isWhole = false);
        return isWhole ? keys : null;
    }
}
