using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.FreeSpace;

/// <summary>
/// The free list: which pages are in use. A page is visible to snapshots in [birth, freed) and is reused as soon as no open
/// snapshot (of a reader, the last durable checkpoint or a running checkpoint) is in that interval: a reader that stays open
/// for a year holds back the pages it can see and no others (see <see cref="HeldPages"/>). The lowest free page is allocated
/// first, so that the end of the file becomes free when the store shrinks. Must be used by the one writer only.
/// </summary>
/// <remarks>
/// A bitmap page is read when one of its pages is first allocated or freed, so the cost of opening does not depend on the
/// amount of data. Invariants. 1. A page in use by the newest state is live. 2. A page that is freed but still visible is
/// neither live nor free; it is in exactly one place of <see cref="HeldPages"/>, or retired. A page that a named snapshot
/// sees counts as live until it is unpinned. 3. Every page from <see cref="FormatLimits.FirstDataPage"/> to
/// <see cref="PageCount"/> is live, free or held; none beyond is. 4. A group that is not loaded has the bits of the last
/// durable checkpoint. 5. No loaded group below <c>_hint</c> has a free page. 6. Freeing does no I/O: the groups of the pages
/// are loaded before. 7. No cache holds contents of a free page: whatever the page becomes next, nobody reads its old
/// contents. 8. A group covers whole words of one bitmap page; each group has a dirty bit for each of the two places its
/// bitmap page is written to.
/// </remarks>
internal sealed class FreePages
{
    private readonly LoadGroup _load;
    private readonly int _pagesPerGroup;
    private readonly Action<PageRun> _forget;
    private readonly long _loadablePages;
    private readonly List<PageRun> _retired = [];
    private PageGroup?[] _groups = [];
    private byte[] _dirty = [];
    private int _hint;
    private int _noRunOf = int.MaxValue;
    private long _freeLoaded;
    private long _freeNotLoaded;

    /// <param name="pageCount">Pages of the last checkpoint.</param>
    /// <param name="livePages">How many of them are in use.</param>
    /// <param name="load">Reads the bits of a group on first use.</param>
    /// <param name="forget">Drops cached content of pages; called for each run that becomes free, for whatever
    /// reason.</param>
    /// <param name="pagesPerGroup">Pages that one bitmap page covers, a multiple of 64; see
    /// <see cref="Files.World.PagesPerBitmap"/>.</param>
    public FreePages(
        long pageCount, long livePages, LoadGroup load, Action<PageRun> forget, int pagesPerGroup = FormatLimits.PagesPerBitmap)
    {
        Debug.Assert(
            pagesPerGroup > 0 && pagesPerGroup % PageGroup.BitsPerWord == 0
                && pagesPerGroup <= PageGroup.Words * PageGroup.BitsPerWord,
            "8: a group is whole words of one bitmap page");
        _load = load;
        _forget = forget;
        _pagesPerGroup = pagesPerGroup;
        PageCount = _loadablePages = pageCount;
        LivePages = livePages;
        _freeNotLoaded = Math.Max(0, pageCount - FormatLimits.FirstDataPage - livePages);
        MarkAllDirty(1);
    }

    /// <summary>Fills in the bits of a group as of the last durable checkpoint.</summary>
    public delegate void LoadGroup(int group, Span<ulong> live);

    /// <summary>Pages of the data file that were ever allocated, counted from 0; <see cref="TrimEnd"/> lowers it.</summary>
    public long PageCount { get; private set; }

    /// <summary>Pages in use, including bitmaps and pages kept for named snapshots.</summary>
    public long LivePages { get; private set; }

    /// <summary>Pages that can be allocated now.</summary>
    public long FreeCount => _freeLoaded + _freeNotLoaded;

    /// <summary>Pages that are not in use but cannot be reused yet.</summary>
    public HeldPages Held { get; } = new();

    /// <summary>Number of bitmap pages that cover all pages.</summary>
    public int BitmapPages => GroupsOf(PageCount);

    /// <summary>
    /// Number of pages for a new bitmap: one per group, including groups that its own pages would start at the end of the
    /// file.
    /// </summary>
    public int NewBitmapPages
    {
        get
        {
            int pages = BitmapPages;
            while (GroupsOf(PageCount + pages) > pages)
                pages++;
            return pages;
        }
    }

