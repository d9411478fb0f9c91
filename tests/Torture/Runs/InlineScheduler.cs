using Treepie.Storage.Files;

namespace Treepie.Torture.Runs;

/// <summary>No other threads: what is queued runs when the one thread has time for it, or waits.</summary>
internal sealed class InlineScheduler : IScheduler
{
    private readonly Queue<Action> _work = new();

    public void Queue(Action work) => _work.Enqueue(work);

    public void Wait(object monitor)
    {
        if (!RunOne())
            throw new TimeoutException("The one thread waits, and nothing is left to run.");
    }

    /// <summary>Runs all that is queued.</summary>
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
