using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// Changes a tree. The descent makes every page the batch's own (copies it and points its parent to the copy); then the leaf is
/// changed in place; a full leaf fills its neighbour or is split, an underfull page is merged, upwards along the path.
/// </summary>
/// <remarks>
/// Reused for one tree after another (<see cref="Begin"/>). Invariants. 1. Every page of the path is the batch's own. 2.
/// <c>_index[i]</c> is the entry of page i of the path that leads to page i + 1. 3. Unless <c>_leafDepth</c> is -1, the path
/// leads from the root to a leaf. 4. A separator is above all keys left of it and not above any key right of it. 5. Splits,
/// merges and moves to a neighbour keep every entry.
/// </remarks>
internal sealed class TreeWriter(PageStore store, PageWriter pages)
{
    /// <summary>A page with fewer bytes in use is merged with a neighbour if possible.</summary>
    private const int UnderfullBytes = PageLayout.ContentBytes / 4;

    /// <summary>A merged page has at most this many bytes in use, so that the next insert does not split it again.</summary>
    private const int MergeLimitBytes = PageLayout.ContentBytes * 3 / 4;

    /// <summary>The minimum size of the entries that a full leaf moves to its left neighbour, in bytes.</summary>
    private const int LeastMovedBytes = PageLayout.ContentBytes / 16;

    private readonly PageReference[] _path = pages.Memory.Path;
    private readonly int[] _index = pages.Memory.PathIndex;
    private readonly byte[] _copy = pages.Memory.PageCopy;

    private Tree _tree = null!; // set by Begin

    /// <summary>Depth of the leaf of the last put in the path; -1 if the path may be stale.</summary>
    private int _leafDepth = -1;
    private bool _isLastLeaf;
    private bool _staysNear = true;

    /// <summary>Sets the tree to change.</summary>
    public void Begin(Tree tree)
    {
        _tree = tree;
        _leafDepth = -1;
        _isLastLeaf = false;
        _staysNear = true;
    }

    /// <summary>Inserts or replaces a key and returns the span for its value; the bytes are undefined.</summary>
    public Span<byte> Put(scoped ReadOnlySpan<byte> key, int valueBytes, out bool isNew)
    {
        TreeRecord record = _tree.Record;
        if (record.Levels == 0)
        {
            PageReference root = pages.New(record.Id, PageType.Leaf, 0);
            _tree.Record = record = record with { Root = root, Levels = 1 };
        }

        if (!IsInLeaf(key, out int index, out bool isExact))
        {
            DescendForWriting(key);
            index = new SlottedPage(pages.View(_path[_leafDepth].Number)).LowerBound(key, 0, out isExact);
        }

        int depth = _leafDepth;
        Debug.Assert(
            depth == _tree.Record.Levels - 1 && pages.Memory.PathOwner == this,
            "3: the path is that of this writer and ends at a leaf");
        long number = _path[depth].Number;
        var leaf = new SlottedPage(pages.Edit(number));
        bool isOverflow = valueBytes > FormatLimits.MaxInlineValueBytes
            || SlottedPage.CellHeadBytes + key.Length + valueBytes > FormatLimits.MaxCellBytes;
        int cellValueBytes = isOverflow ? OverflowReference.PackedBytes : valueBytes;
        isNew = !isExact;

        // Allocate the run of a long value first: if the disk is full, nothing in the leaf has changed yet.
        PageReference run = default;
        Span<byte> runBytes = isOverflow ? pages.NewRun(record.Id, valueBytes, out run) : default;

        Span<byte> place;
        if (isExact)
        {
            Span<byte> old = leaf.Value(index, out bool wasOverflow);
            if (wasOverflow)
                FreeRun(old);
            if (old.Length >= cellValueBytes && wasOverflow == isOverflow)
            {
                // In place, though bytes of the cell stay unused until the page is rebuilt, which costs a whole page of
                // journal.
                pages.Note(number, leaf.LinesOf(index));
                place = leaf.ShrinkValue(index, cellValueBytes);
            }
            else if (leaf.HasRoom(key.Length - leaf.Header.PrefixLength, cellValueBytes))
            {
                place = leaf.Replace(index, cellValueBytes, isOverflow);
                pages.Note(number, leaf.LinesOf(index));
            }
            else if (leaf.FreeBytes + old.Length >= cellValueBytes)
            {
                pages.Note(number, LineSet.All);
                place = leaf.ReplaceCompacted(index, cellValueBytes, isOverflow, _copy);
            }
            else
            {
                pages.Note(number, LineSet.All);
                leaf.Remove(index);
                place = Insert(depth, index, key, cellValueBytes, isOverflow);
            }
        }
        else
        {
            place = Insert(depth, index, key, cellValueBytes, isOverflow);
            _tree.Record = _tree.Record with { Count = _tree.Record.Count + 1 };
        }

        Debug.Assert(place.Length == cellValueBytes, "5: an entry has the room it asked for");
        if (!isOverflow)
            return place;

        new OverflowReference(run, valueBytes).WritePacked(place);
        return runBytes;
    }

