using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Checks;

/// <summary>Walks a tree in key order. Skips damaged pages and reports the key range of each.</summary>
/// <param name="store">The store to read pages from.</param>
/// <param name="reached">Receives the pages walked. A page that is already in it counts as lost, so a cycle ends.</param>
/// <param name="cancellationToken">Checked at each page.</param>
internal sealed class LenientWalk(PageStore store, PageSet reached, CancellationToken cancellationToken)
{
    /// <summary>Called for each leaf.</summary>
    public delegate void LeafAction(SlottedPage leaf, PageReference reference);

    public void Run(TreeRecord record, LeafAction onLeaf, Action<LostRange> onLost)
    {
        if (record.Levels > 0)
            Walk(record.Id, record.Root, record.Levels - 1, null, null, onLeaf, onLost);
    }

    /// <summary>Returns the complete key of an entry.</summary>
    public static byte[] KeyOf(SlottedPage page, int index)
    {
        var key = new byte[page.Header.PrefixLength + page.Suffix(index).Length];
        page.CopyKey(index, key);
        return key;
    }

    private void Walk(
        uint tree, PageReference reference, int level, byte[]? low, byte[]? high, LeafAction onLeaf, Action<LostRange> onLost)
    {
        cancellationToken.ThrowIfCancellationRequested();
        SlottedPage page;
        try
        {
            if (!reached.Add(reference.Number))
                throw store.Corrupt(reference.Number, "it is referred to twice, or cannot be there");

            page = new SlottedPage(store.Read(reference, level));
            if (page.Header.TreeId != tree)
                throw store.Corrupt(reference.Number, $"it belongs to tree {page.Header.TreeId}, not to {tree}");
        }
        catch (CorruptionException error)
        {
            onLost(new LostRange(low, high, reference, level, error.Message));
            return;
        }

        if (level == 0)
        {
            onLeaf(page, reference);
            return;
        }

        for (int i = 0; i < page.Count; i++)
            Walk(
                tree, page.Child(i), level - 1, i == 0 ? low : KeyOf(page, i), i + 1 < page.Count ? KeyOf(page, i + 1) : high,
                onLeaf, onLost);
    }
}
