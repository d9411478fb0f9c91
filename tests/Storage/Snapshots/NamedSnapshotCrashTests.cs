using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Snapshots;

/// <summary>
/// Named snapshots on a disk that loses power at any operation. After each crash, they and the state must be those of one
/// prefix of the commits.
/// </summary>
public sealed class NamedSnapshotCrashTests
{
    private const int Runs = 12;
    private const int CrashesPerRun = 6;

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void After_a_crash_state_and_snapshots_are_those_of_one_prefix(Durability durability) => SmallDisk.Repeat(Runs, seed =>
    {
        var random = new Random(seed);
        var workload = new Workload(
            random, new WorkloadShape { Keys = 300, MaxSteps = 20, MaxValueBytes = 20_000, DropPerMille = 4 });
        var run = new CrashRun<SnapshotModel>(
            random, SmallDisk.Options with { Durability = durability }, new SnapshotModel(),
            static (model, environment) => model.IsEqual(environment));
        run.Run(CrashesPerRun, operations: 80, environment =>
        {
            SnapshotModel next = run.Last.Copy();
            Func<WriteTransaction, bool> command = SnapshotModel.Next(random, workload, next);
            run.Do(next, () => environment.Write(command));
            if (next.Named.Count <= 4)
                return;

            string name = next.Named.Keys.ElementAt(random.Next(next.Named.Count));
            SnapshotModel dropped = next.Copy();
            dropped.Named.Remove(name);
            run.Do(dropped, () => Assert.True(environment.DropSnapshot(name)));
        });
    });
}