    /// <summary>Removes a key; returns false, with nothing copied, if it does not exist.</summary>
    public bool Delete(scoped ReadOnlySpan<byte> key)
    {
        if (!_tree.Contains(key))
            return false;

        int depth = DescendForWriting(key);
        _leafDepth = -1; // pages may be merged below
        var leaf = new SlottedPage(pages.Bytes(_path[depth].Number));
        int index = leaf.LowerBound(key, 0, out bool isExact);
        Debug.Assert(isExact, "5: copying the path keeps every entry");
        Span<byte> value = leaf.Value(index, out bool isOverflow);
        if (isOverflow)
            FreeRun(value);
        leaf.Remove(index);
        _tree.Record = _tree.Record with { Count = _tree.Record.Count - 1 };
        Shrink(depth);
        return true;
    }

    /// <summary>Packs leaves, see <see cref="TreePacker"/>.</summary>
    public byte[]? Pack(ReadOnlySpan<byte> from, out int saved)
    {
        _leafDepth = -1; // packing changes the path
        var packer = new TreePacker(_tree, pages);
        byte[]? next = packer.Run(from);
        saved = packer.Saved;
        return next;
    }

    /// <summary>Frees every page of the tree.</summary>
    public void Drop()
    {
        TreeRecord record = _tree.Record;
        _leafDepth = -1;
        if (record.Levels > 0)
            DropPage(record.Root, record.Levels - 1);
        _tree.Record = TreeRecord.Empty(record.Id);
    }

    private void DropPage(PageReference reference, int level)
    {
        var page = new SlottedPage(store.Read(reference, level));
        for (int i = 0; i < page.Count; i++)
        {
            if (level > 0)
                DropPage(page.Child(i), level - 1);
            else if (page.Value(i, out bool isOverflow) is var value && isOverflow)
                FreeRun(value);
        }

        pages.Free(reference);
    }

    /// <summary>
    /// Descends to the leaf of a key; returns its depth. All pages of the path are the batch's own afterwards.
    /// </summary>
    private int DescendForWriting(scoped ReadOnlySpan<byte> key)
    {
        TreeRecord record = _tree.Record;
        Debug.Assert(record.Levels > 0, "3: a tree without levels has no leaf to descend to");
        PageReference before = _leafDepth < 0 || pages.Memory.PathOwner != this ? default : _path[_leafDepth];
        pages.Memory.PathOwner = this;
        PageReference own = pages.MakeWritable(record.Root, record.Levels - 1);
        if (own != record.Root)
            _tree.Record = record with { Root = own };

        int depth = 0;
        _path[0] = own;
        _isLastLeaf = true;
        for (int level = record.Levels - 1; level > 0; level--)
        {
            long number = own.Number;
            var branch = new SlottedPage(pages.View(number));
            int index = branch.FindChild(key);
            PageReference child = branch.Child(index);
            own = pages.MakeWritable(child, level - 1);
            Debug.Assert(own.Birth == pages.Birth, "1: every page of the path is the batch's own");
            if (own != child)
                pages.Patch(number, branch.ValueOffset(index), own);
            _isLastLeaf &= index == branch.Count - 1;
            _index[depth++] = index;
            _path[depth] = own;
        }

        Debug.Assert(depth == _tree.Record.Levels - 1, "3: the path ends at a leaf");
        _staysNear = before == own || before.IsNone;
        return _leafDepth = depth;
    }

