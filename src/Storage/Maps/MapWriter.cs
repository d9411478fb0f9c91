using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Maps;

/// <summary>
/// Changes a map. Copies the pages on the path to a bucket into the batch, then changes the bucket in place. If a bucket is
/// full, adds a page to it and splits the bucket whose turn it is, only that one, so the map grows without pauses.
/// </summary>
/// <remarks>
/// Invariants. 1. A record is in the chain of the bucket given by <see cref="MapLayout.BucketOf"/>. 2. The number of record
/// bytes in the header is the sum over all pages. 3. Only the first page of a chain may be empty. 4. Buckets and directory
/// pages without records do not exist. Buckets are split only if they are filled on average to
/// <see cref="SplitFromPerMille"/>, so that bad hashes do not create a page for each record.
/// </remarks>
internal sealed class MapWriter
{
    private const int SplitFromPerMille = 400;
    private const int MergeBelowPerMille = 200;

    private readonly PageStore _store;
    private readonly PageWriter _pages;
    private readonly BucketLayout _layout;
    private long _buckets;
    private long _usedBytes;

    public MapWriter(PageStore store, PageWriter pages, TreeRecord record, BucketLayout layout)
    {
        _store = store;
        _pages = pages;
        _layout = layout;
        Record = record;
        MapHeader header = MapLayout.Read(MapReader.ReadDirectory(store, record.Root, record.Levels - 1));
        Seed = header.Seed;
        _buckets = header.Buckets;
        _usedBytes = header.UsedBytes;
    }

    /// <summary>The current record of the map.</summary>
    public TreeRecord Record { get; private set; }

    /// <summary>The seed of the hash.</summary>
    public ulong Seed { get; }

    /// <summary>Creates the root page of a new map.</summary>
    public static TreeRecord Create(PageWriter pages, uint id, MapHeader header, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        PageReference root = pages.New(id, PageType.MapDirectory, 0);
        MapLayout.Write(pages.Bytes(root.Number), header, key, value);
        return TreeRecord.Empty(id) with { Root = root, Levels = 1, Kind = TreeKind.Map };
    }

    /// <summary>
    /// Sets the value of a key. Returns true if the key is new. Values too long for a bucket are stored in an overflow run.
    /// </summary>
    public bool Put<THash>(ulong hash, scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value, THash hashing)
        where THash : struct, IKeyHash
    {
        if (_layout.IsFixed || value.Length <= MapLayout.MaxInlineValueBytes)
            return PutCell(hash, key, value, isOverflow: false, hashing);

        Span<byte> cell = stackalloc byte[OverflowReference.PackedBytes];
        value.CopyTo(_pages.NewRun(Record.Id, value.Length, out PageReference run));
        new OverflowReference(run, value.Length).WritePacked(cell);
        return PutCell(hash, key, cell, isOverflow: true, hashing);
    }

    /// <summary>Removes a key, which must exist.</summary>
    public void Remove<THash>(ulong hash, scoped ReadOnlySpan<byte> key, THash hashing)
        where THash : struct, IKeyHash
    {
        long bucket = MapLayout.BucketOf(hash, _buckets);
        PageReference head = OwnBucket(bucket), before = default;
        var chain = new BucketChain(_store, head);
        while (true)
        {
            PageReference reference = chain.Reference;
            var page = new BucketPage(_pages.View(reference.Number), _layout);
            int slot = page.Find(hash, key);
            if (slot >= 0)
            {
                RemoveAt(new BucketPage(_pages.Bytes(reference.Number), _layout), slot, hashing);
                Unlink(bucket, head, before, reference);
                break;
            }

            before = reference;
            OwnNext(ref chain);
            Debug.Assert(!chain.IsEnd, "1: the caller has seen the key");
        }

        Record = Record with { Count = Record.Count - 1 };
        if (_buckets > 1 && _usedBytes * 1000 < _buckets * PageLayout.ContentBytes * MergeBelowPerMille)
            MergeLast(hashing);
        WriteFigures();
    }

    /// <summary>Removes all records.</summary>
    public void Clear()
    {
        PageReference root = OwnRoot();
        DropEntries(_pages.Bytes(root.Number), Record.Levels - 1);
        Span<byte> bytes = _pages.Bytes(root.Number);
        bytes[MapLayout.EntriesOffset..].Clear();
        _ = new Page(bytes) { Level = 0 };
        Record = Record with { Levels = 1, Count = 0 };
        _buckets = 1;
        _usedBytes = 0;
        WriteFigures();
    }

