using Treepie.Storage.Backups;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Backups;

/// <summary>
/// A restore that loses power at any operation must leave either no store or a complete one, and the next restore to the
/// same place must succeed.
/// </summary>
public sealed class InterruptedRestoreTests
{
    private readonly Random _random = new(Seed.Next());

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Power_lost_at_any_operation_leaves_nothing_or_all_and_the_next_restore_makes_it(bool isEncrypted)
    {
        using var key = EncryptionKey.Generate();
        EncryptionKey? own = isEncrypted ? key : null;
        var model = new Model();
        BackupChainPart[] parts = await ChainAsync(model);
        var whole = new SimulatedDisk(_random);
        long commit = (await BackupParts.RestoreAsync(whole, parts, own)).Commit;
        int operations = whole.Operations, made = 0, step = Math.Max(1, operations / 40);
        for (int at = _random.Next(step); at < operations; at += step)
        {
            var disk = new SimulatedDisk(_random) { CrashAt = at, LeavesGarbage = at % 2 == 0 };
            Exception? end = await Record.ExceptionAsync(() => BackupParts.RestoreAsync(disk, parts, own));
            Assert.True(end is not null == disk.HasCrashed, $"Operation {at} of {operations}: {end}");
            disk.Crash();
            if (disk.List().Contains(FormatLimits.DataFileName))
            {
                made++;
                BackupParts.AssertHolds(disk, model, own); // the file gets its final name only when complete
                continue;
            }

            Assert.Equal(commit, (await BackupParts.RestoreAsync(disk, parts, own)).Commit);
            BackupParts.AssertHolds(disk, model, own);
        }

        Assert.True(made < operations / step, "No restore was interrupted before its end.");
    }

    private async Task<BackupChainPart[]> ChainAsync(Model model)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(new SimulatedDisk(_random).World(1), BackupParts.Options);
        environment.KeepLog(8 << 20);
        var workload = new Workload(_random, new WorkloadShape { Keys = 100, MaxSteps = 10, MaxValueBytes = 10_000 });
        var bytes = new List<byte[]>();
        EnvironmentBackupLink? link = null;
        for (int part = 0; part < 3; part++)
        {
            for (int i = 0; i < 10; i++)
            {
                Func<Treepie.Storage.Transactions.WriteTransaction, bool> command = workload.Next(model);
                environment.Write(command);
            }

            // The link is set by the second part.
            (byte[] taken, link) = part == 2
                ? await BackupParts.TakeLogAsync(environment, link!)
                : await BackupParts.TakeAsync(environment, link);
            bytes.Add(taken);
        }

        return BackupParts.Parts([.. bytes]);
    }
}
