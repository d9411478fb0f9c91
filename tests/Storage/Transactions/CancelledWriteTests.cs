using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

public sealed class CancelledWriteTests
{
    private const int Rounds = 5_000;

    [Fact]
    public async Task A_caller_who_gives_up_while_it_is_called_to_the_lane_leaves_the_lane()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        var random = new Random(Seed.Next());
        using var round = new Barrier(3);
        CancellationTokenSource? cancellation = null;
        int holderSpins = 0, cancelSpins = 0;
        long written = 0, given = 0;
        Task holder = Begin(() =>
        {
            for (int i = 0; i < 20; i++)
            {
                environment.DropSupersededJournal(); // holds the lane for a moment, and calls who waits for it
                Thread.SpinWait(holderSpins);
            }
        });
        Task follower = Begin(() =>
        {
            try
            {
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put("c"u8, "d"u8), cancellation!.Token); // made before each round
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
        }, before: () =>
        {
            cancellation?.Dispose();
            cancellation = new CancellationTokenSource();
            (holderSpins, cancelSpins) = (random.Next(50), random.Next(1000));
        });
        await Task.WhenAll(holder, follower, rounds).WaitAsync(TimeSpan.FromSeconds(60), TestContext.Current.CancellationToken);
        Assert.True(written > Rounds / 100 && given > Rounds / 100, $"{written} written and {given} given up: the two did not race.");

        Task Begin(Action work, Action? before = null) => Task.Factory.StartNew(
            () =>
            {
                for (int i = 0; i < Rounds; i++)
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
