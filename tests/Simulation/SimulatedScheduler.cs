using Treepie.Storage.Files;

namespace Treepie.Storage.Simulation;

/// <summary>
/// Runs logical threads one at a time. The seed determines which one continues at each switch. A switch happens where a thread
/// waits, ends, or yields; between switches nothing is concurrent, so a run repeats exactly.
/// </summary>
/// <remarks>
/// Each logical thread has a real one, because the engine blocks; passing a baton ensures that only its holder runs. A
/// thread that yields must not hold a lock that another could want.
/// </remarks>
internal sealed class SimulatedScheduler(Random random) : IScheduler, IDisposable
{
    private const int MaxIdleRounds = 50;
    // Many times the duration of any run, even on a busy machine.
    private static readonly TimeSpan _maxRun = TimeSpan.FromSeconds(60);

    private readonly ManualResetEventSlim _ended = new();

    private readonly List<Fiber> _fibers = [];
    private readonly Lock _lock = new();
    private Fiber? _running;
    private int _idle;
    private bool _isDeadlocked;

    /// <summary>Number of switches so far.</summary>
    public int Switches { get; private set; }

    /// <summary>Exception thrown by a logical thread. Threads of the engine never throw.</summary>
    public Exception? Error { get; private set; }

    /// <summary>Whether the caller is one of the logical threads.</summary>
    public bool IsInside => _running?.Thread == Thread.CurrentThread;

    /// <summary>Runs logical threads, and those they start, until all have ended.</summary>
    public void Run(params ReadOnlySpan<Action> threads)
    {
        foreach (Action thread in threads)
            Queue(thread);
        _ended.Reset();
        Next(null)?.Go();
        if (!_ended.Wait(_maxRun))
            throw new TimeoutException(
                "A logical thread blocks: somebody yields while holding a lock, or waits past the scheduler.");
        if (_isDeadlocked)
            throw new TimeoutException("Every logical thread waits for another one.", Error);
        if (Error is not null)
            throw new InvalidOperationException($"A logical thread failed: {Error.Message}", Error);
    }

    public void Queue(Action work)
    {
        lock (_lock)
            _fibers.Add(new Fiber(this, work));
    }

    /// <summary>Lets other threads run.</summary>
    public void Yield()
    {
        if (!IsInside)
            return;

        _idle = 0;
        Switch();
    }

    public void Wait(object monitor)
    {
        if (!IsInside)
        {
            Monitor.Wait(monitor);
            return;
        }

        int depth = 0;
        while (Monitor.IsEntered(monitor))
        {
            Monitor.Exit(monitor);
            depth++;
        }

        if (++_idle > MaxIdleRounds * (_fibers.Count + 1))
            _isDeadlocked = true;
        try
        {
            Switch();
        }
        finally
        {
            for (; depth > 0; depth--)
                Monitor.Enter(monitor);
        }

        if (_isDeadlocked)
            throw new TimeoutException("Every logical thread waits for another one.");
    }

    public void Dispose() => _ended.Dispose();

    private void Switch()
    {
        Fiber self = _running!; // the caller has checked IsInside
        Fiber? next = Next(null);
        if (next is null || next == self)
            return;

        next.Go();
        self.WaitForTurn();
    }

    private Fiber? Next(Fiber? without)
    {
        lock (_lock)
        {
            _fibers.RemoveAll(fiber => fiber == without);
            _running = _fibers.Count == 0 ? null : _fibers[random.Next(_fibers.Count)];
        }

        Switches++;
        return _running;
    }

    private void End(Fiber fiber, Exception? error)
    {
        Error ??= error;
        _idle = 0;
        fiber.Dispose();
        if (Next(fiber) is { } next)
            next.Go();
        else
            _ended.Set();
    }

    private sealed class Fiber : IDisposable
    {
        private readonly SemaphoreSlim _turn = new(0);
        private readonly SimulatedScheduler _scheduler;
        private readonly Action _work;
        private readonly Lock _start = new();

        public Fiber(SimulatedScheduler scheduler, Action work)
        {
            _scheduler = scheduler;
            _work = work;
        }

        public Thread? Thread { get; private set; }

        public void Go()
        {
            lock (_start)
            {
                if (Thread is null)
                {
                    Thread = new Thread(Main) { IsBackground = true };
                    Thread.Start();
                    return;
                }
            }

            _turn.Release();
        }

        public void WaitForTurn() => _turn.Wait();

        public void Dispose() => _turn.Dispose();

        private void Main()
        {
            Exception? error = null;
            try
            {
                _work();
            }
            catch (Exception failure)
            {
                error = failure;
            }

            _scheduler.End(this, error);
        }
    }
}
