using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

public sealed class CancelledWriteTests
{
    private const int MostRounds = 5_000, MostSpins = 1 << 20;

    /// <summary>On a machine with much other work a round takes long: after this time as many are enough as have shown both ends.</summary>
    private static readonly TimeSpan s_enough = TimeSpan.FromSeconds(20);

    [Fact]
    public async Task A_caller_who_gives_up_while_it_is_called_to_the_lane_leaves_the_lane()
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
            left = writtenBefore > 0 && writtenBefore < MostRounds - left && TimeProvider.System.GetElapsedTime(began) > s_enough ? 0 : left - 1;
        }, before: () =>
        {
            cancellation?.Dispose();
            cancellation = new CancellationTokenSource();

            // Whoever won the last round is given less of a start, so that the two race on any machine.
            mostCancelSpins = Math.Clamp(written > writtenBefore ? mostCancelSpins * 9 / 10 : mostCancelSpins * 10 / 9, 10, MostSpins);
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
