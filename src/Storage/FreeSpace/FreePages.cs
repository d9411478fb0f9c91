using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.FreeSpace;

/// <summary>
/// Which pages hold something. A page is visible to snapshots in [birth, freed) and is given out again as soon as no
/// snapshot that is open (by a reader, by the last durable checkpoint, by a checkpoint under way) lies in that interval:
/// a reader open for a year holds back the pages it can see and no others. For the one writer only.
/// </summary>
/// <remarks>
/// Invariants. 1. A page in use by the newest state is set in <c>_live</c> and clear in <c>_free</c>. 2. A page that was freed but can
/// still be seen is clear in both and in exactly one of <c>_held</c>, <c>_heldByCheckpoint</c>, <c>_unpinned</c> and <c>_recent</c>. A page that a
/// named snapshot sees counts as in use until it is unpinned. 3. Every page from
/// <see cref="FormatLimits.FirstDataPage"/> to <see cref="PageCount"/> is live, free or held.
/// </remarks>
internal sealed class FreePages
{
    private readonly PageBitmap _live = new();
    private readonly PageBitmap _free = new();
    private readonly List<Held> _recent = [];
    private readonly List<(Held Held, long Dropped)> _unpinned = [];
    private readonly Dictionary<long, List<Held>> _held = [];
    private readonly List<Held> _heldByCheckpoint = [];
    private byte[] _dirty = [];
    private long _hint;
    private int _noRunOf = int.MaxValue;

    /// <summary>Pages ever given out, counted from 0.</summary>
    public long PageCount { get; private set; } = FormatLimits.FirstDataPage;

    /// <summary>Pages that can be given out at once.</summary>
    public long FreeCount => _free.SetCount;

    /// <summary>Bitmap pages needed for all pages.</summary>
    public int BitmapPages => (int)((PageCount + FormatLimits.PagesPerBitmap - 1) / FormatLimits.PagesPerBitmap);

    /// <summary>Whether a page belongs to the newest state.</summary>
    public bool IsLive(long page) => _live[page];

    /// <summary>A copy of the bits of pages in use, up to <see cref="PageCount"/>.</summary>
    public ulong[] CopyLive()
    {
        var words = new ulong[(PageCount / 64) + 1];
        _live.CopyTo(0, words);
        return words;
    }

    /// <summary>Gives out pages side by side; returns the first. The file must hold <see cref="PageCount"/> pages before they are used.</summary>
    public long Allocate(int pages)
    {
        long first = pages == 1 ? AllocateSingle() : AllocateRun(pages);
        for (long page = first; page < first + pages; page++)
        {
            bool wasDead = _live.Set(page);
            Debug.Assert(wasDead, "Invariant 1: a page is given out once.");
            MarkDirty(page);
        }

        return first;
    }

    /// <summary>
    /// Takes back pages that nobody ever saw. Those at the end were never given out then: a command that asked for more than the disk has
    /// leaves the next one asking for no more than it needs.
    /// </summary>
    public void Return(PageRun run)
    {
        if (run.First + run.Pages == PageCount)
        {
            for (long page = run.First; page < PageCount; page++)
            {
                _live.Clear(page);
                MarkDirty(page);
            }

            PageCount = run.First;
            return;
        }

        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            _live.Clear(page);
            _free.Set(page);
            MarkDirty(page);
        }