    /// <summary>Frees every page.</summary>
    public void Drop()
    {
        DropEntries(MapReader.ReadDirectory(_store, Record.Root, Record.Levels - 1), Record.Levels - 1);
        _pages.Free(Record.Root);
    }

    private bool PutCell<THash>(
        ulong hash, scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value, bool isOverflow, THash hashing)
        where THash : struct, IKeyHash
    {
        long bucket = MapLayout.BucketOf(hash, _buckets);
        PageReference head = OwnBucket(bucket), before = default;
        var chain = new BucketChain(_store, head);
        bool isNew = true;
        do
        {
            PageReference reference = chain.Reference;
            var page = new BucketPage(_pages.View(reference.Number), _layout);
            int slot = page.Find(hash, key);
            if (slot >= 0)
            {
                Span<byte> old = page.Value(slot, out bool wasOverflow);
                if (old.Length == value.Length && wasOverflow == isOverflow)
                {
                    if (wasOverflow)
                        FreeRun(old);
                    int offset = page.ValueOffset(slot);
                    value.CopyTo(_pages.Edit(reference.Number)[offset..]);
                    _pages.Note(reference.Number, offset, value.Length);
                    return false;
                }

                RemoveAt(new BucketPage(_pages.Bytes(reference.Number), _layout), slot, hashing);
                isNew = false;
                break;
            }

            before = reference;
            OwnNext(ref chain);
        }
        while (!chain.IsEnd);

        bool isChained = Add(head, hash, key, value, isOverflow, hashing);
        _usedBytes += BucketPage.UsedBytesOf(_layout, key.Length, value.Length);
        if (isNew)
            Record = Record with { Count = Record.Count + 1 };
        else if (!before.IsNone)
            Unlink(bucket, head, before, chain.Reference); // the record may have been stored in an earlier page
        if (isChained
            && _usedBytes * 1000 >= _buckets * PageLayout.ContentBytes * SplitFromPerMille
            && _buckets < MapLayout.MaxBuckets)
            Split(hashing);
        WriteFigures();
        return isNew;
    }

    /// <summary>
    /// Adds a record to the first page of a bucket with enough space, or to a new last page. Returns whether that was not the
    /// first page.
    /// </summary>
    private bool Add<THash>(
        PageReference head, ulong hash, scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value, bool isOverflow,
        THash hashing)
        where THash : struct, IKeyHash
    {
        Debug.Assert(head.Birth == _pages.Birth, "records are added to the batch's own pages");
        for (var chain = new BucketChain(_store, head); ;)
        {
            PageReference reference = chain.Reference;
            var page = new BucketPage(_pages.Edit(reference.Number), _layout);
            int slots = page.Slots, heap = page.Header.HeapStart;
            int slot = page.Insert(hash, key, value.Length, isOverflow, hashing);
            if (slot >= 0)
            {
                value.CopyTo(page.Value(slot, out _));
                Debug.Assert(page.IsReachable(slot, hash), "1: a search finds the record that was added");
                bool isPacked = !_layout.IsFixed && (page.Slots != slots || heap - page.Header.HeapStart != page.CellBytes(slot));
                _pages.Note(reference.Number, isPacked ? LineSet.All : page.LinesOf(slot));
                return reference != head;
            }

            OwnNext(ref chain);
            if (chain.IsEnd)
            {
                PageReference next = _pages.New(Record.Id, PageType.MapBucket, 1);
                new BucketPage(_pages.Bytes(next.Number), _layout).Clear();
                _pages.Patch(reference.Number, BucketPage.NextOffset, next);
                chain.MoveTo(next);
            }
        }
    }

    private void RemoveAt<THash>(BucketPage page, int slot, THash hashing)
        where THash : struct, IKeyHash
    {
        Span<byte> value = page.Value(slot, out bool isOverflow);
        _usedBytes -= BucketPage.UsedBytesOf(_layout, page.Key(slot).Length, value.Length);
        if (isOverflow)
            FreeRun(value);
        page.Remove(slot, hashing);
    }

    /// <summary>Removes a page from its chain if it is empty, and the first one if none follows it.</summary>
    private void Unlink(long bucket, PageReference head, PageReference before, PageReference reference)
    {
        Debug.Assert(before.IsNone == (reference == head), "3: every page but the first follows another");
        var page = new BucketPage(_pages.View(reference.Number), _layout);
        if (page.Count > 0)
            return;

        if (!before.IsNone)
        {
            _pages.Patch(before.Number, BucketPage.NextOffset, page.Next);
            _pages.Free(reference);
        }

        var first = new BucketPage(_pages.View(head.Number), _layout);
        if (first.Count == 0 && first.Next.IsNone)
        {
            ForgetBucket(bucket);
            _pages.Free(head);
        }
    }

