using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Memory;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Verifies the pages in use from disk, in file order and at a bounded rate, so that damage is noticed while a backup is
/// still available and not when the page is needed. Reading a page found damaged is an error from then on, even if the
/// system's cache still has it right: see <see cref="DamagedPages"/>.
/// </summary>
/// <remarks>
/// A window of pages is chosen under the write lock, then read and verified without it. A page that looks damaged may just
/// have been freed and overwritten, so it counts as damaged only if a second check under the lock, where nothing is freed,
/// placed or moved, confirms it.
/// </remarks>
internal sealed class Scrubber : IDisposable
{
    private const int WindowPages = 128;
    private const int WindowBytes = WindowPages * PageLayout.SizeBytes; // 1 MiB
    private const int MaxListed = 100;

    /// <summary>Maximum distance, in pages, to search backwards for the start of a value from a page in its middle.</summary>
    private const int MaxLookBackPages = 4096;

    private readonly EnvironmentState _state;
    private readonly CommitQueue _commits;
    private readonly Background _background;
    private readonly TimeProvider _clock;
    private readonly StorageOptions _options;
    private readonly DiskPages _disk;
    private readonly ulong[] _live = new ulong[PageGroup.Words];
    private readonly List<long> _plan = new(WindowPages);
    private ITimer? _timer;
    private long _next = FormatLimits.FirstDataPage;
    private long _first;
    private int _pages;
    private long _passBegan;
    private long _passes;
    private long _bytesVerified;
    private string? _lastDamage;
    private volatile bool _isStopped;

    /// <param name="state">State of the environment.</param>
    /// <param name="commits">Excludes writers while windows are chosen.</param>
    /// <param name="background">Runs the verification.</param>
    /// <param name="options">Rate and interval.</param>
    /// <param name="clock">Schedules the windows.</param>
    /// <param name="draw">
    /// A random number: the first pass begins at a random time within the interval, so that the environments of a process are
    /// not all read at once.
    /// </param>
    public Scrubber(
        EnvironmentState state, CommitQueue commits, Background background, StorageOptions options, TimeProvider clock,
        ulong draw)
    {
        _state = state;
        _commits = commits;
        _background = background;
        _clock = clock;
        _options = options;
        _disk = state.Store.OpenDiskPages();
        if (background.IsAllowed && options.ScrubBytesPerSecond > 0)
            Arm(options.ScrubInterval * ((draw >> 11) * (1.0 / (1UL << 53))));
    }

    /// <summary>Lets no further window start.</summary>
    public void Dispose()
    {
        _isStopped = true;
        Interlocked.Exchange(ref _timer, null)?.Dispose();
    }

    /// <summary>Returns the current statistics.</summary>
    public ScrubStatistics Describe()
    {
        long[] damaged = _state.Store.Proofs.Damaged.All();
        long next = Interlocked.Read(ref _next);
        return new ScrubStatistics
        {
            Passes = Interlocked.Read(ref _passes),
            NextPage = next == FormatLimits.FirstDataPage ? 0 : next,
            BytesVerified = Interlocked.Read(ref _bytesVerified),
            IsPastCache = _disk.IsPastCache,
            DamagedPageCount = damaged.Length,
            DamagedPages = [.. damaged.Take(MaxListed)],
            LastDamage = Volatile.Read(ref _lastDamage),
            ProofsWithdrawn = _state.Store.Proofs.Withdrawn,
        };
    }

    /// <summary>
    /// Verifies all pages at once, ignoring the rate. One thread at a time, and not concurrently with the scheduled scrub.
    /// </summary>
    public void RunPass(CancellationToken cancellationToken = default)
    {
        _next = FormatLimits.FirstDataPage;
        while (Step(cancellationToken))
        {
        }
    }

    /// <summary>Verifies the next window; returns false at the end of the pass.</summary>
    public bool Step(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_next == FormatLimits.FirstDataPage)
            _passBegan = _clock.GetTimestamp();

