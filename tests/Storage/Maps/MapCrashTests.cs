using Treepie.Storage.Maps;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Maps;

/// <summary>Maps on a disk that loses power: after each crash a prefix of the commits that has all acknowledged ones, and a clean check.</summary>
public sealed class MapCrashTests
{
    private const int Runs = 12;
    private const int CrashesPerRun = 5;

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void After_a_crash_maps_are_as_some_commit_left_them_and_no_acknowledged_one_is_missing(Durability durability) =>
        SmallDisk.Repeat(Runs, seed => Run(seed, SmallDisk.Options with { Durability = durability }));

    private static void Run(int seed, StorageOptions options)
    {
        var random = new Random(seed);
        var disk = new SimulatedDisk(random);
        var possible = new List<MapModel<string, string, StringSerializer, StringSerializer>>
        {
            new("m", draw => TransactionMapTests.Text(draw.Next(700)), draw => new string('v', draw.Next(30) == 0 ? draw.Next(9000) : draw.Next(80))),
        };
        for (int crash = 0; crash < CrashesPerRun; crash++)
        {
            disk.CrashAt = disk.Operations + random.Next(crash == 0 ? 120 : 60);
            Work(random, disk, options, possible);
            disk.Crash();
            using StorageEnvironment environment = TransactionMapTests.Open(disk, seed, options);
            Assert.Empty(environment.Check().Problems);
            Settle(environment, possible);
        }
    }

    private static void Work(Random random, SimulatedDisk disk, StorageOptions options, List<MapModel<string, string, StringSerializer, StringSerializer>> possible)
    {
        StorageEnvironment? environment = null;
        try
        {
            environment = TransactionMapTests.Open(disk, 1, options);
            Settle(environment, possible);
            while (!disk.HasCrashed)
            {
                if (random.Next(100) < 10)
                {
                    environment.Checkpoint();
                    KeepLast(possible);
                    continue;
                }

                MapModel<string, string, StringSerializer, StringSerializer> before = possible[^1], next = before.Copy();
                int seed = random.Next(), steps = random.Next(1, 200);
                next.Apply(seed, steps, null);
                possible.Add(next);
                environment.Write(transaction =>
                {
                    before.Apply(seed, steps, transaction, changesModel: false);
                    return true;
                });
                if (options.Durability == Durability.Durable)
                    KeepLast(possible);
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

    private static void Settle(StorageEnvironment environment, List<MapModel<string, string, StringSerializer, StringSerializer>> possible)
    {
        using ReadTransaction read = environment.BeginRead();
        MapModel<string, string, StringSerializer, StringSerializer>? found = possible.FindLast(model => model.IsEqual(read));
        Assert.True(found is not null, $"The state of transaction {read.TransactionId} is none of the {possible.Count} possible ones.");
        possible.Clear();
        possible.Add(found);
    }

    private static void KeepLast(List<MapModel<string, string, StringSerializer, StringSerializer>> possible) => possible.RemoveRange(0, possible.Count - 1);
}
