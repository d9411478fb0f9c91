using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// Like the thread pool scheduler, but queued work runs on a low-priority thread of its own, for environments whose
/// checkpoints must not take processor time from queries.
/// </summary>
internal sealed class QuietScheduler : IScheduler
{
    private readonly ThreadPoolScheduler _ordinary = new();

    public void Queue(Action work) => QuietThread.Start(work, QuietThread.Steady);

    public void Wait(object monitor) => _ordinary.Wait(monitor);

    public Sleeper CreateSleeper() => _ordinary.CreateSleeper();
}
