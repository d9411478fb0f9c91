using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Paging;
using Treepie.Storage.Snapshots;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Reads bitmap pages of the last durable checkpoint on demand. A damaged one is rebuilt: pages reachable from the
/// checkpoint's roots are in use, all others are free.
/// </summary>
/// <remarks>
/// The rebuild walks the checkpoint, not the newest state: the checkpoint's pages are kept until a newer one is durable, and
/// a bitmap page that has not been read yet covers pages that nothing has changed since. The walk reads every branch and leaf
/// once, on the leader's thread: writers wait, readers do not. Damage is rare, and the alternative is to refuse to write.
/// </remarks>
internal sealed class BitmapSource(PageStore store, MetaPage first, int pagesPerGroup)
{
    private readonly int _wordsPerGroup = pagesPerGroup / PageGroup.BitsPerWord;
    private MetaPage _meta = first;
    private ulong[]? _walked;
    private long _walkedCheckpoint = -1;

    /// <summary>The last durable checkpoint.</summary>
    public MetaPage Meta
    {
        get => Volatile.Read(ref _meta);
        set => Volatile.Write(ref _meta, value);
    }

    /// <summary>Number of damaged bitmap pages that were rebuilt.</summary>
    public int RebuiltPages { get; private set; }

    /// <summary>Fills in the bits of a group, rebuilding them if the bitmap page is damaged.</summary>
    public void Load(int group, Span<ulong> live)
    {
        Debug.Assert(group >= 0 && live.Length == PageGroup.Words, "a bitmap page has the bits of a group");
        if (TryRead(group, live, out string fault))
            return;

        ulong[] all = Walk(fault);
        all.AsSpan(group * _wordsPerGroup, _wordsPerGroup).CopyTo(live);
        RebuiltPages++;
    }

    /// <summary>Reads the bits of a group from disk; returns false and the reason if its page is damaged.</summary>
    public bool TryRead(int group, Span<ulong> live, out string fault)
    {
        MetaPage meta = Meta;
        fault = "";
        if (group >= meta.Bitmap.Pages)
        {
            fault = $"{meta.PageCount} pages need {group + 1} bitmap pages, the meta page names {meta.Bitmap.Pages}";
            return false;
        }

        try
        {
            long number = meta.Bitmap.First + group;
            var page = new Page(store.Read(number));
            if (page.Type == PageType.Bitmap)
            {
                MemoryMarshal.Cast<byte, ulong>(page.Bytes[PageLayout.HeaderBytes..]).CopyTo(live);
                return true;
            }

            fault = $"page {number} is of type {page.Type}, a bitmap was expected";
        }
        catch (CorruptionException error)
        {
            fault = error.Message;
        }

        return false;
    }

    private ulong[] Walk(string fault)
    {
        MetaPage meta = Meta;
        if (_walked is not null && _walkedCheckpoint == meta.Checkpoint)
            return _walked;

        long groups = (meta.PageCount + pagesPerGroup - 1) / pagesPerGroup;
        var live = new ulong[groups * _wordsPerGroup];
        try
        {
            Mark(live, meta.Bitmap, meta.PageCount);
            Mark(live, meta.OtherBitmap, meta.PageCount);
            var walk = new RootWalk(store, run => Mark(live, run, meta.PageCount), CancellationToken.None);
            walk.Catalogue(meta.Catalogue);
            walk.Tree(meta.System);
            foreach (PinnedRun run in PinnedPagesTree.ReadAll(store, meta.System))
                Mark(live, run.Run, meta.PageCount);
        }
        catch (CorruptionException error)
        {
            throw new CorruptionException(
                $"A part of the bitmap of free pages is damaged: {fault} It cannot be worked out again either, because other "
                    + $"pages are damaged: {error.Message}",
                error);
        }

        _walked = live;
        _walkedCheckpoint = meta.Checkpoint;
        return live;
    }

    /// <summary>
    /// Marks the pages of a run; returns false if all of them were marked already: the subtree was walked before, or two
    /// trees share it, which is reported by the integrity check.
    /// </summary>
    private static bool Mark(ulong[] live, PageRun run, long pageCount)
    {
        bool isNew = false;
        for (long page = run.First; page < Math.Min(run.First + run.Pages, pageCount); page++)
        {
            ref ulong word = ref live[page / 64];
            ulong bit = 1UL << (int)(page % 64);
            isNew |= (word & bit) == 0;
            word |= bit;
        }

        return isNew;
    }
}
