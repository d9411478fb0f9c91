using Treepie.Storage.Simulation;

namespace Treepie.Mutants.Steps;

/// <summary>
/// What a <c>lock</c> statement of the engine is compiled to: a logical thread that finds the lock taken lets the others run
/// instead of blocking, since the one that holds it may have been interrupted.
/// </summary>
internal readonly ref struct Locked
{
    private readonly object? _monitor;
    private readonly Lock? _lock;

    private Locked(object? monitor, Lock? @lock)
    {
        _monitor = monitor;
        _lock = @lock;
    }

    public static Locked Enter(object monitor)
    {
        SimulatedScheduler.Step();
        while (!Monitor.TryEnter(monitor))
            if (!SimulatedScheduler.TryPass())
            {
                Monitor.Enter(monitor);
                break;
            }

        return new Locked(monitor, null);
    }

    public static Locked Enter(Lock @lock)
    {
        SimulatedScheduler.Step();
        while (!@lock.TryEnter())
            if (!SimulatedScheduler.TryPass())
            {
                @lock.Enter();
                break;
            }

        return new Locked(null, @lock);
    }

    public void Dispose()
    {
        if (_monitor is not null)
            Monitor.Exit(_monitor);
        _lock?.Exit();
        SimulatedScheduler.Step();
    }
}
