using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Checks;

/// <summary>
/// Checks a B+tree: each page is valid, has the right tree and level and the birth its parent states, never later than the
/// parent's; keys are in order, within their separators and found by a search; overflow values are intact; the key count
/// matches the record.
/// </summary>
internal sealed class TreeCheck(CheckContext context) : ITreeCheck
{
    private readonly PageStore _store = context.Store;
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
            context.Report($"Its record says {record.Count} keys, {_keys} were found.", name);
        context.Keys += _keys;
        context.Trees++;
    }

    private void Walk(PageReference reference, int level, byte[]? low, byte[]? high)
    {
        context.Rest();
        long number = reference.Number;
        if (!context.Mark(new PageRun(number, 1), _name) || !context.Verify(number, _name))
            return;

        SlottedPage page;
        try
        {
            page = new SlottedPage(_store.Read(reference, level));
        }
        catch (CorruptionException error)
        {
            context.Report(error.Message, _name, number);
            return;
        }

        if (page.Header.TreeId != _id)
        {
            context.Report($"It belongs to tree {page.Header.TreeId}, the catalogue says {_id}.", _name, number);
            return;
        }

        if (page.Count == 0)
            context.Report("It is empty.", _name, number);
        CheckPage(page, reference, level, low, high);
        for (int i = 0; level > 0 && i < page.Count; i++)
        {
            PageReference child = page.Child(i);
            if (child.Birth > reference.Birth)
                context.Report(
                    $"Its child {child.Number} was born in transaction {child.Birth}, after it ({reference.Birth}).", _name,
                    number);
            Walk(child, level - 1, i == 0 ? low : KeyOf(page, i), i + 1 < page.Count ? KeyOf(page, i + 1) : high);
            page = new SlottedPage(_store.Read(reference)); // it may have been released while the walk was below it
        }
    }

    private void CheckPage(SlottedPage page, PageReference reference, int level, byte[]? low, byte[]? high)
    {
        byte[]? previous = null;
        for (int i = 0; i < page.Count; i++)
        {
            Span<byte> value = page.Value(i, out bool isOverflow);
            if (level == 0)
            {
                _keys++;
                if (isOverflow)
                    CheckRun(value, reference);
            }
            else if (i == 0)
            {
                continue; // the first key of a branch has no meaning
            }

            byte[] key = KeyOf(page, i);
            if (previous is not null && previous.AsSpan().SequenceCompareTo(key) >= 0)
                context.Report($"Key {i} is not above the one before it.", _name, reference.Number);
            if ((low is not null && key.AsSpan().SequenceCompareTo(low) < 0)
                || (high is not null && key.AsSpan().SequenceCompareTo(high) >= 0))
                context.Report($"Key {i} lies outside the separators of its parent.", _name, reference.Number);
            if (page.LowerBound(key, level == 0 ? 0 : 1, out bool isExact) != i || !isExact)
                context.Report($"Key {i} is not found by a search.", _name, reference.Number);
            previous = key;
        }
    }

    private void CheckRun(ReadOnlySpan<byte> overflow, PageReference leaf)
    {
        OverflowReference value = OverflowReference.ReadPacked(overflow);
        if (!context.CheckRun(value, _name, leaf.Number))
            return;

        PageReference reference = value.First;
        if (reference.Birth > leaf.Birth)
            context.Report(
                $"Its value at page {reference.Number} was born in transaction {reference.Birth}, after it ({leaf.Birth}).",
                _name, leaf.Number);
        uint owner = new Page(_store.Read(reference)).TreeId;
        if (owner != _id)
            context.Report($"It is a value of tree {owner}, the catalogue says {_id}.", _name, reference.Number);
    }

    private static byte[] KeyOf(SlottedPage page, int index)
    {
        var key = new byte[page.Header.PrefixLength + page.Suffix(index).Length];
        page.CopyKey(index, key);
        return key;
    }
}
