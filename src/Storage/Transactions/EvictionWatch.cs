using Treepie.Storage.Paging;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Once a minute, where the system reports page residency, marks pages evicted from memory so that their next reader verifies
/// them again. A page evicted and read back within the same minute goes unnoticed; the scrubber finds damage there.
/// </summary>
internal sealed class EvictionWatch : IDisposable
{
    private static readonly TimeSpan _interval = TimeSpan.FromMinutes(1);

    private readonly PageStore _store;
    private readonly Background _background;
    private readonly TimeProvider _clock;
    private ITimer? _timer;
    private volatile bool _isStopped;

    public EvictionWatch(PageStore store, Background background, TimeProvider clock)
    {
        _store = store;
        _background = background;
        _clock = clock;
        if (background.IsAllowed && store.Proofs.TellsEvicted)
            Arm();
    }

    public void Dispose()
    {
        _isStopped = true;
        Interlocked.Exchange(ref _timer, null)?.Dispose();
    }

    private void Arm()
    {
        if (_isStopped || _background.TryCreateTimer(_clock, OnTimer, _interval, Arm) is not { } timer)
            return;

        Interlocked.Exchange(ref _timer, timer)?.Dispose();
        if (_isStopped)
            Interlocked.Exchange(ref _timer, null)?.Dispose();
    }

    private void OnTimer()
    {
        bool isStarted = _background.Run(() =>
        {
            if (_isStopped)
                return;

            _store.Proofs.WithdrawEvicted(_store.FilePages);
            Arm();
        });
        if (!isStarted && !_isStopped)
            Arm(); // no thread could be started
    }
}
