using Treepie.Storage.Files;

namespace Treepie.Storage.Simulation;

/// <summary>Logical threads of which some cannot be started.</summary>
/// <param name="threads">Those that can.</param>
/// <param name="isRefused">Asked for each thread that is to be started.</param>
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