    /// <summary>Splits the bucket whose turn it is.</summary>
    private void Split<THash>(THash hashing)
        where THash : struct, IKeyHash
    {
        Debug.Assert(_buckets < MapLayout.MaxBuckets, "4: the directory has room for one bucket more");
        long added = _buckets, divided = MapLayout.Buddy(added);
        Debug.Assert(divided >= 0 && divided < added, "1: a bucket is divided into itself and a new one");
        if (added >> (MapLayout.FanoutBits * Record.Levels) != 0)
            GrowRoot();
        _buckets++;
        if (MapReader.FindBucket(_store, Record, _store.Read(Record.Root), divided).IsNone)
            return;

        PageReference low = OwnBucket(divided), high = default;
        var copy = new BucketPage(stackalloc byte[PageLayout.SizeBytes], _layout);
        var first = new BucketPage(_pages.Bytes(low.Number), _layout);
        first.CopyTo(copy);
        first.Clear();
        for (var chain = new BucketChain(_store, low); ;)
        {
            int slots = copy.Slots;
            for (int slot = 0; slot < slots; slot++)
            {
                if (!copy.IsUsed(slot))
                    continue;

                ulong hash = hashing.Of(copy.Key(slot));
                Span<byte> value = copy.Value(slot, out bool isOverflow);
                bool isHigh = (hash & (ulong)(added - divided)) != 0;
                if (isHigh && high.IsNone)
                    high = OwnBucket(added);
                Add(isHigh ? high : low, hash, copy.Key(slot), value, isOverflow, hashing);
            }

            chain.MoveTo(copy.Next);
            if (chain.IsEnd)
                break;

            chain.Read(_layout).CopyTo(copy);
            _pages.Free(chain.Reference);
        }

        if (new BucketPage(_pages.View(low.Number), _layout).Count == 0)
        {
            ForgetBucket(divided);
            _pages.Free(low);
        }
    }

    /// <summary>Merges the last bucket into the one it was split from.</summary>
    private void MergeLast<THash>(THash hashing)
        where THash : struct, IKeyHash
    {
        long last = _buckets - 1, buddy = MapLayout.Buddy(last);
        Debug.Assert(buddy >= 0 && buddy < last, "1: the first bucket stays");
        _buckets = last;
        var chain = new BucketChain(_store, MapReader.FindBucket(_store, Record, _store.Read(Record.Root), last));
        if (chain.IsEnd)
            return;

        PageReference head = OwnBucket(buddy);
        ForgetBucket(last);
        var copy = new BucketPage(stackalloc byte[PageLayout.SizeBytes], _layout);
        while (!chain.IsEnd)
        {
            chain.Read(_layout).CopyTo(copy);
            _pages.Free(chain.Reference);
            int slots = copy.Slots;
            for (int slot = 0; slot < slots; slot++)
            {
                if (copy.IsUsed(slot))
                    Add(
                        head, hashing.Of(copy.Key(slot)), copy.Key(slot), copy.Value(slot, out bool isOverflow), isOverflow,
                        hashing);
            }

            chain.MoveTo(copy.Next);
        }
    }

    private PageReference OwnRoot()
    {
        PageReference own = OwnDirectory(Record.Root, Record.Levels - 1);
        if (own != Record.Root)
            Record = Record with { Root = own };
        return own;
    }

    private PageReference OwnDirectory(PageReference reference, int level) =>
        reference.Birth == _pages.Birth ? reference : _pages.Copy(reference, MapReader.ReadDirectory(_store, reference, level));

    private PageReference OwnPage(PageReference reference) =>
        reference.Birth == _pages.Birth
            ? reference
            : _pages.Copy(reference, MapReader.ReadBucket(_store, reference, _layout).Bytes);

