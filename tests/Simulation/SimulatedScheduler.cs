using Treepie.Storage.Files;

namespace Treepie.Storage.Simulation;

/// <summary>
/// Runs logical threads one at a time. The seed determines which one continues at each switch. A switch happens where a thread
/// waits, ends, or yields; between switches nothing is concurrent, so a run repeats exactly. Where the engine is compiled with
/// <see cref="Step"/> at each interlocked or volatile operation and lock, a thread can also be interrupted there, briefly or for
/// long.
/// </summary>
/// <remarks>
/// Each logical thread has a real one, because the engine blocks; passing a baton ensures that only its holder runs. A
/// thread that yields must not hold a lock that another could want, unless that one tries it and passes (<see cref="TryPass"/>).
/// </remarks>
internal sealed class SimulatedScheduler(Random random) : IScheduler, IDisposable
{
    /// <summary>How often all threads may wait in turn before it is a deadlock.</summary>
    private const int MaxIdleRounds = 50;

    /// <summary>The same where threads are interrupted: the others get a turn at each interruption of one that goes on.</summary>
    private const int MaxInterruptedIdleRounds = 4_000;

    /// <summary>Now and then an interrupted thread stays away for up to this many switches, mostly for few.</summary>
    private const int LongestInterruption = 400;

    // Many times the duration of any run, even on a busy machine.
    private static readonly TimeSpan _maxRun = TimeSpan.FromSeconds(60);

    [ThreadStatic]
    private static SimulatedScheduler? _current;

    [ThreadStatic]
    private static bool _isUninterrupted;

    private readonly ManualResetEventSlim _ended = new();

    private readonly List<Fiber> _fibers = [];
    private readonly Lock _lock = new();
    private Fiber? _running;
    private int _idle;
    private int _stepsLeft;
    private bool _isDeadlocked;

    /// <summary>Mean number of steps after which a thread is interrupted, or 0 for never.</summary>
    public int StepsPerInterruption { get; init; }

    /// <summary>Number of switches so far.</summary>
    public int Switches { get; private set; }

    /// <summary>Exception thrown by a logical thread. Threads of the engine never throw.</summary>
    public Exception? Error { get; private set; }

    /// <summary>Whether the caller is one of the logical threads.</summary>
    public bool IsInside => _running?.Thread == Thread.CurrentThread;

    /// <summary>A step at which the calling logical thread may be interrupted. Other threads may call it as well.</summary>
    public static void Step()
    {
        if (_current is { StepsPerInterruption: > 0 } scheduler && --scheduler._stepsLeft < 0 && !_isUninterrupted)
            scheduler.Interrupt();
    }

    /// <summary>Runs work that others wait for past the scheduler, so that nobody else runs until it ends.</summary>
    public static void RunUninterrupted(Action work)
    {
        _isUninterrupted = true;
        try
        {
            work();
        }
        finally
        {
            _isUninterrupted = false;
        }
    }

    /// <summary>Lets other threads run, if the caller is a logical thread.</summary>
    public static bool TryPass()
    {
        if (_current is not { } scheduler)
            return false;

        scheduler.Switch();
        return true;
    }

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

        if (++_idle > (StepsPerInterruption > 0 ? MaxInterruptedIdleRounds : MaxIdleRounds) * (_fibers.Count + 1))
            _isDeadlocked = true;
        try
        {
            Switch();
        }
        finally
        {
            for (; depth > 0; depth--)
                while (!Monitor.TryEnter(monitor))
                    Switch(); // its holder was interrupted
        }

        if (_isDeadlocked)
            throw new TimeoutException("Every logical thread waits for another one.");
    }

    public void Dispose() => _ended.Dispose();

    private void Interrupt()
    {
        _stepsLeft = random.Next(2 * StepsPerInterruption);
        if (random.Next(4) == 0)
            _running!.AwayUntil = Switches + (int)Math.Pow(LongestInterruption, random.NextDouble()); // it is the calling one
        Switch();
    }

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
            for (int tries = _fibers.Count; tries > 0 && _running!.AwayUntil > Switches; tries--) // there is one
                _running = _fibers[random.Next(_fibers.Count)];
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

        /// <summary>The number of switches before which others are preferred.</summary>
        public int AwayUntil { get; set; }

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
            _current = _scheduler;
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
