using Treepie.Storage.Files;

namespace Treepie.Torture.Runs;

/// <summary>Runs everything on one thread: queued work runs when the thread has time for it, or waits.</summary>
internal sealed class InlineScheduler : IScheduler
{
    private readonly Queue<Action> _work = new();

    public void Queue(Action work) => _work.Enqueue(work);

    public void Wait(object monitor)
    {
        if (!RunOne())
            throw new TimeoutException("The one thread waits, and nothing is left to run.");
    }

    /// <summary>Runs all queued work.</summary>
    public void RunAll()
    {
        while (RunOne())
        {
        }
    }

    private bool RunOne()
    {
        if (!_work.TryDequeue(out Action? work))
            return false;

        work();
        return true;
    }
}
