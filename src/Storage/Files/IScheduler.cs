namespace Treepie.Storage.Files;

/// <summary>
/// The seam to other threads: work that runs beside its caller, and waiting for it. A simulated one does both on a single thread,
/// in an order that follows from a seed.
/// </summary>
internal interface IScheduler
{
    /// <summary>Lets work begin beside the caller, soon. Work must not throw.</summary>
    void Queue(Action work);

    /// <summary>
    /// Waits until <paramref name="monitor"/>, whose lock the caller holds, is pulsed. May return without that: the caller looks
    /// at its condition again. (Simulated: runs a piece of queued work, holding the lock, which the one thread may enter again.)
    /// </summary>
    void Wait(object monitor);

    /// <summary>A place for one thread to sleep in.</summary>
    Sleeper CreateSleeper() => new Sleeper.OfMonitor(this);
}
