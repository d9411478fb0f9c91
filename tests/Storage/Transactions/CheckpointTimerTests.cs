using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>A timer that cannot be created fails nothing that asked for it, and is created later.</summary>
public sealed class CheckpointTimerTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void Writing_goes_on_after_a_failed_checkpoint_whose_retry_timer_cannot_be_created()
    {
        var files = new WatchedFiles(new SimulatedDisk(new Random(1)));
        var clock = new BrokenClock();
        var world = new World(files, clock, new Random(1), IsBackgroundAllowed: true);
        using (StorageEnvironment environment = StorageEnvironment.Open(world, SmallDisk.Options))
            Put(environment, 0);

        using (StorageEnvironment environment = StorageEnvironment.Open(world, SmallDisk.Options))
        {
            clock.RefusesTimers = true;
            files.OnDataWrite = () =>
            {
                if (environment.State.CheckpointUnderWay >= 0)
                    throw new StorageException("The data file cannot be written.");
            };
            Put(environment, 1); // the leader clears the clean-close mark, which is a checkpoint
            Put(environment, 2);
            Assert.Equal("The data file cannot be written.", environment.GetStatistics().LastCheckpointError);
            StorageException error = Assert.Throws<StorageException>(() => environment.Checkpoint(Token));
            Assert.Equal("The data file cannot be written.", error.Message);

            files.OnDataWrite = null;
            environment.Checkpoint(Token);
            Put(environment, 3);
            Assert.Null(environment.GetStatistics().LastCheckpointError);
        }

        using StorageEnvironment again = StorageEnvironment.Open(world, SmallDisk.Options);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(4, read.FindTree("t")!.Count);
        Assert.Empty(again.Check(Token).Problems);
    }

    [Fact]
    public async Task An_idle_timer_that_cannot_be_created_from_its_own_callback_is_created_by_later_background_work()
    {
        var time = new SimulatedClock();
        bool isFailing = false;
        var world = new World(
            new SimulatedDisk(new Random(1)), new FailingClock(time, () => Volatile.Read(ref isFailing)), new Random(1),
            IsBackgroundAllowed: true);
        StorageOptions options = SmallDisk.Options with { MemoryBudgetBytes = 1 << 20, FirstJournalFileBytes = 64 << 10 };
        using StorageEnvironment environment = StorageEnvironment.Open(world, options);
        Put(environment, 0);
        for (int key = 1; key < 20; key++)
            Put(environment, key);
        long checkpoints = environment.GetStatistics().Checkpoints;

        Volatile.Write(ref isFailing, true);
        time.Advance(options.IdleDelay); // on this thread; it was not idle, so another timer is needed
        Volatile.Write(ref isFailing, false);

        Put(environment, 20);
        await Eventually.TrueAsync(
            () =>
            {
                time.Advance(options.IdleDelay);
                return environment.GetStatistics().Checkpoints > checkpoints;
            },
            "memory is given back");
    }

    [Fact]
    public void What_asks_for_a_timer_many_times_in_vain_is_armed_once_by_the_next_background_work()
    {
        var clock = new BrokenClock { RefusesTimers = true };
        using var lifetime = new Lifetime(new ThreadPoolScheduler());
        var background = new Background(new ThreadPoolScheduler(), lifetime, isAllowed: true);
        int armed = 0;
        for (int i = 0; i < 1000; i++)
            Arm();
        Assert.Equal(1000, armed);
        Assert.True(background.Run(static () => { }));
        Assert.Equal(1001, armed);
        clock.RefusesTimers = false;
        Assert.True(background.Run(static () => { }));
        Assert.True(background.Run(static () => { }));
        Assert.Equal(1002, armed);

        void Arm()
        {
            armed++;
            background.TryCreateTimer(clock, static () => { }, Timeout.InfiniteTimeSpan, Arm)?.Dispose();
        }
    }

    [Fact]
    public async Task What_fails_while_it_asks_for_a_timer_again_delays_no_work_and_no_close()
    {
        var clock = new BrokenClock { RefusesTimers = true };
        using var lifetime = new Lifetime(new ThreadPoolScheduler());
        var background = new Background(new ThreadPoolScheduler(), lifetime, isAllowed: true);
        int armed = 0;
        background.TryCreateTimer(clock, static () => { }, Timeout.InfiniteTimeSpan, Arm);

        using var isDone = new ManualResetEventSlim();
        Assert.True(background.Run(isDone.Set));
        Assert.True(isDone.Wait(Eventually.Patience, Token), "the work runs");
        Assert.Equal(1, armed);
        Assert.True(background.Run(static () => { }));
        Assert.Equal(2, armed); // it is tried again
        Assert.True(background.Run(static () => { }));
        Assert.Equal(2, armed);

        lifetime.BeginClose();
        await Task.Run(lifetime.Drain, Token).WaitAsync(Eventually.Patience, Token);

        void Arm()
        {
            if (armed++ == 0)
                throw new InvalidOperationException("The clock is broken.");
        }
    }

    private static void Put(StorageEnvironment environment, int key) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[1500]));
}
