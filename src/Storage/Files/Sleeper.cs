using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// Where one thread at a time sleeps until another wakes it. Both may happen too often: who sleeps looks at its condition before
/// and after.
/// </summary>
internal abstract class Sleeper
{
    /// <summary>Sleeps until woken since the last time, or for no reason less long.</summary>
    public abstract void Sleep();

    /// <summary>Wakes who sleeps, or the next who is going to.</summary>
    public abstract void Wake();

    /// <summary>By a monitor, as the scheduler waits for it.</summary>
    internal sealed class OfMonitor(IScheduler scheduler) : Sleeper
    {
        private bool _isWoken;

        public override void Sleep()
        {
            lock (this)
            {
                if (!_isWoken)
                    scheduler.Wait(this);
                _isWoken = false;
            }
        }

        public override void Wake()
        {
            lock (this)
            {
                _isWoken = true;
                Monitor.PulseAll(this);
            }
        }
    }

    /// <summary>By the system itself.</summary>
    internal sealed class OfSystem : Sleeper
    {
        private readonly SleepWord _word = new();

        public override void Sleep() => _word.Sleep();

        public override void Wake() => _word.Wake();
    }
}
