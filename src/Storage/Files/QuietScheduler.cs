using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// As the thread pool's, but what is queued runs on a quiet thread of its own: for environments whose checkpoints must not take a
/// processor from those who answer.
/// </summary>
internal sealed class QuietScheduler : IScheduler
{
    private readonly ThreadPoolScheduler _ordinary = new();

    public void Queue(Action work) => QuietThread.Start(work, QuietThread.Steady);

    public void Wait(object monitor) => _ordinary.Wait(monitor);

    public Sleeper CreateSleeper() => _ordinary.CreateSleeper();
}
