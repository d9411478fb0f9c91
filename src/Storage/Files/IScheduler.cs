namespace Treepie.Storage.Files;

/// <summary>
/// Interface to other threads: background work and waiting for it. A simulated scheduler does both on one thread, in an order
/// derived from a seed.
/// </summary>
internal interface IScheduler
{
    /// <summary>Starts work on another thread, soon. The work must not throw.</summary>
    void Queue(Action work);

    /// <summary>
    /// Waits until <paramref name="monitor"/>, whose lock the caller holds, is pulsed. May return early, so callers must
    /// check their condition again. (Simulated: runs queued work while holding the lock, which the single thread may enter
    /// again.)
    /// </summary>
    void Wait(object monitor);

    /// <summary>Creates an object on which one thread can sleep.</summary>
    Sleeper CreateSleeper() => new Sleeper.OfMonitor(this);
}