    /// <summary>Returns the first page of a bucket, created if needed. Copies it and the path to it into the batch.</summary>
    private PageReference OwnBucket(long bucket)
    {
        PageReference own = OwnRoot();
        for (int level = Record.Levels - 1; level >= 0; level--)
        {
            PageReference parent = own;
            int index = MapLayout.IndexOf(bucket, level);
            PageReference child = MapLayout.Entry(_pages.View(parent.Number), index);
            own = child.IsNone
                ? _pages.New(Record.Id, level == 0 ? PageType.MapBucket : PageType.MapDirectory, level == 0 ? 0 : level - 1)
                : level == 0 ? OwnPage(child) : OwnDirectory(child, level - 1);
            Debug.Assert(own.Birth == _pages.Birth, "pages on the way to a bucket are the batch's own");
            if (own == child)
                continue;

            _pages.Patch(parent.Number, MapLayout.EntryOffset(index), own);
            if (child.IsNone && level == 0)
                new BucketPage(_pages.Bytes(own.Number), _layout).Clear();
        }

        return own;
    }

    /// <summary>Moves from a page that belongs to the batch to the next, which is copied into the batch too.</summary>
    private void OwnNext(ref BucketChain chain)
    {
        Debug.Assert(chain.Reference.Birth == _pages.Birth, "only a page after one of the batch's own is copied");
        long before = chain.Reference.Number;
        PageReference next = new BucketPage(_pages.View(before), _layout).Next;
        chain.MoveTo(next);
        if (next.IsNone)
            return;

        PageReference own = OwnPage(next);
        if (own == next)
            return;

        _pages.Patch(before, BucketPage.NextOffset, own);
        chain.ReplaceBy(own);
    }

    /// <summary>Removes a bucket from the directory, and directory pages that become empty.</summary>
    private void ForgetBucket(long bucket) => ForgetBucket(OwnRoot(), bucket, Record.Levels - 1);

    private void ForgetBucket(PageReference directory, long bucket, int level)
    {
        Debug.Assert(directory.Birth == _pages.Birth, "4: an entry is removed from one of the batch's own pages");
        Span<byte> page = _pages.Bytes(directory.Number);
        int index = MapLayout.IndexOf(bucket, level);
        if (level > 0)
        {
            PageReference child = MapLayout.Entry(page, index), own = OwnDirectory(child, level - 1);
            if (own != child)
                MapLayout.SetEntry(page, index, own);
            ForgetBucket(own, bucket, level - 1);
            if (_pages.Bytes(own.Number)[MapLayout.EntriesOffset..].ContainsAnyExcept((byte)0))
                return;

            _pages.Free(own);
        }

        MapLayout.SetEntry(page, index, default);
    }

    private void GrowRoot()
    {
        Debug.Assert(Record.Levels < TreeRecord.MaxLevels, "a record has room for the levels");
        Debug.Assert(Record.Levels < MapLayout.MaxLevels, "4: the most buckets need no more levels");
        PageReference old = OwnRoot(), root = _pages.New(Record.Id, PageType.MapDirectory, Record.Levels);
        Span<byte> from = _pages.Bytes(old.Number)[PageLayout.HeaderBytes..MapLayout.EntriesOffset];
        Span<byte> page = _pages.Bytes(root.Number);
        from.CopyTo(page[PageLayout.HeaderBytes..]);
        from.Clear();
        MapLayout.SetEntry(page, 0, old);
        Record = Record with { Root = root, Levels = Record.Levels + 1 };
    }

    private void WriteFigures()
    {
        long root = OwnRoot().Number;
        MapLayout.SetFigures(_pages.Edit(root), _buckets, _usedBytes);
        _pages.Note(root, MapLayout.FiguresOffset, MapLayout.FiguresBytes);
    }

    private void DropEntries(ReadOnlySpan<byte> directory, int level)
    {
        for (int i = 0; i < MapLayout.Fanout; i++)
        {
            PageReference reference = MapLayout.Entry(directory, i);
            if (reference.IsNone)
                continue;

            if (level > 0)
            {
                DropEntries(MapReader.ReadDirectory(_store, reference, level - 1), level - 1);
                _pages.Free(reference);
            }
            else
            {
                DropChain(reference);
            }
        }
    }

    private void DropChain(PageReference first)
    {
        var chain = new BucketChain(_store, first);
        while (!chain.IsEnd)
        {
            BucketPage page = chain.Read(_layout);
            int slots = _layout.IsFixed ? 0 : page.Slots; // fixed-size records have no runs
            for (int slot = 0; slot < slots; slot++)
            {
                if (page.IsUsed(slot) && page.Value(slot, out bool isOverflow) is var value && isOverflow)
                    FreeRun(value);
            }

            PageReference dropped = chain.Reference;
            chain.MoveTo(page.Next);
            _pages.Free(dropped);
        }
    }

    private void FreeRun(ReadOnlySpan<byte> overflow) => _pages.Free(OverflowReference.ReadPacked(overflow));
}
