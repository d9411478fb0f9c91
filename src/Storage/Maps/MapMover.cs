using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Maps;

/// <summary>
/// Moves the chosen pages of a map to other places, like <see cref="TreeMover"/> does for trees: bucket by bucket, a bounded
/// number of pages at a time.
/// </summary>
/// <param name="pages">The page writer of the batch.</param>
/// <param name="choice">Selects the pages to move.</param>
/// <param name="seenUpTo">Pages born up to this transaction are not moved, nor are any below them.</param>
internal sealed class MapMover(PageWriter pages, MoveChoice choice, long seenUpTo)
{
    private readonly List<PageReference> _chain = [];
    private BucketLayout _layout;
    private uint _mapId;
    private long _from;
    private long _next = -1;
    private int _visited;

    /// <summary>The number of pages moved.</summary>
    public int Moved { get; private set; }

    /// <summary>
    /// Continues from a bucket. Returns the new record of the map and the bucket to continue from, or -1 at the end.
    /// </summary>
    public TreeRecord Run(TreeRecord map, long from, out long next)
    {
        MapHeader header = MapLayout.Read(MapReader.ReadDirectory(pages.Store, map.Root, map.Levels - 1));
        _layout = new BucketLayout(header.KeyBytes, header.ValueBytes);
        _mapId = map.Id;
        _from = from;
        PageReference root = VisitDirectory(map.Root, map.Levels - 1, 0);
        next = _next;
        Debug.Assert(next < 0 || next > from, "a later step continues behind this one");
        return map with { Root = root };
    }

    private PageReference VisitDirectory(PageReference reference, int level, long firstBucket)
    {
        if (reference.Birth <= seenUpTo)
            return reference;

        _visited++;
        PageReference own = choice.Includes(reference) ? Make(reference) : reference;
        for (int i = 0; i < MapLayout.Fanout && _next < 0; i++)
        {
            PageReference child = MapLayout.Entry(MapReader.ReadDirectory(pages.Store, own, level), i);
            long bucket = firstBucket + ((long)i << (level * MapLayout.FanoutBits));
            if (child.IsNone || bucket + (1L << (level * MapLayout.FanoutBits)) <= _from)
                continue;

            if (Moved >= TreeMover.MaxMovedPages || _visited >= TreeMover.MaxVisitedPages)
            {
                _next = Math.Max(bucket, _from);
                break;
            }

            PageReference moved = level > 0 ? VisitDirectory(child, level - 1, bucket) : VisitBucket(child);
            if (moved == child)
                continue;

            own = Make(own);
            MapLayout.SetEntry(pages.Bytes(own.Number), i, moved);
        }

        return own;
    }

    private PageReference VisitBucket(PageReference first)
    {
        // From the last page to the first, because a page changes if the one after it is moved.
        _chain.Clear();
        var chain = new BucketChain(pages.Store, first);
        for (; !chain.IsEnd && chain.Reference.Birth > seenUpTo; chain.MoveTo(chain.Read(_layout).Next))
            _chain.Add(chain.Reference);

        _visited += _chain.Count;
        PageReference next = chain.Reference, moved = next;
        for (int place = _chain.Count - 1; place >= 0; place--)
        {
            PageReference own = VisitPage(_chain[place]);
            if (moved != next)
            {
                own = Make(own);
                _ = new BucketPage(pages.Bytes(own.Number), _layout) { Next = moved };
            }

            (next, moved) = (_chain[place], own);
        }

        return moved;
    }

    private PageReference VisitPage(PageReference reference)
    {
        PageReference own = choice.Includes(reference) ? Make(reference) : reference;
        BucketPage page = MapReader.ReadBucket(pages.Store, own, _layout);
        int slots = _layout.IsFixed ? 0 : page.Slots; // fixed-size records have no runs
        for (int slot = 0; slot < slots; slot++)
            if (page.IsUsed(slot))
                MoveValue(ref own, slot);
        return own;
    }

    private void MoveValue(ref PageReference bucket, int slot)
    {
        Span<byte> value = MapReader.ReadBucket(pages.Store, bucket, _layout).Value(slot, out bool isOverflow);
        if (!isOverflow)
            return;

        OverflowReference run = OverflowReference.ReadPacked(value);
        if (!choice.Includes(run.First))
            return;

        PageReference moved = pages.MoveRun(run, _mapId);
        Debug.Assert(moved.Birth == pages.Birth && moved.Number != run.First.Number, "a run is copied to free pages");
        Moved += run.Run.Pages;
        bucket = Make(bucket);
        moved.WritePacked(new BucketPage(pages.Bytes(bucket.Number), _layout).Value(slot, out _));
    }

    private PageReference Make(PageReference reference)
    {
        if (reference.Birth == pages.Birth)
            return reference;

        Moved++;
        return pages.Copy(reference, pages.Store.Read(reference));
    }
}