    /// <summary>Number of pages covered by one bitmap page.</summary>
    public int PagesPerGroup => _pagesPerGroup;

    /// <summary>Returns a copy of the bits of pages in use, up to <see cref="PageCount"/>.</summary>
    public ulong[] CopyLive()
    {
        int wordsPerGroup = _pagesPerGroup / PageGroup.BitsPerWord;
        var words = new ulong[BitmapPages * wordsPerGroup];
        for (int group = 0; group < BitmapPages; group++)
            Group(group).Live[..wordsPerGroup].CopyTo(words.AsSpan(group * wordsPerGroup));
        return words;
    }

    /// <summary>
    /// Allocates a run of pages; returns the first. The file must hold <see cref="PageCount"/> pages before they are used.
    /// </summary>
    public long Allocate(int pages)
    {
        Debug.Assert(pages > 0, "1: a run has pages");
        long first = pages == 1 ? FindSingle() : FindRun(pages);
        if (first < 0)
        {
            first = PageCount;
            PageCount += pages;
        }

        bool isNew = SetLive(new PageRun(first, pages));
        Debug.Assert(isNew, "1: a page in use is not given out again");
        Debug.Assert(
            first >= FormatLimits.FirstDataPage && first + pages <= PageCount, "3: only pages of the data file are given out");
        Debug.Assert(_freeLoaded >= 0 && _freeNotLoaded >= 0, "3: no more pages are given out than are free");
        return first;
    }

    /// <summary>
    /// Frees pages that no snapshot has seen. A run at the end lowers <see cref="PageCount"/> again, so that a command that
    /// needed more than the disk has does not make the next command need a larger file.
    /// </summary>
    public void Return(PageRun run)
    {
        bool wereLive = ClearLive(run);
        Debug.Assert(wereLive, "1: only pages in use are given back");
        Debug.Assert(run.First + run.Pages <= PageCount, "3: no page beyond the end is in use");
        if (run.First + run.Pages != PageCount)
        {
            SetFree(run);
            return;
        }

        _forget(run);
        PageCount = run.First;
    }

    /// <summary>
    /// Reads the bits of these pages, so that freeing them needs no I/O (invariant 6). An exception leaves everything unchanged;
    /// call this where an error undoes only the current command.
    /// </summary>
    public void Load(PageRun run)
    {
        int last = (int)((run.First + Math.Max(run.Pages, 1) - 1) / _pagesPerGroup);
        for (int group = (int)(run.First / _pagesPerGroup); group <= last; group++)
            _ = Group(group);
    }

    /// <summary>
    /// Releases pages that the newest state no longer uses; they stay held until <see cref="Reclaim"/> frees them.
    /// </summary>
    /// <remarks>
    /// Pages that are already not in use were freed elsewhere: two places of a damaged file refer to them. They are not reused,
    /// which would spread the damage; a check reports them.
    /// </remarks>
    public void Free(PageRun run, long birth, long freed)
    {
        if (ClearLive(run))
            Held.Add(run, birth, freed);
    }

    /// <summary>
    /// Like <see cref="Free"/>, for pages that an earlier transaction freed and that only a named snapshot saw, which
    /// transaction <paramref name="dropped"/> dropped. They are reused only after a checkpoint contains that transaction:
    /// until then a recovery may need them.
    /// </summary>
    public void FreeUnpinned(PageRun run, long birth, long freed, long dropped)
    {
        if (ClearLive(run))
            Held.AddUnpinned(run, birth, freed, dropped);
    }

    /// <summary>
    /// Releases pages that no snapshot ever sees (bitmaps) but that the last checkpoint refers to: they are no longer in use,
    /// and are not reused before <see cref="FreeRetired"/>.
    /// </summary>
    public void Retire(PageRun run)
    {
        ClearLive(run);
        _retired.Add(run);
    }

    /// <summary>Frees the retired pages; called when a checkpoint that does not refer to them is durable.</summary>
    public void FreeRetired()
    {
        foreach (PageRun run in _retired)
            SetFree(run);
        _retired.Clear();
    }

