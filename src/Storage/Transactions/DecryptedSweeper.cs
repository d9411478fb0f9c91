using Treepie.Storage.Paging;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Frees decrypted pages: all that were not used for a while and, over the budget, one part of the pages at a time, keeping
/// those that are requested again before the part is dropped. Unencrypted environments have no sweeper.
/// </summary>
/// <remarks>
/// A page removed from the page table may still be held by earlier readers and by the leader of the commit queue, and a
/// checkpoint reads the bitmap without leading. So it is dropped only once all those readers have ended and an exclusive
/// action has run with no checkpoint in progress.
/// </remarks>
internal sealed class DecryptedSweeper : IDisposable
{
    /// <summary>
    /// Over the budget, pages are swept in this many parts. A page is kept if it is requested again while another sixteenth
    /// of the budget is loaded.
    /// </summary>
    private const int Parts = 8;
    private const int StepDivisor = 16;

    private readonly EnvironmentState _state;
    private readonly DecryptedPages _pages;
    private readonly CommitQueue _commits;
    private readonly Background _background;
    private readonly StorageOptions _options;
    private readonly TimeProvider _clock;
    private readonly Lock _sync = new();
    private readonly List<Marked> _marked = [];
    private ITimer? _timer;
    private long _sweepAtBytes;
    private int _isRequested;
    private int _part;
    private volatile bool _isStopped;

    public DecryptedSweeper(
        EnvironmentState state, DecryptedPages pages, CommitQueue commits, Background background, StorageOptions options,
        TimeProvider clock)
    {
        _state = state;
        _pages = pages;
        _commits = commits;
        _background = background;
        _options = options;
        _clock = clock;
        _sweepAtBytes = pages.BudgetBytes;
        pages.OnLoaded = OnLoaded;
        if (pages.Bytes > 0)
            OnLoaded(); // pages loaded during recovery
    }

    /// <summary>Lets no further sweep start by itself.</summary>
    public void Dispose()
    {
        _isStopped = true;
        _pages.OnLoaded = null;
        Interlocked.Exchange(ref _timer, null)?.Dispose();
    }

    /// <summary>
    /// Removes all decrypted pages from the page table, and zeroes those removed by this or an earlier call that nobody can
    /// still hold. Returns the number of bytes left. Must not be called by the leader.
    /// </summary>
    public long Sweep()
    {
        _pages.GiveBackVacant(all: true);
        Sweep(part: 0, parts: 1);
        Drop();
        return _pages.Bytes;
    }

    private void OnLoaded()
    {
        if (!_background.IsAllowed || _isStopped)
            return;

        if (Volatile.Read(ref _timer) is null)
            StartTimer();
        if (_pages.HeldBytes >= Volatile.Read(ref _sweepAtBytes))
            Request();
    }

    private void Request()
    {
        if (Interlocked.Exchange(ref _isRequested, 1) != 0)
            return;

        bool isStarted = _background.Run(() =>
        {
            try
            {
                _pages.GiveBackVacant(all: true);
                Drop();
                if (_pages.IsOverBudget)
                    Sweep(_part++ % Parts, Parts);
                long budget = _pages.BudgetBytes;
                Volatile.Write(ref _sweepAtBytes, Math.Max(budget, _pages.Bytes + (budget / StepDivisor)));
            }
            finally
            {
                Volatile.Write(ref _isRequested, 0);
            }
        });
        if (!isStarted)
            Volatile.Write(ref _isRequested, 0);
    }

    private void Sweep(int part, int parts)
    {
        int ticket = _pages.Mark(part, parts);
        if (ticket == 0)
            return;

        var marked = new Marked(ticket, _state.Readers.BeginGracePeriod());
        _commits.RunExclusive(() => marked.IsLeaderPassed = _state.CheckpointUnderWay < 0);
        lock (_sync)
            _marked.Add(marked);
    }

    private void Drop()
    {
        Marked[] waiting;
        lock (_sync)
            waiting = [.. _marked];
        foreach (Marked marked in waiting)
        {
            if (!marked.IsLeaderPassed)
                _commits.RunExclusive(() => marked.IsLeaderPassed = _state.CheckpointUnderWay < 0);
            if (!marked.IsLeaderPassed || !marked.Readers.IsOver)
                continue;

            lock (_sync)
                if (!_marked.Remove(marked))
                    continue;

            _pages.Drop(marked.Ticket);
        }
    }

    /// <summary>
    /// Called by readers. If no timer can be created, the next page load or background work tries again.
    /// </summary>
    private void StartTimer()
    {
        if (_isStopped
            || _background.TryCreateTimer(_clock, OnIdle, _options.DecryptedIdleTime, StartTimer) is not { } timer)
            return;

        if (Interlocked.CompareExchange(ref _timer, timer, null) is not null || _isStopped)
            timer.Dispose();
    }

    private void OnIdle()
    {
        Interlocked.Exchange(ref _timer, null)?.Dispose();
        _background.Run(() =>
        {
            _pages.GiveBackVacant(all: false);
            Drop();
            Sweep(part: 0, parts: 1);
            if (_options.DecryptedIdleTime == TimeSpan.Zero)
                Drop();
            if (_pages.HeldBytes > 0 && !_isStopped)
                StartTimer();
        });
    }

    /// <summary>Pages removed from the page table together.</summary>
    private sealed class Marked(int ticket, ReaderTable.GracePeriod readers)
    {
        public int Ticket { get; } = ticket;

        /// <summary>The readers that may still hold them.</summary>
        public ReaderTable.GracePeriod Readers { get; } = readers;

        /// <summary>Whether the leader and checkpoint that may have held them are done.</summary>
        public bool IsLeaderPassed { get; set; }
    }
}
