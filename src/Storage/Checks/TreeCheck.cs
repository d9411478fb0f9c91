using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Checks;

/// <summary>Walks one tree.</summary>
internal sealed class TreeCheck(
    PageStore store, Action<string> report, Func<long, bool> markPage, Func<PageRun, bool> markRun, CancellationToken cancellationToken)
{
    private string _name = "";
    private uint _id;
    private long _keys;

    public void Run(string name, TreeRecord record)
    {
        _name = name;
        _id = record.Id;
        _keys = 0;
        if (record.Levels > 0)
            Walk(record.Root, record.Levels - 1, null, null);
        if (_keys != record.Count)
            report($"Tree '{_name}' says it has {record.Count} keys, {_keys} were found.");
    }

    private void Walk(PageReference reference, int level, byte[]? low, byte[]? high)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!markPage(reference.Number))
            return;

        SlottedPage page;
        try
        {
            page = new SlottedPage(store.Read(reference));
        }
        catch (CorruptionException error)
        {
            report($"Tree '{_name}': {error.Message}");
            return;
        }

        PageType expected = level == 0 ? PageType.Leaf : PageType.Branch;
        if (page.Header.Type != expected || page.Header.Level != level || page.Header.TreeId != _id)
        {
            report($"Tree '{_name}', page {reference.Number}: {expected} of level {level} and tree {_id} expected, {page.Header.Type} of level {page.Header.Level} and tree {page.Header.TreeId} found.");
            return;
        }

        if (page.Count == 0)
            report($"Tree '{_name}', page {reference.Number} is empty.");
        CheckPage(page, reference.Number, level, low, high);
        for (int i = 0; level > 0 && i < page.Count; i++)
            Walk(page.Child(i), level - 1, i == 0 ? low : KeyOf(page, i), i + 1 < page.Count ? KeyOf(page, i + 1) : high);
    }

    private void CheckPage(SlottedPage page, long number, int level, byte[]? low, byte[]? high)
    {
        byte[]? previous = null;
        int used = page.Header.PrefixLength;
        for (int i = 0; i < page.Count; i++)
        {
            Span<byte> value = page.Value(i, out bool isOverflow);
            used += SlottedPage.CellHeadBytes + page.Suffix(i).Length + value.Length;
            if (level == 0)
            {
                _keys++;
                if (isOverflow)
                    CheckRun(value);
            }
            else if (i == 0)
            {
                continue; // its key has no meaning
            }

            byte[] key = KeyOf(page, i);
            if (previous is not null && previous.AsSpan().SequenceCompareTo(key) >= 0)
                report($"Tree '{_name}', page {number}: key {i} is not above the one before it.");
            if ((low is not null && key.AsSpan().SequenceCompareTo(low) < 0) || (high is not null && key.AsSpan().SequenceCompareTo(high) >= 0))
                report($"Tree '{_name}', page {number}: key {i} lies outside the separators of its parent.");
            if (page.LowerBound(key, level == 0 ? 0 : 1, out bool isExact) != i || !isExact)
                report($"Tree '{_name}', page {number}: key {i} is not found by a search.");
            previous = key;
        }

        int expected = PageLayout.SizeBytes - page.Header.HeapStart - page.Header.Garbage;
        if (used != expected)
            report($"Tree '{_name}', page {number}: cells use {used} bytes, its header says {expected}.");
    }

    private void CheckRun(ReadOnlySpan<byte> overflow)
    {
        PageReference reference = PageReference.ReadPacked(overflow);
        int length = BinaryPrimitives.ReadInt32LittleEndian(overflow[PageReference.PackedBytes..]);
        if (!markRun(new PageRun(reference.Number, PageLayout.RunPages(length))))
            return;

        try
        {
            store.ReadRun(reference, length);
        }
        catch (CorruptionException error)
        {
            report($"Tree '{_name}': {error.Message}");
        }
    }

    private static byte[] KeyOf(SlottedPage page, int index)
    {
        var key = new byte[page.Header.PrefixLength + page.Suffix(index).Length];
        page.CopyKey(index, key);
        return key;
    }
}