    /// <summary>
    /// Whether a key belongs into the leaf of the last put, and where: this is mostly so for keys in order, which then need
    /// no descent. For keys in random order the leaf is not searched again until two puts have led to the same leaf.
    /// </summary>
    private bool IsInLeaf(scoped ReadOnlySpan<byte> key, out int index, out bool isExact)
    {
        index = 0;
        isExact = false;
        if (_leafDepth < 0 || !_staysNear || pages.Memory.PathOwner != this)
            return false;

        Debug.Assert(_leafDepth == _tree.Record.Levels - 1, "3: the path ends at a leaf");
        Debug.Assert(_path[_leafDepth].Birth == pages.Birth, "1: every page of the path is the batch's own");
        var leaf = new SlottedPage(pages.View(_path[_leafDepth].Number));
        index = leaf.LowerBound(key, 0, out isExact);
        return _staysNear = isExact || (index > 0 && (index < leaf.Count || _isLastLeaf));
    }

    /// <summary>Inserts an entry into the page at a depth of the path; returns the span for its value.</summary>
    private Span<byte> Insert(int depth, int index, scoped ReadOnlySpan<byte> key, int valueBytes, bool isOverflow)
    {
        Debug.Assert((uint)depth < (uint)_tree.Record.Levels, "3: the path has a page at this depth");
        Debug.Assert(_path[depth].Birth == pages.Birth, "1: every page of the path is the batch's own");
        long number = _path[depth].Number;
        Span<byte> bytes = pages.Edit(number);
        var page = new SlottedPage(bytes);
        if (key.StartsWith(page.Prefix))
        {
            int suffixBytes = key.Length - page.Header.PrefixLength;
            if (page.HasRoom(suffixBytes, valueBytes))
            {
                Span<byte> place = page.Insert(index, key, valueBytes, isOverflow);
                pages.Note(number, page.LinesFrom(index));
                return place;
            }
        }

        pages.Note(number, LineSet.All);
        bytes.CopyTo(_copy);
        var rebuild = new PageRebuild(_copy, index, key, valueBytes, isOverflow);
        bool isBranch = page.Header.Type == PageType.Branch;
        if (rebuild.ContentBytes(0, rebuild.Count, isBranch) <= PageLayout.ContentBytes)
        {
            page.Clear();
            return PageRebuild.Write(rebuild, page, 0, rebuild.Count);
        }

        int moved = isBranch ? 0 : MoveToLeft(depth, index, rebuild);
        return moved > 0
            ? Insert(depth, index - moved, key, valueBytes, isOverflow)
            : Split(depth, index, rebuild, isBranch);
    }

