using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

public sealed class CancelledWriteTests
{
    private const int MostRounds = 5_000, MostSpins = 1 << 20;

    /// <summary>
    /// On a busy machine a round takes long. After this time, the rounds are sufficient if both outcomes have occurred.
    /// </summary>
    private static readonly TimeSpan _enough = TimeSpan.FromSeconds(20);

    /// <summary>A write keeps the environment open until it ends. One that is canceled at any moment must end.</summary>
    [Fact]
    public async Task Writes_given_up_at_any_moment_do_not_keep_the_environment_open()
    {
        const int Rounds = 3_000;
        using var directory = new TemporaryDirectory();
        StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var random = new Random(Seed.Next());
        for (int i = 0; i < Rounds; i++)
        {
            using var cancellation = new CancellationTokenSource();
            int spins = random.Next(200);
            Task cancel = Task.Run(() =>
            {
                Thread.SpinWait(spins);
                cancellation.Cancel();
            }, TestContext.Current.CancellationToken);
            try
            {
                await environment.WriteAsync(
                    transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8), cancellation.Token);
            }
            catch (OperationCanceledException)
            {
                // The cancellation came first.
            }

            await cancel;
        }

        await Task.Run(environment.Dispose, TestContext.Current.CancellationToken)
            .WaitAsync(Eventually.Patience, TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task A_write_given_up_just_before_it_is_submitted_ends_at_once()
    {
        StorageEnvironment environment = StorageEnvironment.Open(
            new World(new SimulatedDisk(new Random(1)), TimeProvider.System, new Random(1), false),
            new StorageOptions { MaxDataFileBytes = 64 << 20 });
        using var cancellation = new CancellationTokenSource();
        var request = new WriteRequest<bool>(isAsync: true);
        request.Begin(_ => true);
        await cancellation.CancelAsync();
        request.Accompany(environment.Lifetime, cancellation.Token);
        Assert.True(request.Task.IsCanceled);
        environment.Dispose(); // does not wait for the request
    }

    [Fact]
    public async Task A_caller_who_gives_up_while_it_is_woken_to_lead_hands_over()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        var random = new Random(Seed.Next());
        using var round = new Barrier(3);
        CancellationTokenSource? cancellation = null;
        int holderSpins = 0, cancelSpins = 0, mostCancelSpins = 1_000;
        long written = 0, given = 0, writtenBefore = 0, began = TimeProvider.System.GetTimestamp();
        int left = MostRounds;
        Task holder = Begin(() =>
        {
            for (int i = 0; i < 20; i++)
            {
                environment.DropSupersededJournal(); // leads briefly, and wakes a waiting thread
                Thread.SpinWait(holderSpins);
            }
        });
        Task follower = Begin(() =>
        {
            try
            {
                // Created before each round.
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put("c"u8, "d"u8), cancellation!.Token);
                written++;
            }
            catch (OperationCanceledException)
            {
                given++;
            }
        });
        Task rounds = Begin(() =>
        {
            Thread.SpinWait(cancelSpins);
            cancellation!.Cancel();
            left = writtenBefore > 0 && writtenBefore < MostRounds - left && TimeProvider.System.GetElapsedTime(began) > _enough
                ? 0
                : left - 1;
        }, before: () =>
        {
            cancellation?.Dispose();
            cancellation = new CancellationTokenSource();

            // Whichever side won the last round gets a smaller head start, so that the two race on any machine.
            mostCancelSpins = Math.Clamp(
                written > writtenBefore ? mostCancelSpins * 9 / 10 : mostCancelSpins * 10 / 9, 10, MostSpins);
            writtenBefore = written;
            (holderSpins, cancelSpins) = (random.Next(50), random.Next(mostCancelSpins));
        });
        await Task.WhenAll(holder, follower, rounds).WaitAsync(Eventually.Patience, TestContext.Current.CancellationToken);
        Assert.True(written > 0 && given > 0, $"{written} written and {given} given up: the two did not race.");

        Task Begin(Action work, Action? before = null) => Task.Factory.StartNew(
            () =>
            {
                while (Volatile.Read(ref left) > 0)
                {
                    before?.Invoke();
                    round.SignalAndWait();
                    work();
                    round.SignalAndWait();
                }
            },
            CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
    }
}
