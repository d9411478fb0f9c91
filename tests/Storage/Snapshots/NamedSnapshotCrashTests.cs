using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Snapshots;

/// <summary>Named snapshots on a disk that loses power at any operation: after each crash they are, with the state, those of one prefix.</summary>
public sealed class NamedSnapshotCrashTests
{
    private const int Runs = 12;
    private const int CrashesPerRun = 6;

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void After_a_crash_state_and_snapshots_are_those_of_one_prefix(Durability durability) =>
        SmallDisk.Repeat(Runs, seed => Run(seed, SmallDisk.Options with { Durability = durability }));

    private static void Run(int seed, StorageOptions options)
    {
        var random = new Random(seed);
        var disk = new SimulatedDisk(random);
        var workload = new Workload(random, new WorkloadShape { Keys = 300, MaxSteps = 20, MaxValueBytes = 20_000, DropPerMille = 4 });
        var possible = new List<SnapshotModel> { new() };
        for (int crash = 0; crash < CrashesPerRun; crash++)
        {
            disk.CrashAt = disk.Operations + random.Next(crash == 0 ? 150 : 80);
            Work(random, disk, workload, options, possible);
            disk.Crash();
            using StorageEnvironment environment = Open(disk, random, options);
            Assert.Empty(environment.Check().Problems);
            Settle(environment, possible);
        }
    }

    private static void Settle(StorageEnvironment environment, List<SnapshotModel> possible)
    {
        SnapshotModel? found = possible.FindLast(model => model.IsEqual(environment));
        Assert.True(found is not null, $"The state found is none of the {possible.Count} possible ones.");
        possible.Clear();
        possible.Add(found);
    }

    private static void Work(Random random, SimulatedDisk disk, Workload workload, StorageOptions options, List<SnapshotModel> possible)
    {
        StorageEnvironment? environment = null;
        try
        {
            environment = Open(disk, random, options);
            Settle(environment, possible);
            while (!disk.HasCrashed)
            {
                if (random.Next(100) < 10)
                {
                    environment.Checkpoint();
                    KeepLast(possible);
                    continue;
                }

                SnapshotModel next = possible[^1].Copy();
                Func<WriteTransaction, bool> command = SnapshotModel.Next(random, workload, next);
                possible.Add(next);
                environment.Write(command);
                if (options.Durability == Durability.Durable)
                    KeepLast(possible);
                if (next.Named.Count > 4)
                {
                    string name = next.Named.Keys.ElementAt(random.Next(next.Named.Count));
                    SnapshotModel dropped = next.Copy();
                    dropped.Named.Remove(name);
                    possible.Add(dropped);
                    Assert.True(environment.DropSnapshot(name));
                    if (options.Durability == Durability.Durable)
                        KeepLast(possible);
                }
            }
        }
        catch (Exception error) when (disk.HasCrashed && error is IOException or StorageException)
        {
            // The power is off; what was under way may be there or not.
        }
        finally
        {
            environment?.Dispose();
        }
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random, StorageOptions options) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, random, false), options);

    private static void KeepLast(List<SnapshotModel> possible) => possible.RemoveRange(0, possible.Count - 1);
}