        _hint = Math.Min(_hint, run.First);
        _noRunOf = int.MaxValue;
    }

    /// <summary>The newest state no longer uses these pages; they stay held until <see cref="Reclaim"/> lets them go.</summary>
    public void Free(PageRun run, long birth, long freed)
    {
        ClearLive(run);
        _recent.Add(new Held(run, birth, freed));
    }

    /// <summary>
    /// As <see cref="Free"/>, for pages that an earlier transaction freed and only a named snapshot saw, which <paramref name="dropped"/>
    /// dropped: a recovery must not find them needed, so a checkpoint has to contain that transaction first.
    /// </summary>
    public void FreeUnpinned(PageRun run, long birth, long freed, long dropped)
    {
        ClearLive(run);
        _unpinned.Add((new Held(run, birth, freed), dropped));
    }

    /// <summary>
    /// Lets go of pages that no snapshot sees. <paramref name="snapshots"/> is sorted; <paramref name="durable"/> is the last transaction of the last
    /// checkpoint; pages born up to <paramref name="heldUpTo"/> stay in any case (a checkpoint is writing them).
    /// </summary>
    public void Reclaim(ReadOnlySpan<long> snapshots, long durable, long heldUpTo, List<PageRun> released)
    {
        for (int i = _unpinned.Count - 1; i >= 0; i--)
        {
            if (_unpinned[i].Dropped > durable)
                continue;

            _recent.Add(_unpinned[i].Held);
            _unpinned[i] = _unpinned[^1];
            _unpinned.RemoveAt(_unpinned.Count - 1);
        }

        foreach (long snapshot in _held.Keys.ToArray())
        {
            if (snapshots.BinarySearch(snapshot) >= 0)
                continue;

            _recent.AddRange(_held[snapshot]);
            _held.Remove(snapshot);
        }

        if (heldUpTo < 0)
        {
            _recent.AddRange(_heldByCheckpoint);
            _heldByCheckpoint.Clear();
        }

        foreach (Held held in _recent)
        {
            int index = snapshots.BinarySearch(held.Birth);
            index = index < 0 ? ~index : index;
            if (held.Birth <= heldUpTo)
                _heldByCheckpoint.Add(held);
            else if (index < snapshots.Length && snapshots[index] < held.Freed)
                Hold(snapshots[index], held);
            else
                Release(held.Run, released);
        }

        _recent.Clear();
    }

    /// <summary>Marks a page as in use while a state is read from disk.</summary>
    public void LoadLive(PageRun run)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            _free.Clear(page);
            _live.Set(page);
            MarkDirty(page);
        }

        PageCount = Math.Max(PageCount, run.First + run.Pages);
    }

    /// <summary>Takes a bitmap page as read from disk.</summary>
    public void LoadBitmap(int group, ReadOnlySpan<ulong> words) => _live.CopyFrom((long)group * words.Length, words);

    /// <summary>Marks a page as no longer in use while a state is read from disk.</summary>
    public void LoadDead(long page) => _live.Clear(page);

    /// <summary>
    /// After all is read: pages that are not in use are free, but for those freed since the last checkpoint, which it may refer to.
    /// </summary>
    public void FinishLoad(long pageCount, IReadOnlyCollection<PageRun> freedSince, long transaction)
    {
        PageCount = Math.Max(PageCount, pageCount);
        _free.SetComplement(_live, FormatLimits.FirstDataPage, PageCount);

        foreach (PageRun run in freedSince)
        {
            for (long page = run.First; page < run.First + run.Pages; page++)
                _free.Clear(page);
            _recent.Add(new Held(run, 0, transaction));
        }

        MarkAllDirty(0);
        MarkAllDirty(1);
    }

    /// <summary>Copies the bitmap of a group as of now.</summary>
    public void CopyBitmap(int group, Span<ulong> words) => _live.CopyTo((long)group * words.Length, words);

    /// <summary>Whether a group changed since the bitmap of this parity was written, and notes that it is written now.</summary>
    public bool TakeDirty(int group, int parity)
    {
        if (group >= _dirty.Length)
            Array.Resize(ref _dirty, group + 1);
        int bit = 1 << parity;
        bool dirty = (_dirty[group] & bit) != 0;
        _dirty[group] &= (byte)~bit;
        return dirty;
    }

    /// <summary>Makes every group be written again: after a checkpoint that failed, or into a new bitmap run.</summary>
    public void MarkAllDirty(int parity)
    {
        if (_dirty.Length < BitmapPages)
            Array.Resize(ref _dirty, BitmapPages);
        for (int group = 0; group < _dirty.Length; group++)
            _dirty[group] |= (byte)(1 << parity);
    }

    private void ClearLive(PageRun run)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            bool wasLive = _live.Clear(page);
            Debug.Assert(wasLive, "Invariant 1: only a page in use is freed.");
            MarkDirty(page);
        }
    }

    private long AllocateSingle()
    {
        if (_free.SetCount > 0)
        {
            long page = _free.Find(_hint);
            if (page < 0)
                page = _free.Find(0);
            _hint = page + 1;
            _free.Clear(page);
            return page;
        }

        return PageCount++;
    }

    private long AllocateRun(int pages)
    {
        if (_free.SetCount >= pages && pages < _noRunOf)
        {
            long first = _free.FindRun(pages);
            if (first >= 0)
            {
                for (long page = first; page < first + pages; page++)
                    _free.Clear(page);
                return first;
            }

            _noRunOf = pages;
        }

        long end = PageCount;
        PageCount += pages;
        return end;
    }

    private void Hold(long snapshot, Held held)
    {
        if (!_held.TryGetValue(snapshot, out List<Held>? bucket))
            _held.Add(snapshot, bucket = []);
        bucket.Add(held);
    }

    private void Release(PageRun run, List<PageRun> released)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
            _free.Set(page);
        _hint = Math.Min(_hint, run.First);
        _noRunOf = int.MaxValue;
        released.Add(run);
    }

    private void MarkDirty(long page)
    {
        int group = (int)(page / FormatLimits.PagesPerBitmap);
        if (group >= _dirty.Length)
            Array.Resize(ref _dirty, group + 1);
        _dirty[group] = 3;
    }

    private readonly record struct Held(PageRun Run, long Birth, long Freed);
}
