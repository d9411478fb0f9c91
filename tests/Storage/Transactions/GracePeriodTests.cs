using Treepie.Storage.Files;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// Retired pages are released once all readers that may hold them have ended. Several threads may check for that at once.
/// </summary>
public sealed class GracePeriodTests
{
    [Fact]
    public async Task Several_threads_may_ask_whether_it_is_over()
    {
        const int Rounds = 2_000, Askers = 4, Ending = 60;
        for (int round = 0; round < Rounds; round++)
        {
            var table = new ReaderTable(new CoarseClock());
            ReaderTable.Slot[] ending = [.. Enumerable.Range(0, Ending).Select(_ => table.Claim(1, null))];
            ReaderTable.Slot last = table.Claim(1, null);
            ReaderTable.GracePeriod period = table.BeginGracePeriod();
            foreach (ReaderTable.Slot slot in ending)
                slot.Free();
            using var start = new Barrier(Askers);
            await Task.WhenAll(
                Enumerable.Range(0, Askers).Select(_ => Task.Factory.StartNew(
                    () =>
                    {
                        start.SignalAndWait(TestContext.Current.CancellationToken);
                        Assert.False(period.IsOver, "one of them still reads");
                    },
                    TestContext.Current.CancellationToken, TaskCreationOptions.LongRunning, TaskScheduler.Default)));
            Assert.False(period.IsOver);
            last.Free();
            Assert.True(period.IsOver);
            table.Claim(2, null).Free();
            Assert.True(period.IsOver);
        }
    }
}