    /// <summary>Frees the held pages that no snapshot sees; see <see cref="HeldPages.Reclaim"/>.</summary>
    public void Reclaim(ReadOnlySpan<long> snapshots, long durable, long heldUpTo, List<PageRun> released)
    {
        Held.Reclaim(snapshots, durable, heldUpTo, released);
        foreach (PageRun run in released)
            SetFree(run);
    }

    /// <summary>Marks pages as in use while recovery reads the journal.</summary>
    public void LoadLive(PageRun run)
    {
        PageCount = Math.Max(PageCount, run.First + run.Pages);
        SetLive(run);
    }

    /// <summary>Marks a page as no longer in use while recovery reads the journal.</summary>
    public void LoadDead(long page)
    {
        PageCount = Math.Max(PageCount, page + 1);
        PageGroup group = Group(page, out int index);
        if (group.ClearLive(index))
            LivePages--;
        MarkDirty(page);
    }

    /// <summary>
    /// After recovery has read the journal: pages beyond those of the checkpoint that are not in use become free, except those
    /// freed since the checkpoint, which it may refer to.
    /// </summary>
    public void FinishLoad(long pageCount, IReadOnlyCollection<PageRun> freedSince, long transaction)
    {
        PageCount = Math.Max(PageCount, pageCount);
        var dead = new HashSet<long>();
        foreach (PageRun run in freedSince)
        {
            for (long page = run.First; page < run.First + run.Pages; page++)
                dead.Add(page);
            Held.Add(run, 0, transaction);
        }

        for (long page = Math.Max(_loadablePages, FormatLimits.FirstDataPage); page < PageCount; page++)
            if (!Group(page, out int index).IsLive(index) && !dead.Contains(page))
                SetFree(new PageRun(page, 1));
    }

    /// <summary>
    /// Removes free pages from the end; afterwards they count as never allocated. The cost is proportional to the pages removed.
    /// </summary>
    public void TrimEnd()
    {
        while (PageCount > FormatLimits.FirstDataPage)
        {
            PageGroup group = Group(PageCount - 1, out int index);
            long first = PageCount - 1 - index;
            long end = Math.Max(first + group.FindLastNotFree(index + 1) + 1, FormatLimits.FirstDataPage);
            for (long page = end; page < PageCount; page++)
            {
                bool wasFree = group.ClearFree((int)(page - first));
                Debug.Assert(wasFree, "3: only free pages are taken off the end");
                MarkDirty(page);
                _freeLoaded--;
            }

            Debug.Assert(_freeLoaded >= 0, "3: free pages are counted once");

            if (end == PageCount)
                return;

            PageCount = end;
            if (end > first)
                return;
        }
    }

    /// <summary>Whether the bits of a group are in memory; otherwise they are unchanged on disk.</summary>
    public bool IsLoaded(int group) => group < _groups.Length && _groups[group] is not null;

    /// <summary>Copies the current in-use bits of a group.</summary>
    public void CopyBitmap(int group, Span<ulong> words) => Group(group).Live.CopyTo(words);

    /// <summary>
    /// Whether a group changed since its bitmap page in one of the two places (0 or 1) was written; marks it as written.
    /// </summary>
    public bool TakeDirty(int group, int place)
    {
        Debug.Assert(place is 0 or 1, "8: a bitmap page has two places");
        GrowDirty(group);
        int bit = 1 << place;
        bool dirty = (_dirty[group] & bit) != 0;
        _dirty[group] &= (byte)~bit;
        return dirty;
    }

    /// <summary>Whether a group changed since the bitmap in one of the two places was written.</summary>
    public bool IsAnyDirty(int place)
    {
        for (int group = 0; group < BitmapPages; group++)
            if (group >= _dirty.Length || (_dirty[group] & (1 << place)) != 0)
                return true;
        return false;
    }

    /// <summary>Marks a group to be written again after a failed checkpoint.</summary>
    public void MarkDirty(int group, int place)
    {
        Debug.Assert(place is 0 or 1, "8: a bitmap page has two places");
        GrowDirty(group);
        _dirty[group] |= (byte)(1 << place);
    }

    /// <summary>Marks every group to be written to a place that is new, or whose contents after a crash are unknown.</summary>
    public void MarkAllDirty(int place)
    {
        for (int group = Math.Max(_dirty.Length, BitmapPages) - 1; group >= 0; group--)
            MarkDirty(group, place);
    }