    /// <summary>
    /// Moves the first entries of a full leaf to its left neighbour, up to half of the free bytes there, so that leaves that
    /// change together are filled before new ones are made (called overflow in: Bayer and McCreight, Organization and
    /// maintenance of large ordered indexes, 1972). Does nothing unless the neighbour is the batch's own already, so that it
    /// never copies another page. Returns the number of entries moved, all of them before the additional one; 0 if the leaf
    /// must be split.
    /// </summary>
    private int MoveToLeft(int depth, int index, scoped PageRebuild rebuild)
    {
        if (depth == 0 || _index[depth - 1] == 0)
            return 0;

        int at = _index[depth - 1];
        long parentNumber = _path[depth - 1].Number;
        PageReference neighbour = new SlottedPage(pages.View(parentNumber)).Child(at - 1);
        if (neighbour.Birth != pages.Birth)
            return 0;

        var left = new SlottedPage(pages.View(neighbour.Number));
        int kept = left.Count, room = left.FreeBytes / 2, bytes = 0, moved = 0;
        for (; moved < index && bytes + rebuild.EntryBytes(moved) <= room; moved++)
            bytes += rebuild.EntryBytes(moved);
        if (bytes < LeastMovedBytes || rebuild.ContentBytes(moved, rebuild.Count, isBranch: false) > PageLayout.ContentBytes)
            return 0;

        Span<byte> prefix = stackalloc byte[Tree.MaxKeyBytes], last = stackalloc byte[Tree.MaxKeyBytes],
            separator = stackalloc byte[Tree.MaxKeyBytes];
        prefix = prefix[..left.CopyKey(0, prefix)];
        prefix = prefix[..prefix.CommonPrefixLength(last[..rebuild.CopyKey(moved - 1, last)])];
        int longer = kept * Math.Max(0, left.Prefix.Length - prefix.Length); // if all the keys share less
        if (left.UsedBytes + bytes + longer + SlottedPage.UnusedHeadBytes(1) > PageLayout.ContentBytes)
            return 0;

        _leafDepth = -1; // the parent may be split below
        separator = separator[..Separator(rebuild, moved, isBranch: false, separator)];
        var leaf = new SlottedPage(pages.Bytes(_path[depth].Number));
        var parent = new SlottedPage(pages.Bytes(parentNumber));
        Span<byte> leftBytes = pages.Bytes(neighbour.Number);
        leftBytes.CopyTo(_copy); // in place of the copy of the leaf, which is no longer needed
        left.Clear();
        left.SetPrefix(prefix, default);
        left.Append(new SlottedPage(_copy), 0, kept);
        left.Append(leaf, 0, moved);
        for (int i = 0; i < moved; i++)
            leaf.Remove(0);
        Debug.Assert(left.Count == kept + moved, "5: moving keeps every entry");
        AssertSeparates(separator, left, leaf);
        parent.Remove(at);
        _path[depth].WritePacked(Insert(depth - 1, at, separator, PageReference.PackedBytes, false));
        return moved;
    }

    /// <summary>Splits a page, including the additional entry; the right half is a new page.</summary>
    private Span<byte> Split(int depth, int index, scoped PageRebuild rebuild, bool isBranch)
    {
        _leafDepth = -1; // the entry may go to the other half
        int split = ChooseSplit(depth, index, rebuild, isBranch);
        Debug.Assert(split > 0 && split < rebuild.Count, "5: both halves of a split have entries");
        Span<byte> separator = stackalloc byte[Tree.MaxKeyBytes];
        separator = separator[..Separator(rebuild, split, isBranch, separator)];

        // Allocate the new page first: if the disk is full, nothing has changed yet.
        var left = new SlottedPage(pages.Bytes(_path[depth].Number));
        PageReference rightReference = pages.NewBeside(_path[depth], _tree.Record.Id, left.Header.Type, left.Header.Level);
        var right = new SlottedPage(pages.Bytes(rightReference.Number));
        left.Clear();
        Span<byte> inLeft = PageRebuild.Write(rebuild, left, 0, split);
        Span<byte> inRight = PageRebuild.Write(rebuild, right, split, rebuild.Count);
        Span<byte> place = index < split ? inLeft : inRight;
        Debug.Assert(left.Count + right.Count == rebuild.Count, "5: a split keeps every entry");
        AssertSeparates(separator, left, right);

        // The parent's insertion reuses the copy, which is no longer needed; the span found above stays valid.
        if (depth == 0)
            GrowRoot(separator, rightReference);
        else
            rightReference.WritePacked(Insert(depth - 1, _index[depth - 1] + 1, separator, PageReference.PackedBytes, false));
        return place;
    }

