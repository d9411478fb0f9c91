using Treepie.Storage.Files;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// A relaxed commit reaches the disk some time later, whatever happens to its timer and to the checkpoint before it.
/// </summary>
public sealed class RelaxedDelayTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly ManualResetEventSlim _mayGoOn = new(initialState: true), _isSyncing = new();
    private readonly Timers _clock = new();
    private readonly StorageEnvironment _environment;

    public RelaxedDelayTests()
    {
        var files = new WatchedFiles(new DiskFileSystem(_directory.Path));
        _environment = StorageEnvironment.Open(
            new World(files, _clock, new Random(1), true), new StorageOptions { Durability = Durability.Relaxed });
        files.OnDataSync = () =>
        {
            if (_environment.State.CheckpointUnderWay < 0)
                return; // called by the leader, before the checkpoint

            _isSyncing.Set();
            _mayGoOn.Wait(TestContext.Current.CancellationToken);
        };
    }

    public void Dispose()
    {
        _mayGoOn.Set();
        _environment.Dispose();
        _mayGoOn.Dispose();
        _isSyncing.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task A_timer_that_goes_off_as_soon_as_it_is_begun_is_not_the_last()
    {
        _clock.GoOffAtOnce = true;
        for (int i = 1; i <= 5; i++)
        {
            long before = _environment.GetStatistics().Checkpoints;
            Put(i);
            await Eventually.TrueAsync(() => _environment.GetStatistics().Checkpoints > before, $"commit {i} is written");
        }
    }

    [Fact]
    public async Task A_commit_whose_timer_goes_off_while_a_checkpoint_is_written_is_in_the_next()
    {
        Put(1);
        _mayGoOn.Reset();
        _clock.GoOff();
        _isSyncing.Wait(TestContext.Current.CancellationToken);
        Put(2);
        _clock.GoOff(); // no effect, because a checkpoint is being written
        long before = _environment.GetStatistics().Checkpoints;
        _mayGoOn.Set();
        await Eventually.TrueAsync(() => _environment.GetStatistics().Checkpoints > before, "the first commit is written");

        // The timer of the second commit begins only some time after the checkpoint; those of other work are there already.
        await Eventually.TrueAsync(
            () =>
            {
                _clock.GoOff();
                return _environment.GetStatistics().Checkpoints > before + 1;
            },
            "the second commit is written");
    }

    private void Put(int key) =>
        _environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[100]));

    /// <summary>Timers that fire on request, or immediately when started.</summary>
    private sealed class Timers : TimeProvider
    {
        private readonly List<Timer> _running = [];

        public bool GoOffAtOnce { get; set; }

        /// <summary>Fires all running timers.</summary>
        public void GoOff()
        {
            Timer[] due;
            lock (_running)
            {
                due = [.. _running];
                _running.Clear();
            }

            Array.ForEach(due, timer => timer.GoOff());
        }

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            var timer = new Timer(this, callback, state);
            timer.Change(dueTime, period);
            return timer;
        }

        private sealed class Timer(Timers owner, TimerCallback callback, object? state) : ITimer
        {
            public void GoOff() => callback(state);

            public bool Change(TimeSpan dueTime, TimeSpan period)
            {
                if (dueTime < TimeSpan.Zero)
                    return true;
                if (owner.GoOffAtOnce)
                    GoOff();
                else
                    lock (owner._running)
                        owner._running.Add(this);
                return true;
            }

            public void Dispose()
            {
                lock (owner._running)
                    owner._running.Remove(this);
            }

            public ValueTask DisposeAsync()
            {
                Dispose();
                return ValueTask.CompletedTask;
            }
        }
    }
}
