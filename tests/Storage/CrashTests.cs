using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests;

/// <summary>
/// Random work on a disk that loses power at a random operation. After each crash the state must be that of a prefix of
/// what was submitted which contains all that was acknowledged, and the check must be clean.
/// </summary>
public sealed class CrashTests
{
    private const int Runs = 25;
    private const int CrashesPerRun = 6;

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void After_a_crash_the_state_is_a_prefix_that_contains_all_acknowledged(Durability durability) =>
        SmallDisk.Repeat(Runs, seed => Run(seed, durability));

    private static void Run(int seed, Durability durability)
    {
        var random = new Random(seed);
        var disk = new SimulatedDisk(random);
        var workload = new Workload(random, new WorkloadShape { Keys = 400, MaxSteps = 30, MaxValueBytes = 30_000, DropPerMille = 4 });
        StorageOptions options = SmallDisk.Options with { Durability = durability };

        // The states that a recovery may find: the oldest is the last that is known to be durable.
        var possible = new List<Model> { new() };
        for (int crash = 0; crash < CrashesPerRun; crash++)
        {
            disk.CrashAt = disk.Operations + random.Next(crash == 0 ? 120 : 60);
            Work(random, disk, workload, options, possible);
            disk.Crash();

            // Recovery is cut off too, now and then; it must find the same again.
            if (random.Next(3) == 0)
            {
                disk.CrashAt = disk.Operations + random.Next(6);
                Work(random, disk, workload, options, possible);
                disk.Crash();
            }

            using StorageEnvironment environment = StorageEnvironment.Open(new World(disk, TimeProvider.System, random, false), options);
            Assert.Empty(environment.Check().Problems);
            Settle(environment, possible);
        }
    }

    /// <summary>What recovery found must be possible, and is what further work begins from.</summary>
    private static void Settle(StorageEnvironment environment, List<Model> possible)
    {
        using ReadTransaction read = environment.BeginRead();
        Model? found = possible.FindLast(model => model.IsEqual(read));
        Assert.True(found is not null, $"The state of transaction {read.TransactionId} is none of the {possible.Count} possible ones.");
        possible.Clear();
        possible.Add(found);
    }

    private static void Work(Random random, SimulatedDisk disk, Workload workload, StorageOptions options, List<Model> possible)
    {
        StorageEnvironment? environment = null;
        try
        {
            environment = StorageEnvironment.Open(new World(disk, TimeProvider.System, random, false), options);
            Settle(environment, possible);
            while (!disk.HasCrashed)
            {
                if (random.Next(100) < 10)
                {
                    environment.Checkpoint();
                    KeepLast(possible);
                }
                else
                {
                    Model next = possible[^1].Copy();
                    Func<WriteTransaction, bool> command = workload.Next(next);
                    possible.Add(next);
                    environment.Write(command);
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

    private static void KeepLast(List<Model> possible) => possible.RemoveRange(0, possible.Count - 1);
}
