using Treepie.Storage.Files;

namespace Treepie.Storage.Simulation;

/// <summary>A scheduler that fails to start some logical threads.</summary>
/// <param name="threads">The scheduler that works.</param>
/// <param name="isRefused">Called for each thread to start; returns whether that fails.</param>
internal sealed class FailingThreads(SimulatedScheduler threads, Func<bool> isRefused) : IScheduler
{
    public void Queue(Action work)
    {
        if (isRefused())
            throw new OutOfMemoryException("The system starts no further thread.");

        threads.Queue(work);
    }

    public void Wait(object monitor) => threads.Wait(monitor);
}
