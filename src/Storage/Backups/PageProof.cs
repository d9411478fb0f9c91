using System.Numerics;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Backups;

/// <summary>
/// Verifies that pages, which come in any order and are not kept, make up the stated state: each is referred to with its
/// actual properties, every page referred to is present, and the key counts match the tree records. Memory: one bit per page.
/// </summary>
/// <remarks>
/// Each page has a fingerprint of its number, birth, type, level, tree and length; a reference states the same properties.
/// The sum of the fingerprints of all pages and that of all references, counting each page once, are equal if the pages are
/// the same, and almost certainly differ otherwise. Since levels decrease from parent to child, every page referred to is
/// reachable from the roots.
/// </remarks>
internal sealed class PageProof(long pageCount, bool countsKeys)
{
    private readonly PageBits _referred = new(pageCount);
    private ulong _referredSum;
    private ulong _seenSum;
    private long _seen;
    private long _keys;
    private long _keysSaid;
    private string? _fault;

    /// <summary>Adds the root of a tree.</summary>
    public void Root(TreeRecord tree)
    {
        if (tree.Id >= TreeRecord.FirstId)
            _keysSaid += tree.Count;
        if (tree.Levels > 0)
            Refer(
                tree.Root, tree.Kind == TreeKind.Map ? PageType.MapDirectory : TypeOf(tree.Levels - 1), tree.Levels - 1, tree.Id,
                1);
    }

    /// <summary>Adds a page or a whole run of the state. Its checksum and structure have been verified.</summary>
    public void Page(Span<byte> unit)
    {
        var page = new Page(unit);
        _seen++;
        _seenSum += Fingerprint(page.Number, page.Birth, page.Type, page.Level, page.TreeId, unit.Length / PageLayout.SizeBytes);
        switch (page.Type)
        {
            case PageType.Branch:
                var branch = new SlottedPage(unit);
                for (int i = 0; i < branch.Count; i++)
                    Refer(branch.Child(i), TypeOf(page.Level - 1), page.Level - 1, page.TreeId, 1);
                break;
            case PageType.Leaf:
                Leaf(new SlottedPage(unit));
                break;
            case PageType.MapDirectory:
                for (int i = 0; i < MapLayout.Fanout; i++)
                    if (MapLayout.Entry(unit, i) is { IsNone: false } child)
                        Refer(
                            child, page.Level > 0 ? PageType.MapDirectory : PageType.MapBucket, Math.Max(page.Level - 1, 0),
                            page.TreeId, 1);
                break;
            case PageType.MapBucket:
                Bucket(unit, page);
                break;
        }
    }

    /// <summary>Returns the first fault found, or null.</summary>
    public string? FindFault()
    {
        if (_fault is not null)
            return _fault;
        if (_seen != _referred.Count)
            return FormattableString.Invariant($"{_referred.Count:N0} pages are referenced, but {_seen:N0} are present");
        if (_seenSum != _referredSum)
            return "the referenced pages are not the ones that are present";
        return countsKeys && _keys != _keysSaid
            ? FormattableString.Invariant($"its records say {_keysSaid:N0} keys, but its trees have {_keys:N0}")
            : null;
    }

    private static PageType TypeOf(int level) => level == 0 ? PageType.Leaf : PageType.Branch;

    /// <summary>Hashes the properties of a page (the finalizer of MurmurHash3, applied twice).</summary>
    private static ulong Fingerprint(long number, long birth, PageType type, int level, uint tree, int pages)
    {
        ulong what = ((ulong)type << 56) ^ ((ulong)(uint)level << 48) ^ ((ulong)tree << 16) ^ (ulong)(uint)pages;
        return Mix((ulong)number + Mix((ulong)birth + Mix(what)));
    }

    private static ulong Mix(ulong value)
    {
        value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCD;
        value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53;
        return BitOperations.RotateLeft(value ^ (value >> 33), 17);
    }

    private void Refer(PageReference reference, PageType type, int level, uint tree, int pages)
    {
        if (reference.Number < FormatLimits.FirstDataPage || pages < 1 || reference.Number > pageCount - pages)
            _fault ??= FormattableString.Invariant(
                $"{pages} pages from {reference.Number} on are referenced, but there are {pageCount:N0}");
        else if (_referred.Add(reference.Number)) // named snapshots share pages
            _referredSum += Fingerprint(reference.Number, reference.Birth, type, level, tree, pages);
    }

    private void ReferRun(ReadOnlySpan<byte> overflow, uint tree)
    {
        OverflowReference value = OverflowReference.ReadPacked(overflow);
        Refer(value.First, PageType.Overflow, 0, tree, value.IsPossible ? value.Run.Pages : -1);
    }

    private void Leaf(SlottedPage leaf)
    {
        uint tree = leaf.Header.TreeId;
        if (tree >= TreeRecord.FirstId)
            _keys += leaf.Count;
        for (int i = 0; i < leaf.Count; i++)
        {
            Span<byte> value = leaf.Value(i, out bool isOverflow);
            if (isOverflow)
                ReferRun(value, tree);
            else if (tree == TreeRecord.CatalogueId)
                Named(value);
            else if (tree == TreeRecord.SystemId
                && SnapshotRecord.TryRead(value) is { } snapshot
                && FirstOfKey(leaf, i) == SystemKey.Name)
                Root(snapshot.Catalogue);
        }
    }

    private static int FirstOfKey(SlottedPage leaf, int index) =>
        leaf.Prefix.Length > 0 ? leaf.Prefix[0] : leaf.Suffix(index) is [var first, ..] ? first : -1;

    private void Named(ReadOnlySpan<byte> record)
    {
        if (TreeRecord.FindFault(record) is { } fault)
            _fault ??= $"the record of a tree has {fault}";
        else
            Root(TreeRecord.Read(record));
    }

    private void Bucket(Span<byte> unit, Page page)
    {
        _keys += page.Count;
        bool areCells = page.ReadUInt16(MapLayout.RecordOffset) == MapLayout.RecordOfCells;
        var bucket = new BucketPage(unit, new BucketLayout(-1, -1)); // records of fixed size never overflow
        if (bucket.Next is { IsNone: false } next)
            Refer(next, PageType.MapBucket, 1, page.TreeId, 1);
        for (int slot = 0; areCells && slot < bucket.Slots; slot++)
        {
            if (!bucket.IsUsed(slot))
                continue;

            Span<byte> value = bucket.Value(slot, out bool isOverflow);
            if (isOverflow)
                ReferRun(value, page.TreeId);
        }
    }
}