        bool isOver = false;
        _commits.RunExclusive(() => isOver = !ChooseWindow());
        if (isOver)
        {
            Interlocked.Increment(ref _passes);
            Interlocked.Exchange(ref _next, FormatLimits.FirstDataPage);
            return false;
        }

        if (_plan.Count > 0)
            Verify(cancellationToken);
        return true;
    }

    /// <summary>Chooses pages used by the newest state and stored in the file. Must be called under the write lock.</summary>
    private bool ChooseWindow()
    {
        _plan.Clear();
        long end = Math.Min(_state.Space.PageCount, _state.Store.FilePages);
        if (_next >= end)
        {
            _state.Store.Proofs.Damaged.RemoveWhere(
                damaged => TryReadLive((int)(damaged / _state.Space.PagesPerGroup)) && !IsLive(damaged));
            return false;
        }

        _first = _next;
        int group = (int)(_first / _state.Space.PagesPerGroup);
        long groupEnd = (group + 1L) * _state.Space.PagesPerGroup;
        long stop = Math.Min(Math.Min(end, groupEnd), _first + WindowPages);
        if (!TryReadLive(group))
        {
            Interlocked.Exchange(ref _next, groupEnd); // it is unknown which of its pages are in use
            return true;
        }

        _pages = (int)(stop - _first);
        long page = _first;
        while (page < stop)
        {
            uint frame = _state.Store.FrameOf(page);
            if (IsLive(page) && frame == 0 && IsWritten(page))
                _plan.Add(page);
            page += IsLive(page) && frame != 0 ? Math.Max(1, _state.Store.Scratch.Record(frame).Pages) : 1;
        }

        Interlocked.Exchange(ref _next, page);
        return true;
    }

    private void Verify(CancellationToken cancellationToken)
    {
        using var window = new AlignedBuffer(WindowBytes);
        bool isRead = _disk.Read(_first, window.Slice(0, _pages * PageLayout.SizeBytes)) is null;
        List<long>? suspects = null;
        long covered = 0;
        foreach (long number in _plan)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (_isStopped)
                return;
            if (number < covered)
                continue; // in the middle of a value already verified

            Span<byte> page = window.Slice((int)(number - _first) * PageLayout.SizeBytes, PageLayout.SizeBytes);
            string? fault = isRead ? null : _disk.Read(number, page);
            int pages = 1;
            fault ??= _disk.FindFault(number, page, out pages);
            covered = number + pages;
            Interlocked.Add(ref _bytesVerified, (long)pages * PageLayout.SizeBytes);
            if (fault is not null)
                (suspects ??= []).Add(number);
            else if (_state.Store.Proofs.Damaged.IsAnyIn(number, pages))
                (suspects ??= []).Add(number); // correct on disk again: checked under the lock
        }

        if (covered > Interlocked.Read(ref _next))
            Interlocked.Exchange(ref _next, covered);
        if (suspects is not null)
            _commits.RunExclusive(() => suspects.ForEach(Judge));
    }

    /// <summary>
    /// Decides about a page that looks damaged, or was marked so before. Must be called under the write lock: nothing is
    /// freed, placed or moved meanwhile.
    /// </summary>
    internal void Judge(long number)
    {
        if (number >= _state.Store.FilePages || !TryReadLive((int)(number / _state.Space.PagesPerGroup)) || !IsLive(number)
            || _state.Store.FrameOf(number) != 0 || !IsWritten(number))
            return;

        using var buffer = new AlignedBuffer(PageLayout.SizeBytes);
        Span<byte> page = buffer.Slice(0, PageLayout.SizeBytes);
        int pages = 1;
        string? fault = _disk.Read(number, page) ?? _disk.FindFault(number, page, out pages);
        if (fault is null)
        {
            // If a run could not be read at all, each of its pages was marked.
            _state.Store.Proofs.Damaged.RemoveWhere(inner => inner >= number && inner < number + pages);
            return;
        }

        if (IsInsideRun(number, page))
            return;

        _state.Store.Proofs.MarkDamaged(number, fault);
        Volatile.Write(ref _lastDamage, _state.Store.Corrupt(number, fault).Message);
    }

    /// <summary>
    /// Whether a page belongs to a value that begins on an earlier page, and thus has no header. Must be called under the
    /// write lock.
    /// </summary>
    /// <remarks>
    /// If a value is only in scratch, the disk still has the earlier contents of its pages, with headers that look valid. So
    /// scratch is searched first, and the disk only for pages that no value in scratch covers.
    /// </remarks>
    private bool IsInsideRun(long number, Span<byte> buffer)
    {
        long least = FirstLiveBefore(number);
        for (long before = number - 1; before >= least; before--)
        {
            uint frame = _state.Store.FrameOf(before);
            if (frame == 0)
                continue;

            long end = before + Math.Max(1, _state.Store.Scratch.Record(frame).Pages);
            if (end > number)
                return true;

            least = end;
        }

        for (long before = number - 1; before >= least; before--)
        {
            int pages = _disk.Read(before, buffer) is null ? DiskPages.PagesOf(before, buffer) : 0;
            if (pages > 0)
                return before + pages > number;
        }

        return false;
    }

    /// <summary>
    /// Returns the first page of the contiguous pages in use before <paramref name="number"/>, within the search limit.
    /// </summary>
    private long FirstLiveBefore(long number)
    {
        long least = Math.Max(FormatLimits.FirstDataPage, number - MaxLookBackPages);
        int group = (int)(number / _state.Space.PagesPerGroup);
        long first = number;
        while (first > least)
        {
            int other = (int)((first - 1) / _state.Space.PagesPerGroup);
            if (other != group && !TryReadLive(group = other))
                return first;
            if (!IsLive(first - 1))
                return first;

            first--;
        }

        return first;
    }

    private bool TryReadLive(int group)
    {
        if (group >= _state.Space.BitmapPages)
            return false;

        try
        {
            _state.Space.CopyBitmap(group, _live);
            return true;
        }
        catch (CorruptionException)
        {
            return false; // the bitmap is damaged and cannot be rebuilt: writers report it
        }
    }

    private bool IsLive(long page)
    {
        int index = (int)(page % _state.Space.PagesPerGroup);
        return (_live[index / 64] & (1UL << (index % 64))) != 0;
    }

    /// <summary>
    /// Whether a page has stable contents on disk. Of bitmap pages, only those of the bitmap in force have: others were never
    /// written, or may be written meanwhile.
    /// </summary>
    private bool IsWritten(long page)
    {
        MetaPage meta = _state.Durable;
        if (page >= meta.OtherBitmap.First && page < meta.OtherBitmap.First + meta.OtherBitmap.Pages)
            return false;

        long index = page - meta.Bitmap.First;
        return index < 0 || index >= meta.Bitmap.Pages
            || index < (meta.PageCount + _state.Space.PagesPerGroup - 1) / _state.Space.PagesPerGroup;
    }

    private void Arm(TimeSpan delay)
    {
        if (_isStopped || _background.TryCreateTimer(_clock, OnTimer, delay, () => Arm(delay)) is not { } timer)
            return;

        Interlocked.Exchange(ref _timer, timer)?.Dispose();
        if (_isStopped)
            Interlocked.Exchange(ref _timer, null)?.Dispose();
    }

    private void OnTimer()
    {
        if (_isStopped)
            return;

        bool isStarted = _background.Run(() =>
        {
            bool goesOn = false;
            try
            {
                goesOn = Step();
            }
            finally
            {
                if (!_isStopped)
                    Arm(goesOn ? TimeSpan.FromSeconds((double)WindowBytes / _options.ScrubBytesPerSecond) : UntilNextPass());
            }
        });
        if (!isStarted && !_isStopped)
            Arm(_options.ScrubInterval); // no thread could be started
    }

    private TimeSpan UntilNextPass()
    {
        TimeSpan left = _options.ScrubInterval - _clock.GetElapsedTime(_passBegan);
        return left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }
}
