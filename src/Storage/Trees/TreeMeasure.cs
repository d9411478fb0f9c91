using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>Adds up what the pages of a tree hold. Reads every page of the tree, but no long values.</summary>
internal ref struct TreeMeasure(PageStore store, CancellationToken cancellationToken)
{
    private long _leaves, _branches, _runPages, _used, _keyBytes, _valueBytes;

    public TreeSize Of(TreeRecord record)
    {
        if (record.Levels > 0)
            Add(record.Root, record.Levels - 1);
        return new TreeSize(record.Count, _leaves, _branches, _runPages, _used, _keyBytes, _valueBytes);
    }

    private void Add(PageReference reference, int level)
    {
        var page = new SlottedPage(store.Read(reference, level));
        _used += PageLayout.HeaderBytes + page.UsedBytes;
        if (level == 0)
        {
            AddLeaf(page);
            return;
        }

        cancellationToken.ThrowIfCancellationRequested();
        _branches++;
        for (int i = 0; i < page.Count; i++)
            Add(page.Child(i), level - 1);
    }

    private void AddLeaf(SlottedPage leaf)
    {
        _leaves++;
        _keyBytes += leaf.Prefix.Length;
        for (int i = 0; i < leaf.Count; i++)
        {
            _keyBytes += leaf.Suffix(i).Length;
            ReadOnlySpan<byte> value = leaf.Value(i, out bool isOverflow);
            int bytes = isOverflow ? OverflowReference.ReadPacked(value).LengthBytes : value.Length;
            _valueBytes += bytes;
            if (!isOverflow)
                continue;
            _runPages += PageLayout.RunPages(bytes);
            _used += PageLayout.HeaderBytes + bytes;
        }
    }
}