    private int ChooseSplit(int depth, int index, scoped PageRebuild rebuild, bool isBranch)
    {
        int count = rebuild.Count;

        // Keys in order fill their pages: only the new key goes to the new page.
        if (index == count - 1 && Fits(rebuild, index, isBranch))
            return index;
        if (index == 0 && !isBranch && IsLeftmost(depth) && Fits(rebuild, 1, isBranch))
            return 1;

        int middle = rebuild.MiddleByBytes();
        if (Fits(rebuild, middle, isBranch))
            return middle;

        // A key without the page's prefix is at one end, alone if necessary; otherwise the smaller side takes the new entry.
        foreach (int split in (ReadOnlySpan<int>)[index, index + 1])
            if (Fits(rebuild, split, isBranch))
                return split;

        throw new InvalidOperationException($"A page of tree {_tree.Record.Id} with {count} entries cannot be divided.");
    }

    private static bool Fits(PageRebuild rebuild, int split, bool isBranch) =>
        split > 0 && split < rebuild.Count
        && rebuild.ContentBytes(0, split, isBranch) <= PageLayout.ContentBytes
        && rebuild.ContentBytes(split, rebuild.Count, isBranch) <= PageLayout.ContentBytes;

    private bool IsLeftmost(int depth)
    {
        for (int i = 0; i < depth; i++)
            if (_index[i] != 0)
                return false;
        return true;
    }

    /// <summary>
    /// Finds the shortest key above all keys on the left and not above any key on the right; for a branch, the key that moves
    /// up. Returns its length.
    /// </summary>
    private static int Separator(PageRebuild rebuild, int split, bool isBranch, Span<byte> destination)
    {
        int length = rebuild.CopyKey(split, destination);
        if (isBranch)
            return length;

        Span<byte> last = stackalloc byte[Tree.MaxKeyBytes];
        last = last[..rebuild.CopyKey(split - 1, last)];
        return Math.Min(length, last.CommonPrefixLength(destination[..length]) + 1);
    }

    private void GrowRoot(scoped ReadOnlySpan<byte> separator, PageReference right)
    {
        TreeRecord record = _tree.Record;
        Debug.Assert(record.Levels < TreeRecord.MaxLevels, "3: a path has room for every level");
        Debug.Assert(record.Root == _path[0], "3: the path begins at the root");
        PageReference root = pages.New(record.Id, PageType.Branch, record.Levels);
        var branch = new SlottedPage(pages.Bytes(root.Number));
        record.Root.WritePacked(branch.Insert(0, default, PageReference.PackedBytes, false));
        right.WritePacked(branch.Insert(1, separator, PageReference.PackedBytes, false));
        _tree.Record = record with { Root = root, Levels = record.Levels + 1 };
    }

    /// <summary>
    /// Called after a removal: frees an empty page, merges an underfull one, and removes a root that has a single child.
    /// </summary>
    private void Shrink(int depth)
    {
        Debug.Assert(depth == _tree.Record.Levels - 1, "3: a removal begins at a leaf");
        for (; depth > 0; depth--)
        {
            var page = new SlottedPage(pages.Bytes(_path[depth].Number));
            if (page.Count == 0)
            {
                pages.Free(_path[depth]);
                new SlottedPage(pages.Bytes(_path[depth - 1].Number)).Remove(_index[depth - 1]);
                continue;
            }

            if (page.UsedBytes >= UnderfullBytes || !Merge(depth))
                return;
        }

        ShrinkRoot();
    }

    private void ShrinkRoot()
    {
        while (true)
        {
            TreeRecord record = _tree.Record;
            var root = new SlottedPage(pages.Bytes(record.Root.Number));
            if (root.Count == 0)
            {
                pages.Free(record.Root);
                _tree.Record = record with { Root = default, Levels = 0 };
                return;
            }

            if (record.Levels == 1 || root.Count > 1)
                return;

            PageReference child = root.Child(0);
            pages.Free(record.Root);
            _tree.Record = record with { Root = pages.MakeWritable(child, record.Levels - 2), Levels = record.Levels - 1 };
        }
    }

