using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests;

/// <summary>Trees on a disk that loses power at random operations; see <see cref="CrashRun{TModel}"/>.</summary>
public sealed class CrashTests
{
    private const int Runs = 25;
    private const int CrashesPerRun = 6;

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void After_a_crash_the_state_is_a_prefix_that_contains_all_acknowledged(Durability durability) =>
        SmallDisk.Repeat(Runs, seed =>
        {
            var random = new Random(seed);
            var workload = new Workload(
                random, new WorkloadShape { Keys = 400, MaxSteps = 30, MaxValueBytes = 30_000, DropPerMille = 4 });
            var run = new CrashRun<Model>(random, SmallDisk.Options with { Durability = durability }, new Model(), IsEqual);
            run.Run(CrashesPerRun, operations: 60, environment =>
            {
                Model next = run.Last.Copy();
                Func<WriteTransaction, bool> command = workload.Next(next);
                run.Do(next, () => environment.Write(command));
            });
        });

    private static bool IsEqual(Model model, StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        return model.IsEqual(read);
    }
}
