using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>Runs work on the thread pool of the process.</summary>
internal sealed class ThreadPoolScheduler : IScheduler
{
    public void Queue(Action work) => ThreadPool.UnsafeQueueUserWorkItem(static work => work(), work, preferLocal: false);

    public void Wait(object monitor) => Monitor.Wait(monitor);

    public Sleeper CreateSleeper() => SleepWord.IsSupported ? new Sleeper.OfSystem() : new Sleeper.OfMonitor(this);
}
