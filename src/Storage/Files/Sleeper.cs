using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// An object on which one thread at a time sleeps until another wakes it. Both may happen spuriously, so the sleeper checks
/// its condition before and after.
/// </summary>
internal abstract class Sleeper
{
    /// <summary>Sleeps until woken, unless woken since the last call. May return early.</summary>
    public abstract void Sleep();

    /// <summary>Wakes the sleeping thread, or lets the next call of <see cref="Sleep"/> return at once.</summary>
    public abstract void Wake();

    /// <summary>Sleeps on a monitor, with the scheduler's wait.</summary>
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

    /// <summary>Sleeps with a system call.</summary>
    internal sealed class OfSystem : Sleeper
    {
        private readonly SleepWord _word = new();

        public override void Sleep() => _word.Sleep();

        public override void Wake() => _word.Wake();
    }
}