    private int GroupsOf(long pages) => (int)((pages + _pagesPerGroup - 1) / _pagesPerGroup);

    private long FindSingle()
    {
        if (FreeCount <= 0)
            return -1;

        for (int group = _hint; group < BitmapPages; group++)
        {
            if (!IsLoaded(group) && _freeNotLoaded == 0)
                continue;

            int index = Group(group).FindFree();
            if (index < 0)
                continue;

            _hint = group;
            AssertNoneFreeBelowHint();
            return First(group) + index;
        }

        _hint = BitmapPages;
        AssertNoneFreeBelowHint();
        return -1;
    }

    private long FindRun(int pages)
    {
        if (FreeCount < pages || pages >= _noRunOf)
            return -1;

        for (int group = _hint; group < BitmapPages; group++)
        {
            if ((!IsLoaded(group) && _freeNotLoaded == 0) || Group(group) is not { } found || found.FreeCount < pages)
                continue;

            int index = found.FindRun(pages);
            if (index >= 0)
                return First(group) + index;
        }

        _noRunOf = pages;
        return -1;
    }

    private bool SetLive(PageRun run)
    {
        bool isNew = true;
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            PageGroup group = Group(page, out int index);
            if (group.IsFree(index))
                _freeLoaded--;
            if (group.SetLive(index))
                LivePages++;
            else
                isNew = false;
            MarkDirty(page);
        }

        return isNew;
    }

    /// <summary>Marks the pages of a run as no longer in use; returns false if one of them was not in use.</summary>
    private bool ClearLive(PageRun run)
    {
        bool wereLive = true;
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            Debug.Assert(IsLoaded((int)(page / _pagesPerGroup)), "6: the groups of freed pages are loaded");
            bool wasLive = Group(page, out int index).ClearLive(index);
            wereLive &= wasLive;
            if (wasLive)
                LivePages--;
            MarkDirty(page);
        }

        Debug.Assert(LivePages >= 0, "1: pages in use are counted once");
        return wereLive;
    }

    private void SetFree(PageRun run)
    {
        Debug.Assert(
            run.First >= FormatLimits.FirstDataPage && run.First + run.Pages <= PageCount, "3: no page beyond the end is free");
        _forget(run); // invariant 7
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            if (Group(page, out int index).SetFree(index))
                _freeLoaded++;
            MarkDirty(page);
        }

        _hint = Math.Min(_hint, (int)(run.First / _pagesPerGroup));
        _noRunOf = int.MaxValue;
    }

    private PageGroup Group(long page, out int index)
    {
        index = (int)(page % _pagesPerGroup);
        return Group((int)(page / _pagesPerGroup));
    }

    private PageGroup Group(int number)
    {
        if (number < _groups.Length && _groups[number] is { } found)
            return found;

        Span<ulong> live = stackalloc ulong[PageGroup.Words];
        var group = new PageGroup();
        long first = First(number);
        if (first < _loadablePages)
        {
            _load(number, live);
            group.Load(
                live, number == 0 ? (int)FormatLimits.FirstDataPage : 0, (int)Math.Min(_pagesPerGroup, _loadablePages - first));
            _freeLoaded += group.FreeCount;
            _freeNotLoaded = Math.Max(0, _freeNotLoaded - group.FreeCount);
            if (group.FreeCount > 0)
            {
                _hint = Math.Min(_hint, number);
                _noRunOf = int.MaxValue;
            }
        }

        if (number >= _groups.Length)
            Array.Resize(ref _groups, number + 1);
        return _groups[number] = group;
    }

    private long First(int group) => (long)group * _pagesPerGroup;

    [Conditional("DEBUG")]
    private void AssertNoneFreeBelowHint()
    {
        for (int group = Math.Min(_hint, _groups.Length) - 1; group >= 0; group--)
            Debug.Assert(_groups[group] is not { FreeCount: > 0 }, "5: no loaded group below the hint has a free page");
    }

    private void MarkDirty(long page)
    {
        int group = (int)(page / _pagesPerGroup);
        GrowDirty(group);
        _dirty[group] = 3;
    }

    private void GrowDirty(int group)
    {
        if (group >= _dirty.Length)
            Array.Resize(ref _dirty, group + 1);
    }
}