    /// <summary>Merges a page with a neighbour under the same parent, into the left one, if both fit with some room.</summary>
    private bool Merge(int depth)
    {
        Debug.Assert(
            depth > 0 && _path[depth - 1].Birth == pages.Birth,
            "1: the parent of a page that is merged is the batch's own");
        var parent = new SlottedPage(pages.Bytes(_path[depth - 1].Number));
        int index = _index[depth - 1];
        Debug.Assert(parent.Child(index) == _path[depth], "2: the path is that of the pages");
        if (parent.Count < 2)
            return false;

        int leftIndex = index > 0 ? index - 1 : index;
        int level = parent.Header.Level - 1;
        var left = new SlottedPage(store.Read(parent.Child(leftIndex), level));
        var right = new SlottedPage(store.Read(parent.Child(leftIndex + 1), level));
        bool isBranch = left.Header.Type == PageType.Branch;

        Span<byte> separator = stackalloc byte[Tree.MaxKeyBytes];
        separator = separator[..parent.CopyKey(leftIndex + 1, separator)];
        if (MergedBytes(left, right, separator.Length, isBranch) > MergeLimitBytes)
            return false;

        PageReference child = parent.Child(leftIndex);
        PageReference own = pages.MakeWritable(child, level);
        if (own != child)
            parent.SetChild(leftIndex, own);

        // Without a prefix, because the pages may share none; the next rebuild finds one.
        Span<byte> bytes = pages.Bytes(own.Number);
        bytes.CopyTo(_copy);
        left = new SlottedPage(_copy);
        var merged = new SlottedPage(bytes);
        merged.Clear();
        Append(merged, left, default, isBranch);
        Append(merged, right, separator, isBranch);
        Debug.Assert(merged.Count == left.Count + right.Count, "5: a merge keeps every entry");
        Debug.Assert(merged.UsedBytes <= MergeLimitBytes, "5: a merged page has the room that was planned");
        pages.Free(parent.Child(leftIndex + 1));
        parent.Remove(leftIndex + 1);
        return true;
    }

    private static int MergedBytes(SlottedPage left, SlottedPage right, int separatorBytes, bool isBranch) =>
        left.UsedBytes + (left.Count * left.Prefix.Length)
        + right.UsedBytes + (right.Count * right.Prefix.Length)
        + (isBranch ? separatorBytes : 0);

    private static void Append(SlottedPage destination, SlottedPage source, ReadOnlySpan<byte> firstKey, bool isBranch)
    {
        for (int i = 0; i < source.Count; i++)
        {
            Span<byte> value = source.Value(i, out bool isOverflow);
            Span<byte> place = isBranch && i == 0
                ? destination.InsertSuffix(destination.Count, firstKey, default, value.Length, isOverflow)
                : destination.InsertSuffix(destination.Count, source.Prefix, source.Suffix(i), value.Length, isOverflow);
            value.CopyTo(place);
        }
    }

    /// <summary>
    /// Asserts invariant 4, unless the keys on its two sides are unordered, as they may be in a damaged page.
    /// </summary>
    [Conditional("DEBUG")]
    private static void AssertSeparates(ReadOnlySpan<byte> separator, SlottedPage left, SlottedPage right)
    {
        if (left.Header.Type != PageType.Leaf)
            return;

        Span<byte> last = stackalloc byte[Tree.MaxKeyBytes], first = stackalloc byte[Tree.MaxKeyBytes];
        last = last[..left.CopyKey(left.Count - 1, last)];
        first = first[..right.CopyKey(0, first)];
        if (last.SequenceCompareTo(first) >= 0)
            return;

        Debug.Assert(last.SequenceCompareTo(separator) < 0, "4: keys left of a separator are below it");
        Debug.Assert(separator.SequenceCompareTo(first) <= 0, "4: keys right of a separator are not below it");
    }

    private void FreeRun(ReadOnlySpan<byte> overflow) => pages.Free(OverflowReference.ReadPacked(overflow));
}
